// NoPE: no position encoding. Under a causal mask a decoder can still count; without one it is blind to order.
//
//   logit(h, i, j) = q . k / sqrt(D)
//
// Source: Haviv et al. arXiv:2203.16634; Kazemnejad et al. arXiv:2305.19466.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Nope {
  static constexpr char const* summary = "no position encoding: order leaks only through the causal mask";
  static constexpr char const* formula = "logit(i, j) = q_i . k_j / sqrt(D)";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static auto schema() { return Schema<Nope>{}; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Nope, "nope", "arXiv:2203.16634")
