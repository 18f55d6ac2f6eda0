// The expected logit by distance: what position alone does to a pair of tokens whose contents agree.
#pragma once
#include <sextant/inspect/subject.hpp>

namespace sextant::inspect {

/// Query and key are one random vector with independent channels of mean 0 and variance 1, seen at the end of `length`
/// tokens: E[logit] = trace(content) / sqrt(head_dim) + bias, which is (2 sum_f cos(d w_f) + rest) / sqrt(head_dim) for
/// RoPE. Independent query and key have expectation `bias` alone.
struct Decay {
  std::vector<double> distance;                        ///< tokens, ascending from 0
  std::vector<std::vector<double>> content;            ///< [heads][distance]: trace / sqrt(head_dim)
  std::vector<std::vector<double>> bias;               ///< [heads][distance]; -infinity: hidden from the last query
  bool content_differs = false, bias_differs = false;  ///< between heads
  bool any_content = false, any_bias = false;          ///< something turns; something biases
  int draws = 0;              ///< > 0: a mean over so many draws, see below, content and bias together in `content`
  double standard_error = 0;  ///< largest of the means'
};

/// Where what lies between query and key decides as well, every token of a row is that one random vector (query, key and
/// what gates and features read); the logits of attention itself at up to 192 tokens are averaged over draws.

Finding<Decay> expected_logit(Subject const& subject);

/// By drawing, whether it is needed or not: what the formula is tested against.
Decay measured_logit(Subject const& subject, int draws);

}  // namespace sextant::inspect
