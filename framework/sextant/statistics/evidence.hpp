// What seeds and windows of text say about an effect: an estimate, its interval, and how far it is from any bound.
//
// An effect is a function of means, such as mean loss of one arm minus that of another. Its means are over seeds (models
// trained anew) and over windows of the test text. Two ways to judge it:
//
//   student     effects seed by seed, Student's t. The windows are taken as they are.
//   bootstrap   windows are drawn with replacement, the same for all seeds and quantities, since all saw the same text.
//               Seeds are few, and resampling three of anything keeps no level: their part is a multivariate t with
//               the seeds' own covariance (multipliers g_s ~ N(0,1) on the deviations of the seeds, over a chi). Both
//               parts are widened by sqrt(n / (n - 1)) and a chi, so that few windows keep the level as well.
//
// Seeds and windows both count as drawn from many. An error that belongs to a seed and a window together is counted in
// both parts: intervals are then somewhat wide, never narrow. tests/statistics holds simulations of both.
//
// A model that is given has no seeds: the windows are all that is drawn, and both ways run over them alone. They may be few,
// so no p-value is then below 2^-windows, the chance that so many differences have one sign when neither sign is likelier:
// what a t says below that rests on the shape of its tail alone.
#pragma once
#include <sextant/statistics/power.hpp>
#include <sextant/statistics/sample.hpp>

#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace sextant::statistics {

/// Several quantities under the same seeds and the same windows.
struct Panel {
  std::size_t quantities = 0, seeds = 0, windows = 0;
  std::vector<double> values;  ///< [quantities, seeds, windows]
  double at(std::size_t quantity, std::size_t seed, std::size_t window) const {
    return values[(quantity * seeds + seed) * windows + window];
  }
};

/// What a panel is a sample of. Where it is windows alone, values are means over whatever seeds there are.
enum class Drawn { seeds_and_windows, windows };

/// An effect as a function of one mean a quantity.
using Effect = std::function<double(std::span<double const> means)>;

class Evidence {
 public:
  double effect = 0;

  /// p-value of the hypothesis that the effect is at least `bound`; small: it lies below.
  double p_below(double bound) const;
  /// p-value of the hypothesis that the effect is at most `bound`; small: it lies above.
  double p_above(double bound) const;
  /// Two-sided.
  Interval interval(double confidence) const;

 private:
  friend Evidence student(Panel const& panel, Effect const& effect, Drawn drawn);
  friend Evidence bootstrap(Panel const& panel, Effect const& effect, int replicates, Drawn drawn);
  struct T {
    double error = 0, dof = 0;
  };
  std::optional<T> t_;
  std::vector<double> replicates_;  // ascending; without those that are no number
  int drawn_ = 0;
  double least_ = 0;  // no p-value is below it
};

/// Throws Error with fewer than 2 seeds, or windows where those are drawn. The effect is the mean of their effects.
Evidence student(Panel const& panel, Effect const& effect, Drawn drawn = Drawn::seeds_and_windows);

/// Throws Error with fewer than 2 seeds (unless windows alone are drawn) or 2 windows. The effect is that of the means over all seeds and windows. Draw k
/// of replicate r is a function of (r, k) alone: the same panel gives the same bits everywhere.
Evidence bootstrap(Panel const& panel, Effect const& effect, int replicates = 9999,
                   Drawn drawn = Drawn::seeds_and_windows);

/// Where the error of an effect comes from, as this panel shows it; with one window, from seeds alone. Throws Error with
/// fewer than 2 seeds.
Spread spread_of(Panel const& panel, Effect const& effect);

}  // namespace sextant::statistics
