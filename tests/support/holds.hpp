// Whether a text has a part.
#pragma once
#include <string>

namespace sextant::test {

inline bool holds(std::string const& text, std::string const& part) { return text.find(part) != std::string::npos; }

}  // namespace sextant::test
