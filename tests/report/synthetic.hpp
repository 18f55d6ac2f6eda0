// A made-up study for the tests of the report. Nothing here was trained: the numbers are formulas and Philox noise, and
// every text says "synthetic".
#pragma once
#include <sextant/report/study.hpp>

#include <string>
#include <vector>

namespace sextant::test {

struct SyntheticOptions {
  std::vector<std::string> encodings{"nope", "sinusoidal", "rope", "alibi", "rope+alibi", "direct_sum(rope, alibi)"};
  std::vector<std::string> rope_scalings{"linear", "ntk", "yarn"};
  std::vector<std::int64_t> seeds{11, 23, 47};
  std::vector<std::int64_t> lengths{128, 256, 512, 1024, 2048};
  bool control = false;  ///< adds the probe window_control beyond the trained length
};

/// rope falls apart past 256 tokens, alibi stays flat, the scalings lie between: the shape of the real thing, invented.
report::StudyView synthetic_study(SyntheticOptions const& options = {});

/// What the formula gives for an arm at a length before noise.
double synthetic_loss(std::string const& encoding, std::string const& scaling, double position);

}  // namespace sextant::test
