// Segmented theta: RoPE with a ladder of its own for runs of pairs, or a phase that bends along the positions.
//
//   dims:       pair f in segment z turns by rate_z base_z^(-2f/n) p, f counting over all pairs (exponent: global) or
//               by rate_z base_z^(-k/n_z) p, k counting inside the segment of n_z pairs (exponent: segment)
//   positions:  angle = Phi(p) base^(-2f/n), Phi(p) = sum over z of rate_z clamp(p - start_z, 0, start_{z+1} - start_z)
//
// Source: framework definition; the dims form follows SBA-RoPE, Appl. Sci. 2024, 14(7):3076.
#include <common/segments.hpp>

namespace sextant::plugins {
struct SegmentedTheta : Segments {
  Layout layout = Layout::half;
  double base = 10000;
  std::optional<int> rotary_dim;

  static constexpr char const* summary =
      "RoPE in segments: own theta per run of pairs, or own rate per run of positions";
  static constexpr char const* formula = "angle = p rate_z base_z^(-2f/n), or Phi(p) base^(-2f/n)";
  static constexpr bool orthogonal = true;

  static std::vector<Example> examples() {
    return {{{{"seg_start", std::vector<double>{0, 2}}, {"seg_base", std::vector<double>{90, 4000}}}, {}},
            {{{"axis", std::string("positions")},
              {"seg_start", std::vector<double>{0, 3}},
              {"seg_rate", std::vector<double>{1, 0.25}}},
             {}}};
  }
  static std::vector<Equality> equals() {
    return {{"with one segment",
             {{{"seg_start", std::vector<double>{0}}, {"seg_base", std::vector<double>{500}}}, {}},
             {"rope", {{"base", 500.0}}, {}},
             {}}};
  }

  static auto schema() {
    return segment_lists(segment_words<SegmentedTheta>()
                             .choice("layout", &SegmentedTheta::layout, "which channels form a pair", layouts())
                             .option("base", &SegmentedTheta::base, "theta of the ladder (positions)", above(1))
                             .option("rotary_dim", &SegmentedTheta::rotary_dim,
                                     "channels of a head that turn; the others pass through", at_least(2),
                                     Unit{"channels"}, MayBeAuto{"head_dim, or one less where that is odd"}));
  }

  void check(Shape const& shape) const { check_segments("segmented_theta", turned(shape) / 2); }
  int turned(Shape const& shape) const { return rotary_dim.value_or(shape.head_dim / 2 * 2); }
  Rotary rotary(Shape const& shape) const {
    Rotary form{.rotary_dim = turned(shape), .layout = layout};
    if (axis == SegmentAxis::positions) form.base = base;
    return form;
  }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    return T(axis == SegmentAxis::positions ? ladder(base, pair, form.rotary_dim) : step(pair, form.rotary_dim));
  }
  double phase(double position) const {
    return axis == SegmentAxis::dims ? position : bent("segmented_theta", position);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::SegmentedTheta, "segmented_theta", "Appl. Sci. 2024, 14(7):3076")
