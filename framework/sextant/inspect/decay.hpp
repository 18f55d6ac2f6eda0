// The expected logit by distance: what position alone does to a pair of tokens whose contents agree.
#pragma once
#include <sextant/inspect/subject.hpp>

namespace sextant::inspect {

/// Query and key are one random vector with independent channels of mean 0 and variance 1, seen at the end of `length`
/// tokens: E[logit] = trace(content) / sqrt(head_dim) + bias, which is (2 sum_f cos(d w_f) + rest) / sqrt(head_dim) for
/// RoPE. Independent query and key have expectation `bias` alone.
struct Decay {
  std::vector<double> distance;               ///< tokens, ascending from 0
  std::vector<std::vector<double>> content;   ///< [heads][distance]: trace / sqrt(head_dim)
  std::vector<std::vector<double>> bias;      ///< [heads][distance]; -infinity: hidden from the last query
  bool content_differs = false, bias_differs = false;  ///< between heads
  bool any_content = false, any_bias = false;          ///< something turns; something biases
};

Finding<Decay> expected_logit(Subject const& subject);

}  // namespace sextant::inspect
