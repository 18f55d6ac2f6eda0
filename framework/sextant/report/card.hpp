// The frame of an SVG file that stands alone: solid background, title, colours for a light and a dark viewer.
#pragma once
#include <sextant/report/xml.hpp>

#include <functional>
#include <string>

namespace sextant::report {

/// A complete file around what `draw` writes. Colours come from the groups of chart_ink.hpp.
std::string card_svg(std::string const& title, std::string const& description, double width, double height,
                     std::function<void(Xml&)> const& draw);

/// Background, title and style sheet; what a page has already and a file needs.
void card(Xml& out, std::string const& title, double width, double height);

inline constexpr char const* chart_fonts =
    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif";

}  // namespace sextant::report
