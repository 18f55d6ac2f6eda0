// Which pairs attention sees, as it sees them: with equal logits and the identity for values, an output is not 0 exactly
// where the pair is visible.
#include <sextant/check/encoding_run.hpp>

namespace sextant::check {
namespace {

std::vector<double> seen_pairs(encoding::Choice choice, std::vector<double> const& positions,
                               encoding::Registry const& registry) {
  std::size_t const n = positions.size(), channels = 2;
  encoding::PositionChoice whole;
  whole.encodings = {std::move(choice)};
  auto const position = std::make_shared<encoding::Position const>(
      whole, registry, encoding::Shape{.heads = 1, .kv_heads = 1, .head_dim = 2, .model_dim = 2});
  Layer<double> layer(position, 1, static_cast<int>(n), positions);
  Tensor const zero{{1, 1, n, channels}, std::vector<double>(n * channels, 0.0)};
  Tensor identity{{1, 1, n, n}, std::vector<double>(n * n, 0.0)};
  for (std::size_t i = 0; i < n; ++i) identity.values[i * n + i] = 1;
  layer.encode(zero, zero, {});
  auto out = layer.attend(identity, 1, {});
  for (double& share : out) share = share > 0;
  return out;
}
}  // namespace

Quantities run_mask_table(results::Group const& group, Parameters const& options, encoding::Registry const& registry) {
  auto const positions = group.numbers("in/positions");
  double const window = options.needed("window"), sinks = options.needed("sinks");
  options.expect_all_known();
  Quantities out;
  out["out/causal"] = seen_pairs({"nope", {}, {}}, positions, registry);
  out["out/sliding"] = seen_pairs({"sliding_window", {{"window", window}}, {}}, positions, registry);
  out["out/sinks"] = seen_pairs({"streaming_sinks", {{"window", window}, {"sinks", sinks}}, {}}, positions, registry);
  return out;
}

}  // namespace sextant::check
