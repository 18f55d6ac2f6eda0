// Resonance RoPE: wavelengths rounded to whole tokens, so that a pair that has turned once meets the same angles again.
//
//   lambda_f = 2 pi / inv_freq_f;  inv_freq'_f = 2 pi / round(lambda_f)
//
// Source: Wang et al., "Resonance RoPE", arXiv:2403.00071. Applied last it rounds what other scalings leave, as the paper
// does with YaRN. Ties round to even, as in the released code.
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {
struct Resonance {
  static constexpr char const* summary = "rounds wavelengths to whole tokens";
  static constexpr char const* formula = "2 pi / round(2 pi / inv_freq_f)";

  static auto schema() { return Schema<Resonance>{}; }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const&) const {
    constexpr double turn = 2 * std::numbers::pi;
    double const f = value_of(plain);
    return T(std::copysign(turn / std::max(1.0, std::nearbyint(turn / std::abs(f))), f));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Resonance, "resonance", "arXiv:2403.00071")
