// Where the parts of a chart go: margins, the plot area, labels that never overlap.
#include <sextant/base/error.hpp>
#include <sextant/report/chart_layout.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::report {

std::vector<double> spread(std::vector<double> const& wished, double gap, double low, double high) {
  std::size_t const n = wished.size();
  if (n == 0) return {};
  expect(gap * static_cast<double>(n - 1) <= (high - low) * (1 + 1e-9), "chart: ", n, " labels of height ", gap,
         " do not fit between ", low, " and ", high);
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return wished[a] < wished[b]; });
  // With the k-th label moved up by k gaps, "apart by gap" becomes "not descending": isotonic regression by pooling.
  struct Pool {
    double sum;
    int count;
    double mean() const { return sum / count; }
  };
  std::vector<Pool> pools;
  for (std::size_t k = 0; k < n; ++k) {
    pools.push_back({wished[order[k]] - gap * static_cast<double>(k), 1});
    while (pools.size() > 1 && pools[pools.size() - 2].mean() > pools.back().mean()) {
      pools[pools.size() - 2].sum += pools.back().sum;
      pools[pools.size() - 2].count += pools.back().count;
      pools.pop_back();
    }
  }
  std::vector<double> placed(n);
  std::size_t k = 0;
  double const last = std::max(low, high - gap * static_cast<double>(n - 1));
  for (auto const& pool : pools)
    for (int i = 0; i < pool.count; ++i, ++k)
      placed[order[k]] = std::clamp(pool.mean(), low, last) + gap * static_cast<double>(k);
  return placed;
}

double text_width(std::string const& text, double size) { return 0.58 * size * display_width(text); }

std::optional<Point> last_point(Line const& line) {
  for (auto at = line.points.rbegin(); at != line.points.rend(); ++at)
    if (std::isfinite(at->y)) return *at;
  return std::nullopt;
}

namespace {
// Wide: one row a labelled line in a gutter at the right, at the height where the line ends.
void place_right(Chart const& chart, Placement& out) {
  double widest = 0;
  std::vector<std::size_t> labelled;
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    if (!chart.lines[i].control && last_point(chart.lines[i])) labelled.push_back(i);
  for (std::size_t const i : labelled) {
    out.texts[i] = ellipsize_middle(chart.lines[i].label, 34);
    widest = std::max(widest, text_width(out.texts[i], out.font));
  }
  double const gutter = labelled.empty() ? 16 : 22 + sample_width + 6 + widest + 10;
  double const rows = out.row * static_cast<double>(std::max<std::size_t>(1, labelled.size()));
  out.plot = {62, out.top, out.width - 62 - gutter, std::max(360.0, rows)};
  out.height = out.top + out.plot.height + 54;
  std::vector<double> wished;
  for (std::size_t const i : labelled) {
    double const share = chart.y.share(last_point(chart.lines[i])->y);
    wished.push_back(out.plot.y + out.plot.height * (1 - std::clamp(share, 0.0, 1.0)));
  }
  auto const centres =
      spread(wished, out.row, out.plot.y + out.row / 2 - 6, out.plot.y + out.plot.height - out.row / 2 + 6);
  for (std::size_t k = 0; k < labelled.size(); ++k) {
    double const x = out.plot.x + out.plot.width + 22;
    double const width = sample_width + 6 + text_width(out.texts[labelled[k]], out.font);
    out.labels[labelled[k]] = Box{x, centres[k] - out.row / 2, width, out.row};
  }
}

// Narrow: a list under the plot, in two columns where the labels are short.
void place_below(Chart const& chart, Placement& out) {
  std::vector<std::size_t> labelled;
  double widest = 0;
  for (std::size_t i = 0; i < chart.lines.size(); ++i)
    if (!chart.lines[i].control && last_point(chart.lines[i])) {
      labelled.push_back(i);
      widest = std::max(widest, text_width(chart.lines[i].label, out.font));
    }
  double const left = 44, usable = out.width - 16;
  int const columns = sample_width + 6 + widest < usable / 2 - 8 ? 2 : 1;
  double const cell = usable / columns;
  int const most = static_cast<int>((cell - sample_width - 6 - 8) / (0.58 * out.font));
  std::size_t const rows =
      (labelled.size() + static_cast<std::size_t>(columns) - 1) / static_cast<std::size_t>(columns);
  out.plot = {left, out.top, out.width - left - 20, 280};
  double const legend_top = out.top + out.plot.height + 54;
  out.height = legend_top + out.row * static_cast<double>(rows) + 6;
  for (std::size_t k = 0; k < labelled.size(); ++k) {
    std::size_t const i = labelled[k], column = k / std::max<std::size_t>(1, rows), row = k % rows;
    out.texts[i] = ellipsize_middle(chart.lines[i].label, most);
    double const width = sample_width + 6 + text_width(out.texts[i], out.font);
    out.labels[i] =
        Box{8 + cell * static_cast<double>(column), legend_top + out.row * static_cast<double>(row), width, out.row};
  }
}
}  // namespace

Placement place(Chart const& chart, Layout layout, double top) {
  Placement out;
  out.layout = layout;
  out.width = layout == Layout::wide ? 960 : 400;
  out.font = 13;
  out.row = layout == Layout::wide ? 18 : 22;
  out.top = top;
  out.texts.resize(chart.lines.size());
  out.labels.resize(chart.lines.size());
  layout == Layout::wide ? place_right(chart, out) : place_below(chart, out);
  return out;
}

Geometry geometry_of(Chart const& chart, Layout layout) {
  Placement const placement = place(chart, layout, 20);
  Geometry out{placement.width, placement.height, placement.plot, {}};
  for (auto const& label : placement.labels)
    if (label) out.labels.push_back(*label);
  return out;
}

}  // namespace sextant::report
