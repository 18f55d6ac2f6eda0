// Segmented theta: RoPE with a ladder of its own for runs of pairs, or a phase that bends along the positions.
//
//   dims:       pair f in segment z turns by rate_z base_z^(-2f/n) p, f counting over all pairs (exponent: global) or
//               by rate_z base_z^(-k/n_z) p, k counting inside the segment of n_z pairs (exponent: segment)
//   positions:  angle = Phi(p) base^(-2f/n), Phi(p) = sum over z of rate_z clamp(p - start_z, 0, start_{z+1} - start_z)
//
// Source: framework definition; the dims form follows SBA-RoPE, Appl. Sci. 2024, 14(7):3076.
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class SegmentAxis { dims, positions };
enum class SegmentExponent { global, segment };

struct SegmentedTheta {
  SegmentAxis axis = SegmentAxis::dims;
  SegmentExponent exponent = SegmentExponent::global;
  Layout layout = Layout::half;
  double base = 10000;
  std::optional<int> rotary_dim;
  Numbers seg_start, seg_base, seg_rate;

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
    return Schema<SegmentedTheta>{}
        .choice("axis", &SegmentedTheta::axis, "segments over channel pairs or over positions",
                {{"dims", SegmentAxis::dims}, {"positions", SegmentAxis::positions}})
        .choice("exponent", &SegmentedTheta::exponent,
                "dims: the pair index counts over all pairs, or anew in each segment",
                {{"global", SegmentExponent::global}, {"segment", SegmentExponent::segment}})
        .choice("layout", &SegmentedTheta::layout, "which channels form a pair", layouts())
        .option("base", &SegmentedTheta::base, "theta of the ladder (positions)", above(1))
        .option("rotary_dim", &SegmentedTheta::rotary_dim, "channels of a head that turn; the others pass through",
                at_least(2), Unit{"channels"}, MayBeAuto{"head_dim, or one less where that is odd"})
        .option("seg_start", &SegmentedTheta::seg_start,
                "first pair, from 0, or first position of each segment; rising", at_least(0), required)
        .option("seg_base", &SegmentedTheta::seg_base, "theta of each segment (dims)", above(0))
        .option("seg_rate", &SegmentedTheta::seg_rate, "multiplies each segment's speed; absent: all 1", positive);
  }

  void check(Shape const& shape) const {
    int const n = seg_start.count;
    expect(n > 0, "segmented_theta.seg_start is empty, expected the start of at least one segment");
    for (int z = 1; z < n; ++z)
      expect(seg_start[z] > seg_start[z - 1], "segmented_theta.seg_start must rise: entry ", z + 1, " is ",
             seg_start[z], " after ", seg_start[z - 1]);
    expect(seg_rate.count == 0 || seg_rate.count == n, "segmented_theta.seg_rate has ", seg_rate.count,
           " entries, expected ", n, " as seg_start, or none");
    if (axis == SegmentAxis::positions) {
      expect(exponent == SegmentExponent::global, "segmented_theta.exponent is segment, which is for axis dims");
      return;
    }
    expect(seg_start[0] == 0, "segmented_theta.seg_start begins with ", seg_start[0], ", expected pair 0");
    expect(seg_base.count == n, "segmented_theta.seg_base has ", seg_base.count, " entries, expected ", n,
           " as seg_start");
    for (int z = 0; z < n; ++z)
      expect(seg_start[z] == std::floor(seg_start[z]) && seg_start[z] < turned(shape) / 2,
             "segmented_theta.seg_start entry ", z + 1, " is ", seg_start[z], ", expected a pair from 0 to ",
             turned(shape) / 2 - 1);
  }

  int turned(Shape const& shape) const { return rotary_dim.value_or(shape.head_dim / 2 * 2); }
  Rotary rotary(Shape const& shape) const {
    Rotary form{.rotary_dim = turned(shape), .layout = layout};
    if (axis == SegmentAxis::positions) form.base = base;
    return form;
  }
  double rate(int z) const { return seg_rate.count ? seg_rate[z] : 1.0; }

  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    if (axis == SegmentAxis::positions) return T(ladder(base, pair, form.rotary_dim));
    int z = 0;
    while (z + 1 < seg_start.count && pair >= seg_start[z + 1]) ++z;
    int const start = static_cast<int>(seg_start[z]);
    int const end = z + 1 < seg_start.count ? static_cast<int>(seg_start[z + 1]) : form.rotary_dim / 2;
    double const step = exponent == SegmentExponent::global ? ladder(seg_base[z], pair, form.rotary_dim)
                                                            : ladder(seg_base[z], pair - start, 2 * (end - start));
    return T(rate(z) * step);
  }

  double phase(double position) const {
    if (axis == SegmentAxis::dims) return position;
    expect(position >= seg_start[0], "segmented_theta over positions starts at ", seg_start[0], ", found position ",
           position);
    double sum = 0;
    for (int z = 0; z < seg_start.count; ++z) {
      double const length = z + 1 < seg_start.count ? seg_start[z + 1] - seg_start[z] : position;
      sum += rate(z) * std::min(std::max(position - seg_start[z], 0.0), length);
    }
    return sum;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::SegmentedTheta, "segmented_theta", "Appl. Sci. 2024, 14(7):3076")
