// `sextant list --matrix`: what composes with what, as text, JSON or Markdown.
#pragma once
#include <sextant/inspect/compatibility.hpp>

#include <string>

namespace sextant::cli {

std::string compatibility_text(inspect::Compatibility const& found, bool markdown);
std::string compatibility_json(inspect::Compatibility const& found);

}  // namespace sextant::cli
