// When training keeps no activations.
#pragma once
#include <sextant/plan/cost.hpp>

namespace sextant::plan {

/// Whether forward passes run again for their backward: activations are kept where they fit beside all else in half of the
/// memory at hand, or where that is not known (0). `kept`: what training costs with them.
inline bool should_recompute(Cost const& kept, double memory) { return memory > 0 && kept.bytes > memory / 2; }

}  // namespace sextant::plan
