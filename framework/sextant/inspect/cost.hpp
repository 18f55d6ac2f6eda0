// Memory and arithmetic that an encoding adds, by length: what is kept for a row of tokens, what a cache keeps per token,
// and the operations beside those of attention itself.
#pragma once
#include <sextant/inspect/subject.hpp>

namespace sextant::inspect {

struct CostClass {
  std::string name;
  double bytes = 0;
};

struct CostAtLength {
  double length = 0;
  std::vector<CostClass> memory;  ///< one layer, one row of tokens, float32 model
  double bytes = 0;               ///< their sum
  double flop = 0;                ///< added to a forward pass over the row, one layer
  double attention_flop = 0;      ///< causal attention's own, for scale: 2 length^2 heads head_dim
};

struct Cost {
  std::vector<CostAtLength> lengths;   ///< 256, 512, ... up to the length, which is the last
  double cache_bytes_per_token = 0;    ///< of one layer beside keys and values, all heads
  double parameters = 0;               ///< trained numbers of one layer (tables that layers share count once)
  std::vector<std::string> uncounted;  ///< what the numbers leave out
};

/// How the numbers come about: turns are 6 flop a pair of query and key; a tabulated bias one addition a logit and
/// 4 (2 length - 1) bytes a head; a bias with gates one evaluation a logit, counted as one flop; gates a projection a
/// token, and two doubles a token and head; a transform two flop for each channel in and out.
Cost cost(Subject const& subject);

}  // namespace sextant::inspect
