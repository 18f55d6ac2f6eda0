#include <sextant/cli/inspection.hpp>
#include <sextant/report/chart.hpp>
#include <sextant/report/disc.hpp>
#include <sextant/report/heat.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sextant::cli {
namespace {
using report::Chart;
using report::Line;
using Plots = std::vector<std::pair<std::string, std::string>>;
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

report::Look look(std::size_t n) {
  constexpr char const* dashes[] = {"", "7 3", "2 3", "9 3 2 3"};
  return {static_cast<int>(n % report::ink_count), dashes[n / report::ink_count % 4],
          static_cast<report::Marker>(n % 8), false};
}

Line line_of(std::string label, std::size_t n, std::vector<double> const& x, std::vector<double> const& y) {
  Line line{std::move(label), look(n), {}, false, false};
  for (std::size_t k = 0; k < x.size(); ++k)
    line.points.push_back({x[k], std::isfinite(y[k]) ? y[k] : nan, nan, nan, 1});
  return line;
}
// A reference line right across.
Line level(std::string label, double y, double from, double to) {
  Line line{std::move(label), {6, "4 4", report::Marker::cross, false}, {}, false, false};
  line.points = {{from, y, nan, nan, 1}, {to, y, nan, nan, 1}};
  return line;
}

void fit_y(Chart& chart, std::string title, bool log) {
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (auto const& line : chart.lines)
    for (auto const& p : line.points)
      if (std::isfinite(p.y) && (!log || p.y > 0)) low = std::min(low, p.y), high = std::max(high, p.y);
  if (low > high) low = log ? 0.1 : 0, high = 1;
  chart.y = log ? report::log10_axis(low / 1.3, high * 1.3, 10, std::move(title))
                : report::linear_axis(low, high, 6, std::move(title));
}

void mark_trained(Chart& chart, inspect::Subject const& subject) {
  double const at = subject.trained();
  if (at > chart.x.low && at < chart.x.high) chart.trained = report::Upright{at, fmt::format("trained at {:.0f}", at)};
}

// Distances on a doubling scale; 0 stands before it and is left out.
void set_distance(Chart& chart, inspect::Subject const& subject) {
  chart.x = report::log2_axis(1, std::max(2.0, subject.length() - 1), 12, "distance [token]");
  for (auto& line : chart.lines) std::erase_if(line.points, [](auto const& p) { return p.x < 1; });
  mark_trained(chart, subject);
}

void put(Plots& out, Chart const& chart) { out.emplace_back(chart.id, svg_file(chart)); }

void wavelength_plots(Plots& out, Inspection const& found) {
  auto const& subject = found.subject;
  Chart chart{.id = "wavelengths", .title = "Wavelength of each pair: " + found.name()};
  Chart unseen{.id = "unseen_phase", .title = "Phases that training never met: " + found.name()};
  double most = 0;
  std::vector<report::Disc> discs;
  for (std::size_t n = 0; n < std::min<std::size_t>(found.wavelengths.value->size(), 12); ++n) {
    auto const& w = (*found.wavelengths.value)[n];
    std::vector<double> x, y, u;
    for (auto const& p : w.pairs) {
      if (p.axis > 0) continue;
      x.push_back(p.pair);
      y.push_back(p.wavelength);
      u.push_back(100 * p.unseen_share);
    }
    most = std::max(most, x.back());
    std::string const label = w.per_head ? fmt::format("{} head {}", w.label, w.head) : w.label;
    chart.lines.push_back(line_of(label, n, x, y));
    unseen.lines.push_back(line_of(label, n, x, u));
    std::size_t const shown = std::min<std::size_t>(8, w.pairs.size());
    for (std::size_t k = 0; n == 0 && k < shown; ++k) {
      auto const& p = w.pairs[shown < 2 ? 0 : k * (w.pairs.size() - 1) / (shown - 1)];
      discs.push_back({fmt::format("pair {}", p.pair),
                       {},
                       2 * std::numbers::pi * p.trained_turns,
                       std::abs(p.inv_freq) * (subject.length() - 1)});
    }
  }
  most = std::max(most, 1.0);
  chart.lines.push_back(level(fmt::format("length {:.0f}", subject.length()), subject.length(), 0, most));
  if (subject.trained() > 0)
    chart.lines.push_back(level(fmt::format("trained {:.0f}", subject.trained()), subject.trained(), 0, most));
  chart.x = unseen.x = report::linear_axis(0, most, 8, "pair");
  chart.x.low = unseen.x.low = 0;
  chart.x.high = unseen.x.high = most;
  fit_y(chart, "wavelength [token]", true);
  chart.description =
      "Tokens for one whole turn of each channel pair, beside the lengths in use. Pairs above the trained "
      "length never complete a turn in training.";
  put(out, chart);
  if (subject.trained() > 0) {
    fit_y(unseen, "unseen share of distances [%]", false);
    unseen.description =
        "For each channel pair the share of distances below the length whose phase did not occur in training.";
    put(out, unseen);
  }
  out.emplace_back("rotation_planes", report::discs_svg("How far pairs turn: " + found.name(),
                                                        "A circle a pair, from fast to slow. Inner thick arc: phases "
                                                        "of training; outer arc: phases up to the length.",
                                                        discs));
}

void heat_plot(Plots& out, Inspection const& found) {
  report::Heat heat{.title = "Table: " + found.name(),
                    .description = "One row a position, one column a channel.",
                    .row_title = "position",
                    .column_title = "channel"};
  if (found.tables) {
    auto const& t = found.tables.value->front();
    heat.rows = t.heat_rows;
    heat.columns = t.channels;
    heat.value = t.heat;
  } else if (found.wavelengths) {
    auto const& w = found.wavelengths.value->front();
    heat.title = "cos of each pair's angle: " + found.name();
    heat.column_title = "pair";
    for (auto const& p : w.pairs) heat.columns += p.axis == 0;
    heat.rows = static_cast<int>(std::min(96.0, found.subject.length()));
    for (int r = 0; r < heat.rows; ++r)
      for (int c = 0; c < heat.columns; ++c) heat.value.push_back(std::cos(r * w.pairs[c].inv_freq));
  } else {
    return;
  }
  out.emplace_back("table_heatmap", report::heat_svg(heat));
}

void decay_plot(Plots& out, Inspection const& found) {
  auto const& d = *found.expected_logit.value;
  Chart chart{.id = "decay", .title = "Expected logit by distance: " + found.name()};
  bool const differ = d.content_differs || d.bias_differs;
  for (std::size_t h = 0; h < (differ ? std::min<std::size_t>(d.content.size(), 16) : 1); ++h) {
    std::vector<double> sum;
    for (std::size_t n = 0; n < d.distance.size(); ++n) sum.push_back(d.content[h][n] + d.bias[h][n]);
    chart.lines.push_back(line_of(differ ? fmt::format("head {}", h) : found.encoding, h, d.distance, sum));
  }
  set_distance(chart, found.subject);
  fit_y(chart, "expected logit", false);
  chart.description = "Expected logit of a query and a key with the same random content, against their distance.";
  put(out, chart);
}

void bias_plot(Plots& out, Inspection const& found) {
  auto const& b = *found.bias.value;
  Chart chart{.id = "bias_profile", .title = "Bias by distance: " + found.name()};
  for (std::size_t n = 0; n < std::min<std::size_t>(b.heads.size(), 16); ++n)
    chart.lines.push_back(line_of(fmt::format("head {}", b.heads[n].head), n, b.distance, b.heads[n].value));
  set_distance(chart, found.subject);
  fit_y(chart, "bias [logit]", false);
  double const floor = -16;  // a weight of 1e-7 is as good as none
  chart.y = report::linear_axis(std::max(floor, chart.y.low), std::max(chart.y.high, floor + 1), 6, "bias [logit]");
  for (auto& line : chart.lines)
    for (auto& p : line.points)
      if (p.y < floor) p.y = nan;
  chart.description = "What each head adds to the logit of a key at each distance, down to -16.";
  put(out, chart);
}

void spectrum_plots(Plots& out, Inspection const& found) {
  report::Disc disc{fmt::format("largest modulus {:.9g}", found.spectrum->radius), {}};
  for (auto const& z : found.spectrum->step) disc.points.emplace_back(z.real(), z.imag());
  out.emplace_back(
      "spectrum",
      report::discs_svg(fmt::format("One step's eigenvalues: {}", found.name()),
                        "Eigenvalues of the matrix of one step in the complex plane, with the unit circle.", {disc}));
  Chart chart{.id = "growth", .title = "Growth of powers: " + found.name()};
  std::vector<double> x, high, low;
  for (auto const& g : found.spectrum->growth) {
    x.push_back(g.power);
    high.push_back(g.whole);
    low.push_back(g.least);
  }
  chart.lines = {line_of("largest singular value", 0, x, high), line_of("smallest singular value", 1, x, low)};
  chart.x = report::log2_axis(1, std::max(2.0, x.back()), 12, "steps");
  fit_y(chart, "singular value of G(n)", true);
  chart.description = "Largest and smallest singular value of the n-th power of one step.";
  put(out, chart);
}

void table_spectrum(Plots& out, Inspection const& found) {
  auto const& t = found.tables.value->front();
  if (t.step.empty()) return;
  report::Disc disc{fmt::format("largest modulus {:.6g}", t.radius), {}};
  for (auto const& z : t.step) disc.points.emplace_back(z.real(), z.imag());
  out.emplace_back(
      "spectrum",
      report::discs_svg("Best shift map's eigenvalues: " + found.name(),
                        "Eigenvalues of the map that fits row to next row best, with the unit circle.", {disc}));
  Chart chart{.id = "decay", .title = "Similarity of rows by distance: " + found.name()};
  chart.lines = {line_of(t.label, 0, t.distance, t.similarity)};
  set_distance(chart, found.subject);
  fit_y(chart, "mean inner product of two rows, 1 at distance 0", false);
  chart.description = "Mean inner product of two rows of the table against their distance.";
  put(out, chart);
}

void precision_plot(Plots& out, Inspection const& found) {
  auto const& p = found.precision.value->front();
  Chart chart{.id = "precision_error", .title = fmt::format("Error of {}: {}", p.quantity, found.name())};
  constexpr char const* dashes[] = {"", "7 3", "2 3"};
  for (auto const& line : p.lines) {
    std::vector<double> error;
    for (double e : line.error) error.push_back(e > 0 ? e : nan);
    auto one = line_of(fmt::format("{} {}", name_of(line.format), name_of(line.way)), 0, line.position, error);
    one.look = {static_cast<int>(line.format), dashes[static_cast<int>(line.way)], report::Marker::circle, false};
    bool const any = std::any_of(error.begin(), error.end(), [](double e) { return std::isfinite(e); });
    if (any) chart.lines.push_back(std::move(one));
  }
  if (chart.lines.empty()) return;
  set_distance(chart, found.subject);
  chart.x.title = "position [token]";
  fit_y(chart, "largest error", true);
  chart.description = "Largest error of what is stored, by position, for each format and way to build it.";
  put(out, chart);
}
}  // namespace

std::vector<std::pair<std::string, std::string>> inspection_plots(Inspection const& found) {
  Plots out;
  heat_plot(out, found);
  if (found.wavelengths) wavelength_plots(out, found);
  if (found.expected_logit && (found.expected_logit->any_content || found.expected_logit->any_bias))
    decay_plot(out, found);
  if (found.bias) bias_plot(out, found);
  if (found.spectrum) spectrum_plots(out, found);
  if (found.tables && !found.spectrum) table_spectrum(out, found);
  if (found.precision) precision_plot(out, found);
  return out;
}

}  // namespace sextant::cli
