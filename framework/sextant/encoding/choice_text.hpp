// An encoding or a scaling with its options as a line of text.
#pragma once
#include <sextant/encoding/choice.hpp>

#include <string>

namespace sextant::encoding {

/// "alibi", "rounded {table: int8}", "randomised {below: 256, parts: [rope]}".
std::string text_of(Choice const& choice);

}  // namespace sextant::encoding
