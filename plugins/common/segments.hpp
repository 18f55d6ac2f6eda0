// Runs of pairs with a theta each, or runs of positions with a rate each: as an encoding of its own, and over a trained one.
#pragma once
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class SegmentAxis { dims, positions };
enum class SegmentExponent { global, segment };

struct Segments {
  SegmentAxis axis = SegmentAxis::dims;
  SegmentExponent exponent = SegmentExponent::global;
  Numbers seg_start, seg_base, seg_rate;

  void check_segments(char const* name, int pairs) const {
    int const n = seg_start.count;
    expect(n > 0, name, ".seg_start is empty, expected the start of at least one segment");
    for (int z = 1; z < n; ++z)
      expect(seg_start[z] > seg_start[z - 1], name, ".seg_start must rise: entry ", z + 1, " is ", seg_start[z],
             " after ", seg_start[z - 1]);
    expect(seg_rate.count == 0 || seg_rate.count == n, name, ".seg_rate has ", seg_rate.count, " entries, expected ", n,
           " as seg_start, or none");
    if (axis == SegmentAxis::positions) {
      expect(exponent == SegmentExponent::global, name, ".exponent is segment, which is for axis dims");
      return;
    }
    expect(seg_start[0] == 0, name, ".seg_start begins with ", seg_start[0], ", expected pair 0");
    expect(seg_base.count == n, name, ".seg_base has ", seg_base.count, " entries, expected ", n, " as seg_start");
    for (int z = 0; z < n; ++z)
      expect(seg_start[z] == std::floor(seg_start[z]) && seg_start[z] < pairs, name, ".seg_start entry ", z + 1, " is ",
             seg_start[z], ", expected a pair from 0 to ", pairs - 1);
  }

  double rate(int z) const { return seg_rate.count ? seg_rate[z] : 1.0; }

  /// Radians per token of a pair (dims).
  double step(int pair, int rotary_dim) const {
    int z = 0;
    while (z + 1 < seg_start.count && pair >= seg_start[z + 1]) ++z;
    int const start = static_cast<int>(seg_start[z]);
    int const end = z + 1 < seg_start.count ? static_cast<int>(seg_start[z + 1]) : rotary_dim / 2;
    double const step = exponent == SegmentExponent::global ? ladder(seg_base[z], pair, rotary_dim)
                                                            : ladder(seg_base[z], pair - start, 2 * (end - start));
    return rate(z) * step;
  }

  /// Phi(position): what a position turns by (positions).
  double bent(char const* name, double position) const {
    expect(position >= seg_start[0], name, " over positions starts at ", seg_start[0], ", found position ", position);
    double sum = 0;
    for (int z = 0; z < seg_start.count; ++z) {
      double const length = z + 1 < seg_start.count ? seg_start[z + 1] - seg_start[z] : position;
      sum += rate(z) * std::min(std::max(position - seg_start[z], 0.0), length);
    }
    return sum;
  }
};

template <class P>
Schema<P> segment_words() {
  return Schema<P>{}
      .choice("axis", static_cast<SegmentAxis P::*>(&P::axis), "segments over channel pairs or over positions",
              {{"dims", SegmentAxis::dims}, {"positions", SegmentAxis::positions}})
      .choice("exponent", static_cast<SegmentExponent P::*>(&P::exponent),
              "dims: the pair index counts over all pairs, or anew in each segment",
              {{"global", SegmentExponent::global}, {"segment", SegmentExponent::segment}});
}
template <class P>
Schema<P> segment_lists(Schema<P> schema) {
  return std::move(schema)
      .option("seg_start", static_cast<Numbers P::*>(&P::seg_start),
              "first pair, from 0, or first position of each segment; rising", at_least(0), required)
      .option("seg_base", static_cast<Numbers P::*>(&P::seg_base), "theta of each segment (dims)", above(0))
      .option("seg_rate", static_cast<Numbers P::*>(&P::seg_rate), "multiplies each segment's speed; absent: all 1",
              positive);
}

}  // namespace sextant::plugins
