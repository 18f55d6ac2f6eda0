#include <sextant/base/error.hpp>
#include <sextant/inspect/action.hpp>
#include <sextant/inspect/precision.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

namespace sextant::inspect {
namespace {
double exact_cos(double p, double w) {
  return static_cast<double>(std::cos(static_cast<long double>(p) * static_cast<long double>(w)));
}
double exact_sin(double p, double w) {
  return static_cast<double>(std::sin(static_cast<long double>(p) * static_cast<long double>(w)));
}

// What arithmetic happens in when numbers are stored in `f`.
Format arithmetic(Format f) { return is_integer(f) ? Format::fp32 : f; }

struct Table {
  double cos, sin;
};
Table direct(double p, double w, Format f) {
  Format const in = arithmetic(f);
  double const angle = angle_in(in, p, w);
  return {round_to(f, round_to(in, std::cos(angle))), round_to(f, round_to(in, std::sin(angle)))};
}
Table reduced(double p, double w, Format f) {
  double const angle = std::remainder(p * w, 2 * std::numbers::pi);
  return {round_to(f, std::cos(angle)), round_to(f, std::sin(angle))};
}
Table step(Table const& at, Table const& by, Format in) {
  auto const r = [in](double x) { return round_to(in, x); };
  return {r(r(at.cos * by.cos) - r(at.sin * by.sin)), r(r(at.sin * by.cos) + r(at.cos * by.sin))};
}

constexpr double recurrence_budget = 1 << 21;  // steps over all pairs

double error_of(Table const& t, double p, double w, Format f) {
  double const c = round_to(f, t.cos), s = round_to(f, t.sin);
  return std::max(std::abs(c - exact_cos(p, w)), std::abs(s - exact_sin(p, w)));
}

PrecisionLine by_recurrence(std::vector<double> const& inv_freq, double last, Format format) {
  PrecisionLine out{format, Way::recurrence, {}, {}};
  Format const in = arithmetic(format);
  double const end = std::min(last, std::floor(recurrence_budget / static_cast<double>(inv_freq.size())));
  out.position = distances_to(end, 4);
  out.error.assign(out.position.size(), 0.0);
  for (double w : inv_freq) {
    Table const by{round_to(in, std::cos(w)), round_to(in, std::sin(w))};
    Table at{1, 0};
    double p = 0;
    for (std::size_t n = 0; n < out.position.size(); ++n) {
      for (; p < out.position[n]; ++p) at = step(at, by, in);
      double const error = error_of(at, p, w, format);
      out.error[n] = std::max(out.error[n], std::isfinite(error) ? error : std::numeric_limits<double>::infinity());
    }
  }
  return out;
}

void settle(PrecisionLine& line) { line.worst = *std::max_element(line.error.begin(), line.error.end()); }

// Numbers that are only stored: entries of rows, a bias formed in double.
PrecisionLine stored(Format format, std::vector<double> position, std::vector<std::vector<double>> const& values) {
  PrecisionLine out{format, Way::reduced, std::move(position), {}};
  double largest = 0;
  for (auto const& row : values)
    for (double v : row)
      if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  for (auto const& row : values) {
    double worst = 0;
    for (double v : row)
      if (std::isfinite(v)) worst = std::max(worst, std::abs(round_to(format, v, largest) - v));
    out.error.push_back(worst);
  }
  settle(out);
  return out;
}

// A running sum of one step, kept in the format.
PrecisionLine summed(Format format, double last, double slope) {
  PrecisionLine out{format, Way::recurrence, distances_to(std::min(last, recurrence_budget), 4), {}};
  Format const in = arithmetic(format);
  double const by = round_to(in, slope);
  double sum = 0, p = 0;
  for (double d : out.position) {
    for (; p < d; ++p) sum = round_to(in, sum + by);
    out.error.push_back(std::abs(sum - slope * d));
  }
  settle(out);
  return out;
}

Precision of_rotary(Subject const& subject, std::size_t t, encoding::Position::Frequencies const& found) {
  std::size_t const pairs = static_cast<std::size_t>(found.form.rotary_dim) / 2;
  std::vector<double> const w(found.inv_freq.begin(), found.inv_freq.begin() + static_cast<std::ptrdiff_t>(pairs));
  Precision out{subject.terms()[t].label, "cos and sin", {}};
  for (Format f : formats)
    for (Way way : ways) out.lines.push_back(rotary_precision(w, subject.length() - 1, f, way));
  return out;
}

Precision of_bias(Subject const& subject, int head, Action const& action) {
  double const last = subject.length() - 1;
  Precision out{"bias", text("bias of head ", head, " [logit]"), {}};
  auto const position = distances_to(last, 4);
  std::vector<std::vector<double>> values;
  for (double d : position) values.push_back({action.bias_at(last, last - d)});
  double const step = action.bias_at(last, last - 1) - action.bias_at(last, last);
  bool linear = std::isfinite(step) && step != 0;
  for (std::size_t n = 0; n < position.size(); ++n) {
    double const sum = values[0][0] + step * position[n];
    linear = linear && std::abs(values[n][0] - sum) <= 1e-9 * std::max(1.0, std::abs(sum));
  }
  for (Format f : formats) {
    out.lines.push_back(stored(f, position, values));
    if (linear && !is_integer(f)) out.lines.push_back(summed(f, last, step));
  }
  return out;
}

Precision of_rows(Subject const& subject, std::size_t t) {
  Term const& term = subject.terms()[t];
  encoding::Shape const& shape = term.shape;
  int const table = term.encoding->table_length();
  double const last = (table > 0 ? std::min<double>(table, subject.length()) : subject.length()) - 1;
  auto const position = distances_to(last, 2);
  std::vector<std::vector<double>> rows;
  for (double p : position) {
    std::vector<double> row(shape.model_dim);
    if (table > 0)
      for (int c = 0; c < shape.model_dim; ++c) row[c] = subject.table_at(t, static_cast<int>(p), c);
    else
      term.encoding->embed_row(shape, p, row.data());
    rows.push_back(std::move(row));
  }
  Precision out{term.label, "row entries", {}};
  for (Format f : formats) out.lines.push_back(stored(f, position, rows));
  return out;
}
}  // namespace

char const* name_of(Way way) {
  constexpr char const* names[] = {"direct", "recurrence", "reduced"};
  return names[static_cast<int>(way)];
}

PrecisionLine rotary_precision(std::vector<double> const& inv_freq, double last, Format format, Way way) {
  expect(!inv_freq.empty(), "precision: there are no frequencies");
  PrecisionLine out{format, way, {}, {}};
  if (way == Way::recurrence) {
    out = by_recurrence(inv_freq, last, format);
  } else {
    out.position = distances_to(last);
    for (double p : out.position) {
      double worst = 0;
      for (double w : inv_freq)
        worst =
            std::max(worst, error_of(way == Way::direct ? direct(p, w, format) : reduced(p, w, format), p, w, format));
      out.error.push_back(worst);
    }
  }
  settle(out);
  return out;
}

Finding<std::vector<Precision>> precision(Subject const& subject) {
  std::vector<Precision> out;
  for (std::size_t t = 0; t < subject.terms().size(); ++t) {
    Term const& term = subject.terms()[t];
    auto const& stages = term.stages;
    if (!subject.acts(t)) continue;
    if (stages.embed) out.push_back(of_rows(subject, t));
    if (!stages.rotate) continue;
    auto const found = subject.frequencies(t);
    if (found.form.phase_gate < 0 && found.form.axes == 1) out.push_back(of_rotary(subject, t, found));
  }
  for (int head = 0; head < subject.shape().heads; ++head) {
    Action const action(subject, head);
    if (!action.open().empty() || !action.biases()) continue;
    out.push_back(of_bias(subject, head, action));
    break;
  }
  if (out.empty())
    return Finding<std::vector<Precision>>::none("no table of numbers that depend on the position alone is kept");
  return out;
}

}  // namespace sextant::inspect
