// Temperature: one constant factor on content logits.
//
//   l_ij = factor s q_i.k_j + b_ij
//
// Source: framework definition; the softmax temperature of YaRN, arXiv:2309.00071, without its frequencies.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Temperature {
  double factor = 1;

  static constexpr char const* summary = "multiplies content logits by a constant";
  static constexpr char const* formula = "logit(i, j) = factor s q_i.k_j + b_ij";
  static constexpr bool relative = true;

  static std::vector<Example> examples() { return {{{{"factor", 1.25}}, {}}}; }

  static std::vector<Equality> equals() { return {{"with factor 1", {{{"factor", 1.0}}, {}}, {"nope", {}, {}}, {}}}; }

  static auto schema() {
    return Schema<Temperature>{}.option("factor", &Temperature::factor,
                                        "multiplies query . key; above 1 sharpens the softmax", positive, required);
  }
  double query_scale(double) const { return factor; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Temperature, "temperature", "framework definition")
