#include <sextant/report/chart_ink.hpp>
#include <sextant/report/chart_paint.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
class Painter {
 public:
  Painter(Chart const& chart, Placement const& place, Xml& out) : chart_(chart), place_(place), out_(out) {}

  void paint() {
    clip();
    shade();
    grid();
    trained();
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) band(i);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) line(i);
    for (std::size_t i = 0; i < chart_.lines.size(); ++i) label(i);
    if (!chart_.control_label.empty()) control_note();
  }

 private:
  double px(double x) const { return place_.plot.x + place_.plot.width * chart_.x.share(x); }
  double py(double y) const {
    double const share = std::clamp(chart_.y.share(y), -0.5, 1.5);
    return place_.plot.y + place_.plot.height * (1 - share);
  }
  bool narrow() const { return place_.layout == Layout::narrow; }
  double right() const { return place_.plot.x + place_.plot.width; }
  double bottom() const { return place_.plot.y + place_.plot.height; }
  std::string clip_id() const { return cat({chart_.id, narrow() ? "-narrow-clip" : "-clip"}); }
  std::string clip_url() const { return cat({"url(#", clip_id(), ")"}); }

  void text(double x, double y, std::string const& content, Attributes more = {}) {
    Attributes all{{"x", num(x)}, {"y", num(y)}, {"fill", "currentColor"}};
    all.insert(all.end(), more.begin(), more.end());
    out_.text("text", all, content);
  }

  void clip() {
    auto const defs = out_.element("defs");
    auto const path = out_.element("clipPath", {{"id", clip_id()}});
    out_.leaf("rect", {{"x", num(place_.plot.x - 7)},
                       {"y", num(place_.plot.y - 7)},
                       {"width", num(place_.plot.width + 14)},
                       {"height", num(place_.plot.height + 14)}});
  }

  void shade() {
    if (!chart_.trained) return;
    double const from = std::clamp(px(chart_.trained->x), place_.plot.x, right());
    auto const g = out_.element("g", part_group("shade"));
    out_.leaf("rect", {{"x", num(from)},
                       {"y", num(place_.plot.y)},
                       {"width", num(right() - from)},
                       {"height", num(place_.plot.height)},
                       {"fill", "currentColor"}});
  }

  void grid() {
    for (auto const& tick : chart_.y.ticks) {
      {
        auto const g = out_.element("g", part_group("grid"));
        auto const path = Path().move(place_.plot.x, py(tick.value)).right_to(right());
        out_.leaf("path", {{"d", path.str()}, {"stroke", "currentColor"}});
      }
      auto const g = out_.element("g", part_group("muted"));
      text(place_.plot.x - 8, py(tick.value) + 4, tick.label, {{"text-anchor", "end"}});
    }
    {
      auto const g = out_.element("g", part_group("axis"));
      Path path;
      path.move(place_.plot.x, bottom()).right_to(right());
      for (auto const& tick : chart_.x.ticks) path.move(px(tick.value), bottom()).down_to(bottom() + 5);
      out_.leaf("path", {{"d", path.str()}, {"stroke", "currentColor"}, {"fill", "none"}});
    }
    auto const g = out_.element("g", part_group("muted"));
    for (std::size_t k = 0; k < chart_.x.ticks.size(); k += label_stride())
      text(px(chart_.x.ticks[k].value), bottom() + 20, chart_.x.ticks[k].label, {{"text-anchor", "middle"}});
    text(place_.plot.x + place_.plot.width / 2, bottom() + 42, chart_.x.title, {{"text-anchor", "middle"}});
    text(narrow() ? 8 : place_.plot.x - 54, place_.plot.y - 14, chart_.y.title);
  }

  // Every how many-th tick of the x axis can carry its label without touching the next.
  std::size_t label_stride() const {
    auto const& ticks = chart_.x.ticks;
    for (std::size_t stride = 1; stride < ticks.size(); ++stride) {
      bool fits = true;
      for (std::size_t k = stride; k < ticks.size(); k += stride) {
        double const widths =
            text_width(ticks[k].label, place_.font) + text_width(ticks[k - stride].label, place_.font);
        fits = fits && px(ticks[k].value) - px(ticks[k - stride].value) >= 0.5 * widths + 8;
      }
      if (fits) return stride;
    }
    return std::max<std::size_t>(1, ticks.size());
  }

  void trained() {
    if (!chart_.trained) return;
    double const x = px(chart_.trained->x);
    if (x < place_.plot.x - 1 || x > right() + 1) return;
    auto const g = out_.element("g", {{"class", "sx-muted sx-trained"}, {"color", parts[1].light}});
    out_.leaf("path", {{"d", Path().move(x, bottom()).down_to(place_.plot.y).str()},
                       {"stroke", "currentColor"},
                       {"stroke-width", "1.2"},
                       {"stroke-dasharray", "4 4"}});
    bool const left = x > place_.plot.x + place_.plot.width * 0.6;
    text(x + (left ? -7 : 7), place_.plot.y + 14, chart_.trained->label,
         {{"text-anchor", left ? "end" : "start"}, {"font-size", "12"}});
  }

  void band(std::size_t i) {
    auto const& line = chart_.lines[i];
    if (line.control) return;
    auto const has = [&](std::size_t j) {
      return j < line.points.size() && std::isfinite(line.points[j].low) && std::isfinite(line.points[j].high);
    };
    Path path;
    for (std::size_t k = 0; k < line.points.size();) {
      std::size_t end = k;
      while (has(end)) ++end;
      if (end - k == 1) {  // one length alone: an upright bar
        double const x = px(line.points[k].x), low = py(line.points[k].low), high = py(line.points[k].high);
        path.move(x - 3, low).line(x + 3, low).line(x + 3, high).line(x - 3, high).close();
      } else if (end > k) {
        for (std::size_t j = k; j < end; ++j) path.to(j > k, px(line.points[j].x), py(line.points[j].high));
        for (std::size_t j = end; j-- > k;) path.line(px(line.points[j].x), py(line.points[j].low));
        path.close();
      }
      k = std::max(end, k + 1);
    }
    if (path.empty()) return;
    auto attributes = ink_group(line.look, "sx-band");
    attributes.insert(attributes.end(), {{"data-series", std::to_string(i)}, {"clip-path", clip_url()}});
    auto const g = out_.element("g", attributes);
    out_.leaf("path", {{"d", path.str()},
                       {"fill", "currentColor"},
                       {"fill-opacity", num(std::clamp(1.2 / static_cast<double>(chart_.lines.size()), 0.04, 0.13))}});
  }

  void line(std::size_t i) {
    auto const& line = chart_.lines[i];
    Path path;
    bool down = false;
    for (auto const& point : line.points) {
      if (std::isfinite(point.y)) path.to(down, px(point.x), py(point.y));
      down = std::isfinite(point.y);
    }
    if (path.empty()) return;
    auto attributes = ink_group(line.look, line.control ? "sx-line sx-control" : "sx-line");
    attributes.insert(attributes.end(),
                      {{"data-series", std::to_string(i)}, {"data-label", line.label}, {"clip-path", clip_url()}});
    auto const g = out_.element("g", attributes);
    std::string const dash = line.control ? "1 4" : line.look.dash;
    out_.leaf("path", {{"class", "sx-stroke"},
                       {"d", path.str()},
                       {"fill", "none"},
                       {"stroke", "currentColor"},
                       {"stroke-width", line.control ? "1.5" : "2"},
                       {line.control ? "stroke-opacity" : "", "0.8"},
                       {"stroke-linejoin", "round"},
                       {"stroke-linecap", line.control ? "round" : "butt"},
                       {dash.empty() ? "" : "stroke-dasharray", dash}});
    if (line.control) return;
    // Long lines carry a few markers, at other places for other lines, so that no two differ by colour alone.
    std::size_t const stride = line.markers ? 1 : std::max<std::size_t>(1, line.points.size() / 6);
    for (std::size_t k = line.markers ? 0 : (i * stride) / chart_.lines.size(); k < line.points.size(); k += stride) {
      auto const& point = line.points[k];
      if (!std::isfinite(point.y)) continue;
      auto const marker = out_.element("path", marker_attributes(line.look, px(point.x), py(point.y), 4));
      out_.text("title", {}, point_text(line, point));
    }
  }

  std::string point_text(Line const& line, Point const& point) const {
    int const decimals = decimals_for(point.y);
    std::string const half =
        std::isfinite(point.low) ? cat({" ± ", fixed(0.5 * (point.high - point.low), decimals)}) : std::string();
    std::string const seeds = point.n == 1 ? "one seed" : cat({std::to_string(point.n), " seeds"});
    return cat({line.label, " at ", exact(point.x), ": ", fixed(point.y, decimals), half, ", ", seeds});
  }

  void label(std::size_t i) {
    if (!place_.labels[i]) return;
    auto const& line = chart_.lines[i];
    Box const& box = *place_.labels[i];
    double const y = box.y + box.height / 2;
    auto attributes = ink_group(line.look, "sx-label");
    attributes.insert(attributes.end(), {{"data-series", std::to_string(i)}, {"tabindex", "0"}});
    auto const g = out_.element("g", attributes);
    out_.text("title", {}, line.label);
    auto const end = last_point(line);
    if (!narrow() && right() - px(end->x) < 60) {  // across the plot, a leader would read as data
      double const x0 = px(end->x), y0 = std::clamp(py(end->y), place_.plot.y, bottom());
      auto const leader = Path().move(x0 + 6, y0).line(std::max(x0 + 6, right() + 7), y0).line(box.x - 3, y);
      out_.leaf("path",
                {{"d", leader.str()}, {"stroke", "currentColor"}, {"stroke-opacity", "0.45"}, {"fill", "none"}});
    }
    out_.leaf("path", {{"d", Path().move(box.x, y).right_to(box.x + sample_width).str()},
                       {"stroke", "currentColor"},
                       {"stroke-width", "2"},
                       {line.look.dash.empty() ? "" : "stroke-dasharray", line.look.dash}});
    out_.leaf("path", marker_attributes(line.look, box.x + sample_width / 2, y, 3.6));
    auto const ink = out_.element("g", part_group("ink"));
    text(box.x + sample_width + 6, y + 4.5, place_.texts[i]);
  }

  void control_note() {
    auto const g = out_.element("g", part_group("muted"));
    double const x = narrow() ? right() : place_.plot.x + place_.plot.width;
    text(x - 4, place_.plot.y - 14, cat({"dotted: ", ellipsize(chart_.control_label, narrow() ? 24 : 60)}),
         {{"text-anchor", "end"}, {"font-size", "12"}});
  }

  Chart const& chart_;
  Placement const& place_;
  Xml& out_;
};
}  // namespace

void paint(Xml& out, Chart const& chart, Placement const& placement) { Painter(chart, placement, out).paint(); }

}  // namespace sextant::report
