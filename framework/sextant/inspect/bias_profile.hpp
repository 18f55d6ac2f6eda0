// The bias of each head by distance, and how far a head still sees through it.
#pragma once
#include <sextant/inspect/subject.hpp>

namespace sextant::inspect {

struct HeadBias {
  int head = 0;
  std::vector<double> value;      ///< at BiasProfile::distance, logits; -infinity: hidden
  double per_token = 0;           ///< mean slope from distance 0 to 1, logits per token
  double reach = 0;               ///< first distance with bias(0) - bias(d) >= 1, weight down by e; infinite if none
  double share_of_attention = 0;  ///< of softmax over all distances from the bias alone: what falls within `near`
  double effective_rank = 0;      ///< of softmax(bias) over 64 positions spread over the length, causal
};

struct BiasProfile {
  std::vector<double> distance;
  double near = 0;  ///< a sixteenth of the length, at least 1
  std::vector<HeadBias> heads;
};

/// Seen by the last of `length` queries; gates read what a token with zero input gives them. Heads without a bias are left
/// out.
Finding<BiasProfile> bias_profile(Subject const& subject);

}  // namespace sextant::inspect
