// NTK-by-parts: pairs that turn often within the trained length stay, those that hardly turn are interpolated, a ramp in
// the number of turns lies between.
//
//   r = L inv_freq_f / 2 pi;  g = clamp((r - alpha) / (beta - alpha), 0, 1);  inv_freq'_f = (1 - g) inv_freq_f / s + g inv_freq_f
//
// Source: Peng et al., YaRN, arXiv:2309.00071, section 3.2, the paper's ramp; yarn has the released code's.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct NtkByParts : ByFactor, ByLength {
  double alpha = 1, beta = 32;

  static constexpr char const* summary = "keeps pairs that turn often, interpolates those that hardly turn";
  static constexpr char const* formula =
      "(1-g) inv_freq/s + g inv_freq, g a ramp in the turns within the trained length";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() { return {{{{"factor", 4.0}}, {}}}; }

  static auto schema() {
    return length_option(factor_schema<NtkByParts>())
        .option("alpha", &NtkByParts::alpha, "pairs with fewer turns than this are interpolated whole", at_least(0))
        .option("beta", &NtkByParts::beta, "pairs with more turns than this stay", positive);
  }
  void check(ScalingContext const& at) const {
    check_factor("ntk_by_parts", at);
    check_length("ntk_by_parts", at);
    expect(beta > alpha, "ntk_by_parts.beta is ", beta, ", expected more than alpha, ", alpha);
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return by_turns(plain, trained(at), alpha, beta, s(at));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::NtkByParts, "ntk_by_parts", "arXiv:2309.00071")
