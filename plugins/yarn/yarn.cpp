// YaRN as released: fast pairs stay, slow pairs are interpolated, a ramp over the pair index lies between, and the
// logits get a temperature.
//
//   pair(b) = d ln(L / (2 pi b)) / (2 ln base);  low = pair(beta_fast), high = pair(beta_slow)
//   g = clamp((f - low) / (high - low), 0, 1);   inv_freq'_f = g inv_freq_f / s + (1 - g) inv_freq_f
//   cos and sin are multiplied by 0.1 ln s + 1, so logits by its square
//
// L is the original (trained) length. Source: Peng et al., arXiv:2309.00071, and the authors' released code, whose ramp
// is linear in the pair index where the paper's is linear in the number of rotations.
#include <common/yarn.hpp>

namespace sextant::plugins {
struct YarnScaling : ByFactor, YarnRamp {
  std::optional<double> attention_factor_;
  std::optional<double> mscale, mscale_all_dim;

  static constexpr char const* summary = "interpolates slow pairs, keeps fast ones, and sharpens the logits";
  static constexpr char const* formula = "g inv_freq/s + (1-g) inv_freq; logits times (0.1 ln s + 1)^2";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() {
    return {{{{"factor", 4.0}}, {}}, {{{"factor", 4.0}, {"original_length", std::int64_t{4096}}}, {}}};
  }

  static auto schema() {
    return ramp_options(factor_schema<YarnScaling>())
        .option("attention_factor", &YarnScaling::attention_factor_,
                "multiplies cos and sin, in place of the computed value; 1 switches the temperature off", positive,
                MayBeAuto{"0.1 ln(factor) + 1, or from mscale and mscale_all_dim"})
        .option("mscale", &YarnScaling::mscale,
                "with mscale_all_dim: attention factor m(mscale) / m(mscale_all_dim), m(x) = 0.1 x ln s + 1",
                at_least(0), MayBeAuto{"not given"})
        .option("mscale_all_dim", &YarnScaling::mscale_all_dim, "see mscale", at_least(0), MayBeAuto{"not given"});
  }

  void check(ScalingContext const& at) const {
    check_factor("yarn", at);
    check_ramp("yarn", at);
    expect(mscale.has_value() == mscale_all_dim.has_value(),
           "yarn.mscale and yarn.mscale_all_dim work together: give both or neither");
  }

  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return scaled(plain, s(at), at);
  }
  double attention_factor(ScalingContext const& at) const {
    if (attention_factor_) return *attention_factor_;
    if (mscale && mscale_all_dim) return yarn_temperature(s(at), *mscale) / yarn_temperature(s(at), *mscale_all_dim);
    return yarn_temperature(s(at));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::YarnScaling, "yarn", "arXiv:2309.00071")
