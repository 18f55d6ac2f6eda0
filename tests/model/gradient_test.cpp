#include <catch2/catch_all.hpp>
#include <model/model_case.hpp>

using namespace sextant;
using namespace sextant::model;

namespace {
double mean_loss(Model<double>& model, Batch const& batch) {
  View2<double> const nll("nll", batch.tokens.extent(0), batch.tokens.extent(1));
  model.loss_per_token(Exec(), batch, nll);
  double total = 0;
  int predicted = 0;
  for (int b = 0; b < batch.size(); ++b)
    for (int i = 0; i < batch.seq_len(); ++i) {
      bool const padding = batch.documents.size() && batch.documents(b, i) < 0;
      total += nll(b, i);
      predicted += !padding && batch.targets(b, i) >= 0;
    }
  return total / predicted;
}

// Every parameter tensor against central differences of the mean loss: all of a small one, 24 entries spread over a
// larger one. The tolerance is absolute, and relative to the tensor's largest gradient where that exceeds 1.
void check_gradients(ModelConfig const& config, std::vector<encoding::Choice> const& encodings, Batch const& batch) {
  Model<double> model(config, test::make_position(config, encodings), 5);
  for (auto const& slice : model.layout().slices())  // gains of 1 and biases of 0 would hide mistakes
    if (slice.shape.size() == 1) {
      auto const values = model.parameter(slice.name);
      Stream const stream(1, slice.name);
      for (std::size_t i = 0; i < values.size(); ++i) values(i) += 0.3 * stream.normal(i);
    }
  CHECK(model.loss_and_gradient(Exec(), batch) == Catch::Approx(mean_loss(model, batch)).epsilon(1e-13));
  double const h = 1e-5;
  for (auto const& slice : model.layout().slices()) {
    double worst = 0, largest = 0;
    std::size_t const checked = std::min<std::size_t>(slice.size(), 24);
    for (std::size_t n = 0; n < checked; ++n) {
      std::size_t const i = slice.offset + n * slice.size() / checked;
      double& x = model.parameters()(i);
      double const kept = x;
      x = kept + h;
      double const above = mean_loss(model, batch);
      x = kept - h;
      double const below = mean_loss(model, batch);
      x = kept;
      worst = std::max(worst, std::abs(model.gradients()(i) - (above - below) / (2 * h)));
      largest = std::max(largest, std::abs(model.gradients()(i)));
    }
    INFO(slice.name << ": difference " << worst << ", largest gradient " << largest);
    CHECK(worst < 1e-8 * std::max(1.0, largest));
    CHECK(largest > 1e-6);  // a gradient that is nowhere would pass the comparison
  }
}
}  // namespace

TEST_CASE("model: every gradient through a key-value shift equals central differences", "[model][gradient][kv_shift]") {
  auto config = test::tiny_config();
  config.kv_shift = true;
  config.qk_norm = GENERATE(false, true);
  auto batch = test::random_batch("a", 2, 7, config.vocabulary);
  batch.documents = View2<int>("documents", 2, 7);
  for (int i = 4; i < 7; ++i) batch.documents(1, i) = 1;
  check_gradients(config, {{"rope", {}, {}}}, batch);
}

TEST_CASE("model: every gradient of a SwiGLU decoder equals central differences", "[model][gradient]") {
  auto const config = test::tiny_config();
  check_gradients(config, {{"nope", {}, {}}}, test::random_batch("a", 2, 7, config.vocabulary));
}

TEST_CASE("model: every gradient with LayerNorm, GELU, QK-norm, an untied output and RoPE equals central differences",
          "[model][gradient]") {
  auto config = test::tiny_config();
  config.norm = NormKind::layernorm;
  config.mlp = MlpKind::gelu;
  config.qk_norm = true;
  config.tie_embedding = false;
  check_gradients(config, {{"rope", {}, {}}}, test::random_batch("b", 2, 6, config.vocabulary));
}

TEST_CASE(
    "model: every gradient of a Gemma-like decoder with biases of query, key and value equals central differences",
    "[model][gradient][qkv_bias][geglu]") {
  auto config = test::tiny_config();
  config.mlp = MlpKind::geglu;
  config.qkv_bias = true;
  config.embedding_scale = std::sqrt(config.width);
  config.qk_norm = GENERATE(false, true);
  config.kv_shift = GENERATE(false, true);
  check_gradients(config, {{"rope", {}, {}}}, test::random_batch("b", 2, 6, config.vocabulary));
}

TEST_CASE("model: gradients of what encodings learn equal central differences", "[model][gradient]") {
  auto const config = test::tiny_config();
  auto const batch = test::random_batch("c", 2, 6, config.vocabulary);
  SECTION("a table added to the embedding") {
    check_gradients(config, {{"learned", {{"max_length", std::int64_t{8}}}, {}}}, batch);
  }
  SECTION("buckets of distance") { check_gradients(config, {{"t5", {}, {}}}, batch); }
  SECTION("gates that read tokens, with RoPE") { check_gradients(config, {{"rope", {}, {}}, {"fox", {}, {}}}, batch); }
}

TEST_CASE("model: every gradient of a packed, padded batch without causal mask equals central differences",
          "[model][gradient]") {
  auto config = test::tiny_config();
  config.causal = false;
  config.qk_norm = true;
  auto batch = test::random_batch("d", 2, 7, config.vocabulary);
  batch.documents = View2<int>("documents", 2, 7);
  int const documents[2][7] = {{-1, -1, 0, 0, 0, 0, 0}, {0, 0, 0, 1, 1, 1, -1}};
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 7; ++i) batch.documents(b, i) = documents[b][i];
  batch.targets(0, 4) = -1;
  check_gradients(config, {{"rope", {}, {}}, {"alibi", {}, {}}}, batch);
}

TEST_CASE("model: recomputing layers gives the same bits, and passing rows in groups nearly the same", "[model]") {
  auto config = test::tiny_config();
  config.qk_norm = true;
  auto const batch = test::random_batch("e", 5, 9, config.vocabulary);
  Model<float> model(config,
                     test::make_position(config, std::vector<encoding::Choice>{{"rope", {}, {}}, {"fox", {}, {}}}), 5);
  auto const gradients = [&](PassOptions const& options, double& loss) {
    loss = model.loss_and_gradient(Exec(), batch, options);
    return std::vector<float>(model.gradients().data(), model.gradients().data() + model.gradients().size());
  };
  double loss = 0, recomputed = 0, grouped = 0;
  auto const kept = gradients({}, loss);
  CHECK(test::same_bits(gradients({.recompute = true}, recomputed), kept));
  CHECK(recomputed == loss);
  CHECK(test::largest_difference(gradients({.tokens_at_once = 2 * 9}, grouped), kept) < 1e-6);
  CHECK(grouped == Catch::Approx(loss).epsilon(1e-6));
}

TEST_CASE("model: a batch in which nothing is predicted has no loss and no gradient", "[model]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "nope"), 5);
  auto const batch = test::random_batch("f", 2, 4, config.vocabulary);
  model.loss_and_gradient(Exec(), batch);
  Kokkos::deep_copy(batch.targets, -1);
  CHECK(model.loss_and_gradient(Exec(), batch) == 0);
  for (std::size_t i = 0; i < model.gradients().size(); ++i) REQUIRE(model.gradients()(i) == 0);
}
