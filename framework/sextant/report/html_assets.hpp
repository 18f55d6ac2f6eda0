// The style sheet and the script of the page.
#pragma once
#include <string>

namespace sextant::report {

/// Light and dark by the reader's preference or by data-theme on the root; phone, screen and print.
std::string page_css();

/// Theme switch, highlighting of a series, values under the pointer. The page is complete without it.
std::string page_script();

}  // namespace sextant::report
