// YaRN as released: fast pairs stay, slow pairs are interpolated, a ramp over the pair index lies between, and the
// logits get a temperature.
//
//   pair(b) = d ln(L / (2 pi b)) / (2 ln base);  low = pair(beta_fast), high = pair(beta_slow)
//   g = clamp((f - low) / (high - low), 0, 1);   inv_freq'_f = g inv_freq_f / s + (1 - g) inv_freq_f
//   cos and sin are multiplied by 0.1 ln s + 1, so logits by its square
//
// L is the original (trained) length. Source: Peng et al., arXiv:2309.00071, and the authors' released code, whose ramp
// is linear in the pair index where the paper's is linear in the number of rotations.
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {
struct YarnScaling {
  std::optional<double> factor;
  std::optional<int> original_length;
  double beta_fast = 32, beta_slow = 1;
  bool truncate = true;
  std::optional<double> attention_factor_;
  std::optional<double> mscale, mscale_all_dim;

  static constexpr char const* summary = "interpolates slow pairs, keeps fast ones, and sharpens the logits";
  static constexpr char const* formula = "g inv_freq/s + (1-g) inv_freq; logits times (0.1 ln s + 1)^2";
  static constexpr bool identity_at_factor_one = true;

  static std::vector<Example> examples() {
    return {{{{"factor", 4.0}}, {}}, {{{"factor", 4.0}, {"original_length", std::int64_t{4096}}}, {}}};
  }

  static auto schema() {
    return Schema<YarnScaling>{}
        .option("factor", &YarnScaling::factor, "target length / original length", at_least(1),
                MayBeAuto{"evaluated length / trained length, at least 1"}, required)
        .option("original_length", &YarnScaling::original_length,
                "length the model was trained at before any extension; places the ramp", at_least(1), Unit{"tokens"},
                MayBeAuto{"position.trained_length"})
        .option("beta_fast", &YarnScaling::beta_fast,
                "pairs with more rotations than this within the original length stay", positive)
        .option("beta_slow", &YarnScaling::beta_slow, "pairs with fewer rotations than this are interpolated whole",
                positive)
        .option("truncate", &YarnScaling::truncate, "round the ramp's ends outwards to whole pairs")
        .option("attention_factor", &YarnScaling::attention_factor_,
                "multiplies cos and sin, in place of the computed value; 1 switches the temperature off", positive,
                MayBeAuto{"0.1 ln(factor) + 1, or from mscale and mscale_all_dim"})
        .option("mscale", &YarnScaling::mscale,
                "with mscale_all_dim: attention factor m(mscale) / m(mscale_all_dim), m(x) = 0.1 x ln s + 1",
                at_least(0), MayBeAuto{"not given"})
        .option("mscale_all_dim", &YarnScaling::mscale_all_dim, "see mscale", at_least(0), MayBeAuto{"not given"});
  }

  double s(ScalingContext const& at) const { return factor.value_or(at.needed_factor()); }

  void check(ScalingContext const& at) const {
    expect(factor || at.trained_length > 0, "yarn.factor is auto, and the trained length it follows from is not known");
    expect(at.base.has_value(), "yarn needs an encoding with one base; this one has none");
    expect(original_length || at.trained_length > 0, "yarn needs original_length: the trained length is not known");
    expect(mscale.has_value() == mscale_all_dim.has_value(),
           "yarn.mscale and yarn.mscale_all_dim work together: give both or neither");
    expect(beta_fast >= beta_slow, "yarn.beta_fast is ", beta_fast, ", expected at least beta_slow, ", beta_slow);
  }

  /// Pair whose wavelength fits `rotations` times into the original length.
  double pair_of(double rotations, ScalingContext const& at) const {
    double const length = original_length ? *original_length : at.trained_length;
    return at.rotary_dim * std::log(length / (2 * std::numbers::pi * rotations)) / (2 * std::log(*at.base));
  }

  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    double low = pair_of(beta_fast, at), high = pair_of(beta_slow, at);
    if (truncate) low = std::floor(low), high = std::ceil(high);
    low = std::max(low, 0.0);
    high = std::min(high, at.rotary_dim - 1.0);  // the released code's bound, not the last pair
    if (low == high) high += 0.001;
    double const g = std::min(std::max((at.pair - low) / (high - low), 0.0), 1.0);
    return plain * T(g / s(at) + (1 - g));
  }
  double attention_factor(ScalingContext const& at) const {
    auto const m = [&](double x) { return s(at) <= 1 ? 1.0 : 0.1 * x * std::log(s(at)) + 1; };
    if (attention_factor_) return *attention_factor_;
    if (mscale && mscale_all_dim) return m(*mscale) / m(*mscale_all_dim);
    return m(1);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::YarnScaling, "yarn", "arXiv:2309.00071")
