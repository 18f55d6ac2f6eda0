#include <sextant/search/genome.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::search {

bool monotone(Genome const& genome) {
  return !genome.factors.empty() && genome.factors.front() >= 1 &&
         std::is_sorted(genome.factors.begin(), genome.factors.end());
}

Genome mutated(Genome genome, Space const& space, double p, Dice& dice) {
  auto& factors = genome.factors;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    if (!dice.chance(p)) continue;
    double const low = i == 0 ? 1 : factors[i - 1];
    double const high = i + 1 == factors.size() ? std::max(low, space.most) : factors[i + 1];
    int const steps = static_cast<int>(std::floor((high - low) / space.step + 1e-9));
    factors[i] = std::min(low + space.step * dice.below(steps + 1), high);
  }
  auto const any = [&](auto const& list) { return list[static_cast<std::size_t>(dice.below(int(list.size())))]; };
  if (dice.chance(p)) genome.kept = any(space.kept);
  if (dice.chance(p)) genome.magnitude = any(space.magnitudes);
  return genome;
}

Genome drawn(Space const& space, Dice& dice) {
  Genome out;
  for (int i = 0; i < space.pairs; ++i) {
    double const factor = std::exp(dice.unit() * std::log(space.most));
    out.factors.push_back(std::min(1 + space.step * std::round((factor - 1) / space.step), space.most));
  }
  std::sort(out.factors.begin(), out.factors.end());
  out.kept = space.kept[static_cast<std::size_t>(dice.below(int(space.kept.size())))];
  out.magnitude = space.magnitudes[static_cast<std::size_t>(dice.below(int(space.magnitudes.size())))];
  return out;
}

}  // namespace sextant::search
