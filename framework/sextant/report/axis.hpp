// Scales of a plot: from data to a share of the axis, and the ticks that people expect on it.
#pragma once
#include <string>
#include <vector>

namespace sextant::report {

enum class Scale { linear, log2, log10 };

struct Tick {
  double value;
  std::string label;
};

/// Ends in data units (low < high) and ticks inside them, ascending.
struct Axis {
  Scale scale = Scale::linear;
  double low = 0, high = 1;
  std::vector<Tick> ticks;
  std::string title;

  /// 0 at low, 1 at high; outside [0, 1] when x is outside.
  double share(double x) const;
};

/// Ticks at multiples of 1, 2 or 5 times a power of ten, about `wanted` of them; the ends enclose the data and fall on a
/// tick or halfway between two. A flat range is widened. Throws Error when an end is not finite.
Axis linear_axis(double low, double high, int wanted, std::string title);

/// Powers of two between the ends, thinned to at most `most` ticks; low > 0. The ends are kept as given, so that
/// the first and last length of a study stand at the edges.
Axis log2_axis(double low, double high, int most, std::string title);

/// Ticks at decades; at 1, 2, 5 when there are at most three of them; finer within one. The ends are kept; low > 0.
Axis log10_axis(double low, double high, int most, std::string title);

}  // namespace sextant::report
