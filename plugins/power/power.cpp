// Power scaling: the slower a pair, the more it slows, by a power of its place on the ladder.
//
//   inv_freq'_f = inv_freq_f (1 - 2f / d)^power
//
// Source: Pal et al., "Giraffe", arXiv:2308.10882, section 3, and the released code.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Power {
  double power = 0.1;

  static constexpr char const* summary = "slows pairs by a power of their place: the fastest stays";
  static constexpr char const* formula = "inv_freq_f (1 - 2f/d)^power";

  static auto schema() {
    return Schema<Power>{}.option("power", &Power::power, "0: nothing changes; the paper tries 0.1 and 0.5",
                                  at_least(0));
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return plain * T(std::pow(1 - 2.0 * at.pair / at.rotary_dim, power));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Power, "power", "arXiv:2308.10882")
