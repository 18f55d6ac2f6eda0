// The families of methods that encoding_case() knows, one file each.
#pragma once
#include <sextant/check/encoding_case.hpp>

namespace sextant::check {

struct CaseInput {
  std::string const& method;
  Parameters const& from;
  int heads, head_dim;
  std::function<bool(std::string const&)> const& learned;
};

/// Nothing for methods of another family.
using CaseFamily = std::optional<EncodingCase>(CaseInput const&);
CaseFamily plain_case;  // nope, embeddings, rope, alibi, t5, fox, hybrids, segments, grape_m, grape_a
CaseFamily bias_case;   // kerple, sandwich, fire, ... and scales of the logits
CaseFamily remap_case;  // rerope, self_extend, dual_chunk, sinks, ...
CaseFamily row_case;    // shaw, transformer_xl, cope, dape
CaseFamily path_case;   // path, grape_ap, xpos
CaseFamily dense_case;  // learned bases, liere, several axes
CaseFamily grape_case;  // contextual, phase-modulated and joint forms

/// One encoding by itself.
EncodingCase alone(encoding::Choice choice, bool attends = true);
/// rope with the sheet's names: base, layout, rotary_dim.
encoding::Choice rope_choice(Parameters const& from);
/// `orientation` 1 or -1 as our word for it.
encoding::Value sense_of(Parameters const& from);
/// A whole-number option.
encoding::Value count_option(Parameters const& from, std::string const& name, int fallback);

}  // namespace sextant::check
