// Attention alone is blind to order: what breaks that is the mask or the encoding.
#include <catch2/catch_test_macros.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/model/model.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

using namespace sextant;

namespace permutation_test {
namespace {

constexpr int tokens = 24, vocabulary = 13;

/// Largest difference between the logits of shuffled tokens and the shuffled logits of the tokens.
double order_seen(encoding::Choice const& choice, bool causal) {
  model::ModelConfig config;
  config.vocabulary = vocabulary;
  config.layers = 2;
  config.width = 32;
  config.heads = config.kv_heads = 4;
  config.head_dim = 8;
  config.mlp_width = 48;
  config.causal = causal;
  config.init_std = 0.3;
  encoding::PositionChoice position;
  position.encodings = {choice};
  position.trained_length = tokens;
  encoding::Shape const shape{.heads = 4, .kv_heads = 4, .head_dim = 8, .model_dim = 32};
  auto const& registry = encoding::Registry::global();
  model::Model<float> network(config, std::make_shared<encoding::Position const>(position, registry, shape), 5);

  std::vector<int> order(tokens);
  std::iota(order.begin(), order.end(), 0);
  Stream const stream(9, "shuffle");
  for (int i = tokens - 1; i > 0; --i) std::swap(order[i], order[stream.below(i + 1, static_cast<std::uint64_t>(i))]);
  View2<int> plain("plain", 1, tokens), shuffled("shuffled", 1, tokens);
  for (int i = 0; i < tokens; ++i) plain(0, i) = static_cast<int>(stream.below(vocabulary, 100 + i));
  for (int i = 0; i < tokens; ++i) shuffled(0, i) = plain(0, order[i]);
  View2<float> a("a", tokens, vocabulary), b("b", tokens, vocabulary);
  network.logits(Exec(), {.tokens = plain}, a);
  network.logits(Exec(), {.tokens = shuffled}, b);
  double worst = 0;
  for (int i = 0; i < tokens; ++i)
    for (int v = 0; v < vocabulary; ++v) worst = std::max(worst, std::abs(double{b(i, v)} - double{a(order[i], v)}));
  return worst;
}

/// Options that an encoding asks for.
encoding::Choice choice_of(encoding::Description const& plugin) {
  encoding::Choice choice{plugin.name, {}, {}};
  if (plugin.examples.empty()) return choice;
  choice.options = plugin.examples.front().options;
  choice.parts = plugin.examples.front().parts;
  return choice;
}

}  // namespace

TEST_CASE("order: without mask and encoding, shuffled tokens give the shuffled output", "[model][law]") {
  CHECK(order_seen({"nope", {}, {}}, false) < 1e-4);
}

TEST_CASE("order: a causal mask alone lets order in", "[model][law]") {
  CHECK(order_seen({"nope", {}, {}}, true) > 1e-2);
}

TEST_CASE("order: every encoding but nope breaks the symmetry", "[model][law]") {
  for (auto const& name : encoding::Registry::global().names(encoding::Role::encoding)) {
    auto const& plugin = encoding::Registry::global().describe(encoding::Role::encoding, name);
    if (plugin.takes_parts && plugin.examples.empty()) continue;
    // cope's vectors start at zero, as nope; one temperature for all positions, and a window wider than the row, say nothing.
    if (name == "nope" || name == "cope" || name == "temperature" || name == "sliding_window") continue;
    INFO(name);
    CHECK(order_seen(choice_of(plugin), false) > 1e-3);
  }
}
}  // namespace permutation_test
