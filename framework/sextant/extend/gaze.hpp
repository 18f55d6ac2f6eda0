// What attention looks like at each length: entropy, and spread of the logits.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// eval/attention: over some of the last rows of the first document's prefix of each length, by layer and head.
results::Group measure_attention(Exec const& exec, Work const& work, Arm const& arm, run::Progress& progress);

}  // namespace sextant::extend
