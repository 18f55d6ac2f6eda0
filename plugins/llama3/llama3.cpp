// Llama 3's scaling: long wavelengths are interpolated, short ones stay, a ramp in the turns within the original length
// lies between.
//
//   t = L inv_freq_f / 2 pi;  g = clamp((t - low) / (high - low), 0, 1);  inv_freq'_f = (1 - g) inv_freq_f / s + g inv_freq_f
//
// Source: Llama 3.1's released code (apply_scaling); Dubey et al., arXiv:2407.21783.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct Llama3 : ByFactor, ByLength {
  double low_freq_factor = 1, high_freq_factor = 4;

  static constexpr char const* summary = "Llama 3.1's ramp between kept and interpolated wavelengths";
  static constexpr char const* formula =
      "(1-g) inv_freq/s + g inv_freq, g a ramp in the turns from low to high_freq_factor";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 8.0}, {"original_length", std::int64_t{32}}}, {}}}; }

  static auto schema() {
    return length_option(factor_schema<Llama3>())
        .option("low_freq_factor", &Llama3::low_freq_factor,
                "wavelengths above original_length over this are interpolated whole", positive)
        .option("high_freq_factor", &Llama3::high_freq_factor, "wavelengths below original_length over this stay",
                positive);
  }
  void check(ScalingContext const& at) const {
    check_factor("llama3", at);
    check_length("llama3", at);
    expect(high_freq_factor > low_freq_factor, "llama3.high_freq_factor is ", high_freq_factor,
           ", expected more than low_freq_factor, ", low_freq_factor);
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return by_turns(plain, trained(at), low_freq_factor, high_freq_factor, s(at));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Llama3, "llama3", "arXiv:2407.21783")
