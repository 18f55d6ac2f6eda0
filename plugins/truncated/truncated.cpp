// Truncated spectrum: pairs that complete a turn within the trained length stay, slower ones share one slow frequency, the
// slowest stand still.
//
//   t = 2 pi / L;  inv_freq_f >= t: stays;  t / still <= inv_freq_f < t: 2 pi / (slow L);  below: 0
//
// Source: Pal et al., "Giraffe", arXiv:2308.10882, section 3 (rho, a, b), with the released code's values.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct Truncated : ByLength {
  double slow = 16, still = 8;

  static constexpr char const* summary = "keeps pairs that complete a turn, slows or stops the others";
  static constexpr char const* formula = "inv_freq_f from 2 pi/L on, else 2 pi/(slow L), or 0 below 2 pi/(still L)";

  static auto schema() {
    return length_option(Schema<Truncated>{})
        .option("slow", &Truncated::slow, "wavelength of the slow pairs, in trained lengths", at_least(1))
        .option("still", &Truncated::still, "pairs with longer wavelengths, in trained lengths, stand still",
                at_least(1));
  }
  void check(ScalingContext const& at) const { check_length("truncated", at); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    double const once = 2 * std::numbers::pi / trained(at), f = std::abs(value_of(plain));
    if (f >= once) return plain;
    return T(f >= once / still ? std::copysign(once / slow, value_of(plain)) : 0);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Truncated, "truncated", "arXiv:2308.10882")
