// Dynamic YaRN: YaRN with the factor that each sequence needs, and plain RoPE within the trained length.
//
//   s = max(1, length of the sequence / L); frequencies and temperature as yarn
//
// Source: Peng et al., YaRN, arXiv:2309.00071, section 3.3, and the authors' released code.
#include <common/yarn.hpp>

namespace sextant::plugins {
struct DynamicYarn : YarnRamp {
  std::optional<double> attention_factor_;

  static constexpr char const* summary = "YaRN by the factor that each sequence needs";
  static constexpr char const* formula =
      "g inv_freq/s + (1-g) inv_freq, s = max(1, length/L); logits times (0.1 ln s + 1)^2";
  static constexpr bool follows_length = true;

  static std::vector<Example> examples() { return {{{}, {}}, {{{"original_length", std::int64_t{512}}}, {}}}; }

  static auto schema() {
    return ramp_options(Schema<DynamicYarn>{})
        .option("attention_factor", &DynamicYarn::attention_factor_,
                "multiplies cos and sin at every length, in place of the computed value", positive,
                MayBeAuto{"0.1 ln s + 1"});
  }
  void check(ScalingContext const& at) const { check_ramp("dynamic_yarn", at); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return scaled(plain, reach(at), at);
  }
  double attention_factor(ScalingContext const& at) const {
    return attention_factor_ ? *attention_factor_ : yarn_temperature(reach(at));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::DynamicYarn, "dynamic_yarn", "arXiv:2309.00071")
