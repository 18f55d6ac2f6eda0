// Segments over a trained RoPE: another theta for runs of its pairs, or another rate for runs of positions.
//
//   dims:       inv_freq'_f = rate_z base_z^(-2f/d), f over all pairs (exponent: global) or inside the segment (segment)
//   positions:  a position turns by Phi(p) = sum over z of rate_z clamp(p - start_z, 0, start_{z+1} - start_z)
//
// Source: framework definition, as the encoding segmented_theta, whose formulas it shares.
#include <common/scaling.hpp>
#include <common/segments.hpp>

namespace sextant::plugins {
struct SegmentedScaling : Segments {
  static constexpr char const* summary =
      "another theta per run of pairs, or rate per run of positions, of a trained rope";
  static constexpr char const* formula = "angle = p rate_z base_z^(-2f/d), or Phi(p) inv_freq_f";

  static std::vector<Example> examples() {
    return {{{{"seg_start", std::vector<double>{0, 2}}, {"seg_base", std::vector<double>{90, 4000}}}, {}},
            {{{"axis", std::string("positions")},
              {"seg_start", std::vector<double>{0, 3}},
              {"seg_rate", std::vector<double>{1, 0.25}}},
             {}}};
  }

  static auto schema() { return segment_lists(segment_words<SegmentedScaling>()); }
  void check(ScalingContext const& at) const {
    check_segments("segmented", at.rotary_dim / 2);
    if (axis == SegmentAxis::dims) check_rebased("segmented", at);
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    if (axis == SegmentAxis::positions) return plain;
    return plain * T(step(at.pair, at.rotary_dim) / encoding::ladder(*at.base, at.pair, at.rotary_dim));
  }
  std::optional<Ladder> ladder(Ladder const& before, ScalingContext const&) const {
    return axis == SegmentAxis::positions ? std::optional(before) : std::nullopt;
  }
  double phase(double plain, ScalingContext const&) const {
    return axis == SegmentAxis::dims ? plain : bent("segmented", plain);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::SegmentedScaling, "segmented", "segmented_theta")
