#include <sextant/report/card.hpp>
#include <sextant/report/chart.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/chart_paint.hpp>
#include <sextant/report/text.hpp>

namespace sextant::report {
namespace {
char const* scale_name(Scale scale) {
  return scale == Scale::linear ? "linear" : scale == Scale::log2 ? "log2" : "log10";
}

std::string axis_data(Axis const& axis) {
  return cat({scale_name(axis.scale), " ", exact(axis.low), " ", exact(axis.high)});
}

void body(Xml& out, Chart const& chart, Placement const& place, Attributes attributes, bool file) {
  std::string const id = cat({chart.id, place.layout == Layout::narrow ? "-narrow" : ""});
  Attributes all{{"viewBox", cat({"0 0 ", num(place.width), " ", num(place.height)})},
                 {"role", "img"},
                 {"aria-labelledby", cat({id, "-title ", id, "-desc"})},
                 {"font-family", chart_fonts},
                 {"font-size", num(place.font)},
                 {"data-plot", cat({num(place.plot.x), " ", num(place.plot.y), " ", num(place.plot.width), " ",
                                    num(place.plot.height)})},
                 {"data-x", axis_data(chart.x)},
                 {"data-name", chart.x.title.substr(0, chart.x.title.find(" ["))},
                 {"data-y", axis_data(chart.y)}};
  all.insert(all.begin(), attributes.begin(), attributes.end());
  auto const svg = out.element("svg", all);
  out.text("title", {{"id", id + "-title"}}, chart.title);
  out.text("desc", {{"id", id + "-desc"}}, chart.description);
  if (file) card(out, chart.title, place.width, place.height);
  paint(out, chart, place);
}
}  // namespace

std::string svg_inline(Chart const& chart, Layout layout) {
  Xml out;
  body(out, chart, place(chart, layout, 36),
       {{"class", layout == Layout::wide ? "sx-chart sx-wide" : "sx-chart sx-narrow"}}, false);
  return std::move(out).str();
}

std::string svg_file(Chart const& chart) {
  Xml out;
  out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  Placement placement = place(chart, Layout::wide, 86);
  placement.plot.x += 10;  // room at the edge of the card
  placement.plot.width -= 18;
  for (auto& label : placement.labels)
    if (label) label->x -= 8;
  placement.height += 8;
  body(out, chart, placement,
       {{"xmlns", "http://www.w3.org/2000/svg"}, {"width", num(placement.width)}, {"height", num(placement.height)}},
       true);
  out.line();
  return std::move(out).str();
}

std::string chart_csv(Chart const& chart) {
  auto const field = [](std::string const& text) { return csv_field(clean_utf8(text)); };
  std::string out = cat({"series,", field(chart.x.title), ",", field(chart.y.title), ",low,high,seeds\n"});
  for (auto const& line : chart.lines)
    for (auto const& point : line.points)
      out += cat({field(line.label), ",", exact(point.x), ",", exact(point.y), ",", exact(point.low), ",",
                  exact(point.high), ",", std::to_string(point.n), "\n"});
  return out;
}

}  // namespace sextant::report
