// What a search varies: a divisor for every pair of channels, how many first tokens stay as trained, and the magnitude of
// cos and sin; and the moves from one such point to another.
//
// Source: Ding et al., "LongRoPE", arXiv:2402.13753, section 3.2 and algorithm 1, and the authors' released code
// (evolution/algorithms/dim_mono.py). Here beside it: the released code fixes the magnitude and keeps no first tokens; in this
// search both are genes, so that PI, NTK and YaRN are points of the space as they are.
#pragma once
#include <sextant/base/philox.hpp>

#include <string>
#include <vector>

namespace sextant::search {

struct Genome {
  std::vector<double> factors;  ///< of pair 0, 1, ...: each at least 1 and at least the one before
  int kept = 0;                 ///< first tokens that turn as trained
  double magnitude = 1;         ///< multiplies cos and sin
  auto operator<=>(Genome const&) const = default;
};

/// The points that moves may reach.
struct Space {
  int pairs = 0;
  double most = 1;     ///< largest factor
  double step = 0.01;  ///< a factor is its lower neighbour's, or 1, and a whole number of these
  std::vector<int> kept = {0};
  std::vector<double> magnitudes = {1};
};

/// Whether the factors rise from at least 1, or stay.
bool monotone(Genome const& genome);

/// Throws of one stream, each used once, in order.
class Dice {
 public:
  Dice(std::uint64_t seed, std::string const& name) : stream_(seed, name) {}
  double unit() { return stream_.uniform(next_++); }  ///< [0, 1)
  bool chance(double p) { return unit() < p; }
  /// In [0, n), n at least 1.
  int below(int n) { return static_cast<int>(stream_.below(n, next_++)); }

 private:
  Stream stream_;
  std::uint64_t next_ = 0;
};

/// Each gene changes with probability `p`: a factor to any step between its neighbours', the lower one already changed. May
/// return what it was given.
Genome mutated(Genome genome, Space const& space, double p, Dice& dice);

/// A child of two: kept tokens and magnitude of either; the first's factors, of which some, one after another, become the
/// second's. `fits` is asked of monotone children after each exchange; empty when `tries` passes over all genes bring none.
template <class Fits>
bool crossed(Genome const& first, Genome const& second, int tries, Dice& dice, Fits const& fits, Genome& child) {
  child = first;
  if (dice.chance(0.5)) child.kept = second.kept;
  if (dice.chance(0.5)) child.magnitude = second.magnitude;
  for (int n = 0; n < tries; ++n)
    for (std::size_t i = 0; i < child.factors.size(); ++i) {
      if (!dice.chance(0.3) || !dice.chance(0.5)) continue;
      child.factors[i] = second.factors[i];
      if (monotone(child) && fits(child)) return true;
    }
  return false;
}

/// Any point: factors log-uniform from 1 to the most, to whole steps, in order.
Genome drawn(Space const& space, Dice& dice);

}  // namespace sextant::search
