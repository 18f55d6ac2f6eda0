// What the tests of methods with branches ask of them: the distance a pair counts as, and whether blocks answer alike.
#pragma once
#include "support/plugin.hpp"

#include <sextant/base/philox.hpp>

#include <cmath>
#include <optional>
#include <set>

namespace sextant::test {
using kernels::BranchRule;

/// Nothing for a pair that the method hides.
inline std::optional<double> counted_distance(encoding::Encoding const& e, double query, double key) {
  int const branch = e.branch(query, key);
  if (branch == BranchRule::hidden) return std::nullopt;
  REQUIRE((branch >= 0 && branch < e.stages(heads_of(1)).branches));
  int const set = e.key_set(branch);
  REQUIRE((set >= 0 && set < e.key_sets()));
  return e.query_phase(branch, query) - e.key_phase(set, key);
}

/// What all pairs of the closed ranges have, walked in quarter tokens: a branch, hidden, or mixed.
inline int block_by_brute_force(encoding::Encoding const& e, double const (&ends)[4]) {
  std::set<int> seen;
  for (double query = ends[0]; query <= ends[1]; query += 0.25)
    for (double key = ends[2]; key <= ends[3] && seen.size() < 2; key += 0.25) seen.insert(e.branch(query, key));
  return seen.size() == 1 ? *seen.begin() : int(BranchRule::mixed);
}

/// Compares branch_of_block() with brute force on blocks of quarter tokens in [-span / 4, span], of single positions up to
/// blocks wider than any window of the method. Returns the answers that came up.
inline std::set<int> check_blocks(encoding::Encoding const& e, double span, int blocks = 4000) {
  Stream const stream(11, "blocks of positions");
  std::uint64_t at = 0;
  auto const quarters = [&](double least, double most) {
    return std::floor((least + (most - least) * stream.uniform(at++)) * 4) / 4;
  };
  std::set<int> answers;
  for (int n = 0; n < blocks; ++n) {
    double ends[4];
    double const width = n % 3 == 0 ? 0 : n % 3 == 1 ? span / 8 : span / 2;
    for (int side : {0, 2}) {
      ends[side] = quarters(-span / 4, span);
      ends[side + 1] = ends[side] + quarters(0, width);
    }
    int const found = e.branch_of_block(ends[0], ends[1], ends[2], ends[3]);
    INFO("queries " << ends[0] << " to " << ends[1] << ", keys " << ends[2] << " to " << ends[3]);
    REQUIRE(found == block_by_brute_force(e, ends));
    answers.insert(found);
  }
  return answers;
}

/// The same promise where positions are no multiples of anything: whatever a block says holds for positions inside it.
inline void check_blocks_of_fractions(encoding::Encoding const& e, double span, int blocks = 2000) {
  Stream const stream(12, "fractional positions");
  std::uint64_t at = 0;
  for (int n = 0; n < blocks; ++n) {
    std::vector<double> query, key;
    double const width = n % 2 ? 3 : span / 2, a = span * stream.uniform(at++), b = span * stream.uniform(at++);
    for (int i = 0; i < 6; ++i) {
      query.push_back(a + width * stream.uniform(at++));
      key.push_back(b + width * stream.uniform(at++));
    }
    auto const [q0, q1] = std::minmax_element(query.begin(), query.end());
    auto const [k0, k1] = std::minmax_element(key.begin(), key.end());
    int const claimed = e.branch_of_block(*q0, *q1, *k0, *k1);
    if (claimed == BranchRule::mixed) continue;
    for (double q : query)
      for (double k : key) REQUIRE(e.branch(q, k) == claimed);
  }
}

}  // namespace sextant::test
