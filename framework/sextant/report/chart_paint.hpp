// Inside of the chart writer: everything between the svg tags.
#pragma once
#include <sextant/report/chart_layout.hpp>
#include <sextant/report/xml.hpp>

namespace sextant::report {

/// Grid, axes, bands, lines and labels of the chart at their places.
void paint(Xml& out, Chart const& chart, Placement const& placement);

}  // namespace sextant::report
