// Every combination that `sextant list --matrix` says works takes a step: its loss is finite and its gradient right along
// one random direction through all parameters.
#include <sextant/base/error.hpp>
#include <sextant/inspect/compatibility.hpp>

#include <catch2/catch_all.hpp>
#include <model/model_case.hpp>

using namespace sextant;
using namespace sextant::model;
using inspect::Composition;

namespace pairs_test {
namespace {
constexpr int length = 12;

// One layer, two heads; the narrowest head that both encodings accept.
std::shared_ptr<encoding::Position const> position_of(encoding::PositionChoice const& choice, ModelConfig& config) {
  std::string refusal;
  for (int head_dim : {8, 16, 32, 64}) {
    config.head_dim = head_dim;
    encoding::Shape const shape{
        .heads = config.heads, .kv_heads = config.kv_heads, .head_dim = head_dim, .model_dim = config.width};
    try {
      return std::make_shared<encoding::Position const>(choice, encoding::Registry::global(), shape, 2.0 * length);
    } catch (Error const& error) {
      refusal = error.what();
    }
  }
  FAIL_CHECK("no narrow head fits: " << refusal);
  return nullptr;
}

double mean_loss(Model<double>& model, Batch const& batch) {
  View2<double> const nll("nll", batch.tokens.extent(0), batch.tokens.extent(1));
  model.loss_per_token(Exec(), batch, nll);
  double total = 0;
  for (std::size_t i = 0; i < nll.size(); ++i) total += nll.data()[i];
  return total / static_cast<double>(nll.size());
}

/// Empty, or what is wrong with a step of training.
std::string fault_of(encoding::PositionChoice const& choice, Batch const& batch) {
  ModelConfig config;
  config.vocabulary = 11;
  config.layers = 1;
  config.width = 12;
  config.heads = config.kv_heads = 2;
  config.mlp_width = 8;
  config.init_std = 0.3;
  auto const position = position_of(choice, config);
  if (!position) return "";
  Model<double> model(config, position, 5);
  auto const& x = model.parameters();
  Stream const shake(2, "shake"), toward(3, "toward");
  std::vector<double> start(x.size()), direction(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {  // off the symmetric points that some start at
    double const noise = shake.normal(i);
    start[i] = x(i) == 0 ? 0.05 * noise : x(i) * (1 + 0.05 * noise);
    x(i) = start[i];
    direction[i] = toward.normal(i);
  }
  double const loss = model.loss_and_gradient(Exec(), batch);
  if (!std::isfinite(loss)) return "the loss is " + std::to_string(loss);
  double slope = 0;
  for (std::size_t i = 0; i < x.size(); ++i) slope += model.gradients()(i) * direction[i];
  double difference = 0;
  for (double h : {1e-6, 1e-7}) {  // a second step, should the first cross a kink
    for (double sign : {1.0, -1.0}) {
      for (std::size_t i = 0; i < x.size(); ++i) x(i) = start[i] + sign * h * direction[i];
      difference += sign * mean_loss(model, batch) / (2 * h);
    }
    if (std::abs(difference - slope) <= 2e-6 * std::max(1.0, std::abs(slope)) * (1e-6 / h)) return "";
    if (h > 1e-7) difference = 0;
  }
  return text("the gradient along a direction is ", slope, ", a central difference ", difference);
}

/// Checks the combinations numbered first, first + stride, ...: slices of the same work for several tests.
void check_combinations(Composition composition, int first, int stride) {
  auto const found = inspect::compatibility(encoding::Registry::global());
  auto const batch = test::random_batch("pairs", 1, length, 11);
  int done = 0, at = 0;
  for (auto const& c : found.combinations) {
    if (c.composition != composition || !c.reason.empty() || at++ % stride != first) continue;
    auto const& others = composition == Composition::scaling ? found.scalings : found.encodings;
    auto choice = inspect::compose(composition, found.encodings[c.first], others[c.second]);
    choice.trained_length = length;
    std::string const fault = fault_of(choice, batch);
    INFO(name_of(composition) << " of " << found.encodings[c.first].use << " and " << others[c.second].use);
    CHECK(fault == "");
    ++done;
  }
  CHECK(done > 0);
}
}  // namespace

TEST_CASE("pairs: every encoding under every scaling that fits it trains with the right gradient", "[model][pairs]") {
  check_combinations(Composition::scaling, 0, 1);
}
TEST_CASE("pairs: every sum of two encodings that fit trains with the right gradient", "[model][pairs]") {
  check_combinations(Composition::sum, GENERATE(0, 1), 2);
}
TEST_CASE("pairs: every two encodings that may share a head's channels train with the right gradient",
          "[model][pairs]") {
  check_combinations(Composition::channels, GENERATE(0, 1), 2);
}
TEST_CASE("pairs: every two encodings that may share the heads train with the right gradient", "[model][pairs]") {
  check_combinations(Composition::heads, GENERATE(0, 1), 2);
}
}  // namespace pairs_test
