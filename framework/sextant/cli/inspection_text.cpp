#include <sextant/cli/inspection.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

namespace sextant::cli {
namespace {
using Out = std::back_insert_iterator<std::string>;

template <class... Parts>
void say(std::string& out, fmt::format_string<Parts...> format, Parts&&... parts) {
  fmt::format_to(Out(out), format, std::forward<Parts>(parts)...);
}

std::string number(double x) {
  if (std::isinf(x)) return x > 0 ? "inf" : "-inf";
  double const size = std::abs(x);
  if (size != 0 && (size < 1e-3 || size >= 1e6)) return fmt::format("{:.3g}", x);
  return fmt::format("{:.{}f}", x, size >= 1000 ? 1 : size >= 10 ? 2 : 4);
}

std::string bytes(double b) {
  char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; b >= 1024 && unit < 4; ++unit) b /= 1024;
  return unit == 0 ? fmt::format("{:.0f} B", b) : fmt::format("{:.2f} {}", b, units[unit]);
}

// At most `most` of n things, evenly spread, both ends kept.
std::vector<std::size_t> spread_over(std::size_t n, std::size_t most) {
  std::vector<std::size_t> out;
  for (std::size_t k = 0; k < std::min(n, most); ++k)
    out.push_back(n <= most ? k : (k * (n - 1) + (most - 1) / 2) / (most - 1));
  return out;
}

void heading(std::string& out, char const* what) { say(out, "\n{}\n", what); }

template <class T, class Show>
void section(std::string& out, char const* title, inspect::Finding<T> const& finding, Show&& show) {
  heading(out, title);
  if (finding)
    show(*finding.value);
  else
    say(out, "  does not apply: {}\n", finding.why_not);
}

void show_wavelengths(std::string& out, inspect::Wavelengths const& w, inspect::Subject const& subject) {
  say(out, "  {}{}, attention factor {}\n", w.label, w.per_head ? fmt::format(", head {}", w.head) : "",
      number(w.attention_factor));
  if (!w.note.empty()) say(out, "  {}\n", w.note);
  say(out, "  {:>5} {:>12} {:>12} {:>12} {:>10} {:>8}\n", "pair", "rad/token", "plain", "wavelength", "turns",
      "unseen");
  for (std::size_t const n : spread_over(w.pairs.size(), 16)) {
    auto const& p = w.pairs[n];
    bool const trained = subject.trained() > 0;
    say(out, "  {:>5} {:>12} {:>12} {:>12} {:>10} {:>8}\n",
        p.axis ? fmt::format("{}/{}", p.pair, p.axis) : std::to_string(p.pair), number(p.inv_freq), number(p.plain),
        number(p.wavelength), trained ? number(p.trained_turns) : "-",
        trained ? fmt::format("{:.1f} %", 100 * p.unseen_share) : "-");
  }
  if (subject.trained() > 0)
    say(out, "  {} of {} pairs never complete a turn in training; {:.1f} % of pairs and distances are unseen phases\n",
        w.never_completed, w.pairs.size(), 100 * w.mean_unseen);
  else
    say(out, "  give --trained for the turns that training completes and the phases it leaves unseen\n");
}

std::string head_row(std::vector<double> const& values, std::vector<std::size_t> const& at) {
  std::string out;
  for (std::size_t n : at) say(out, " {:>9}", number(values[n]));
  return out;
}

void show_decay(std::string& out, inspect::Decay const& d) {
  auto const at = spread_over(d.distance.size(), 10);
  say(out, "  query and key one random vector of unit-variance channels; in logits, by distance in tokens\n");
  if (d.draws > 0)
    say(out, "  tokens in between decide too: measured in attention over {} rows of one repeated token, to +-{}\n",
        d.draws, number(d.standard_error));
  say(out, "  {:>8}{}\n", "distance", head_row(d.distance, at));
  for (std::size_t h = 0; h < d.content.size(); ++h) {
    if (h > 0 && !d.content_differs && !d.bias_differs) break;
    std::vector<double> sum;
    for (std::size_t n = 0; n < d.distance.size(); ++n) sum.push_back(d.content[h][n] + d.bias[h][n]);
    bool const all = !d.content_differs && !d.bias_differs;
    say(out, "  {:>8}{}\n", all ? "all heads" : fmt::format("head {}", h), head_row(sum, at));
  }
}

void show_bias(std::string& out, inspect::BiasProfile const& b) {
  auto const at = spread_over(b.distance.size(), 7);
  say(out,
      "  in logits, by distance in tokens; reach: distance at which a weight is down by e; near: softmax mass of\n"
      "  the bias alone within {} tokens; rank: effective rank of that attention over 64 positions\n",
      number(b.near));
  say(out, "  {:>8}{} {:>10} {:>7} {:>6}\n", "distance", head_row(b.distance, at), "reach", "near", "rank");
  for (auto const& h : b.heads)
    say(out, "  {:>8}{} {:>10} {:>6.1f}% {:>6.1f}\n", fmt::format("head {}", h.head), head_row(h.value, at),
        std::isinf(h.reach) ? "never" : fmt::format("{:.0f}", h.reach), 100 * h.share_of_attention, h.effective_rank);
}

std::string complex_text(std::complex<double> z) {
  double const re = std::abs(z.real()) < 1e-12 ? 0 : z.real(), im = std::abs(z.imag()) < 1e-12 ? 0 : z.imag();
  return im == 0 ? fmt::format("{:.6g}", re) : fmt::format("{:.6g}{:+.6g}i", re, im);
}

std::string eigenvalue_list(std::vector<std::complex<double>> const& values) {
  std::string out;
  for (std::size_t n : spread_over(values.size(), 8)) say(out, "  {}", complex_text(values[n]));
  return out;
}

std::string verdict(inspect::Spectrum const& s) {
  double const last = s.growth.empty() ? 1 : s.growth.back().whole;
  if (s.radius > 1 + 1e-9) return "exponential: it must be cut off";
  if (last > 1 + 1e-6) return s.bias_residual < 1e-9 ? "linear: unipotent" : "bounded by the bias";
  return s.radius < 1 - 1e-9 ? "none: it contracts" : "none: powers have norm 1";
}

void show_spectrum(std::string& out, inspect::Spectrum const& s) {
  say(out, "  one step of head {}: {} eigenvalues, largest modulus {:.12g}\n", s.head, s.step.size(), s.radius);
  say(out, "  step     {}\n", eigenvalue_list(s.step));
  say(out, "  generator{}\n", eigenvalue_list(s.generator));
  say(out, "  growth of powers: {}\n", verdict(s));
  std::string powers, norms;
  for (std::size_t n : spread_over(s.growth.size(), 9)) {
    say(powers, " {:>9}", number(s.growth[n].power));
    say(norms, " {:>9}", number(s.growth[n].whole));
  }
  say(out, "  {:>9}{}\n  {:>9}{}\n", "power", powers, "norm", norms);
  say(out, "  laws: relative to {:.1e}", s.relative_residual);
  if (s.content) say(out, ", steps of contents compose to {:.1e}", s.content_residual);
  if (s.bias) say(out, ", biases add up to {:.1e}", s.bias_residual);
  say(out, "\n");
  if (s.bias)
    say(out, "  lift [[1, 0], [s, 1]] at s = {}: singular values {:.9g} and {:.9g}; the lemma says {:.9g} and {:.9g}\n",
        number(s.lift_s), s.lift_measured[0], s.lift_measured[1], s.lift_lemma[0], s.lift_lemma[1]);
}

void show_table(std::string& out, inspect::TableView const& t) {
  say(out, "  {}: {} rows of {} channels looked at{}\n", t.label, t.rows, t.channels,
      t.table_length > 0 ? fmt::format("; the table ends at {}", t.table_length) : "");
  say(out, "  best shift map: residual {:.2e} on the steps it was fitted to, {:.2e} on the others\n", t.fit_residual,
      t.held_out_residual);
  say(out, "  {}\n",
      t.held_out_residual < 1e-3 ? "one map takes every row to the next: a representation of translation"
                                 : "no map takes rows to the next: every pair of positions is on its own");
  say(out, "  its eigenvalues, largest modulus {:.6g}:{}\n", t.radius, eigenvalue_list(t.step));
  auto const at = spread_over(t.distance.size(), 9);
  say(out, "  {:>10}{}\n  {:>10}{}\n", "distance", head_row(t.distance, at), "similarity", head_row(t.similarity, at));
}

void show_precision(std::string& out, inspect::Precision const& p) {
  say(out, "  {}: {}, largest error at\n", p.label, p.quantity);
  auto const& longest = p.lines.front().position;
  std::vector<double> shown;
  for (double at = 16; at < longest.back(); at *= 16) shown.push_back(at);
  shown.push_back(longest.back());
  std::string row;
  for (double at : shown) say(row, " {:>9}", number(at));
  say(out, "  {:>15}{} {:>9}\n", "position", row, "worst");
  for (auto const& line : p.lines) {
    row.clear();
    for (double at : shown) {
      auto const found = std::lower_bound(line.position.begin(), line.position.end(), at);
      say(row, " {:>9}",
          found == line.position.end() || *found != at
              ? "-"
              : fmt::format("{:.1e}", line.error[static_cast<std::size_t>(found - line.position.begin())]));
    }
    say(out, "  {:>15}{} {:>9}\n", fmt::format("{} {}", name_of(line.format), name_of(line.way)), row,
        fmt::format("{:.1e}", line.worst));
  }
}

void show_cost(std::string& out, inspect::Cost const& c) {
  heading(out, "memory and arithmetic added, one layer, one row of tokens, float32");
  say(out, "  {:>9} {:>12} {:>11} {:>10}  {}\n", "length", "bytes", "flop", "attention", "of which");
  for (std::size_t n : spread_over(c.lengths.size(), 8)) {
    auto const& at = c.lengths[n];
    std::string classes;
    for (auto const& memory : at.memory)
      say(classes, "{}{} {}", classes.empty() ? "" : ", ", memory.name, bytes(memory.bytes));
    say(out, "  {:>9.0f} {:>12} {:>11.3g} {:>8.2f} %  {}\n", at.length, bytes(at.bytes), at.flop,
        100 * at.flop / at.attention_flop, classes);
  }
  say(out, "  a cache keeps {:.0f} B a token beside key and value; trained numbers: {:.0f}\n", c.cache_bytes_per_token,
      c.parameters);
  for (auto const& line : c.uncounted) say(out, "  {}\n", line);
}
}  // namespace

std::string inspection_text(Inspection const& found) {
  std::string out;
  auto const& subject = found.subject;
  auto const& shape = subject.shape();
  say(out, "{}: {:.0f} tokens{}; {} heads of {} channels\n", found.name(), subject.length(),
      subject.trained() > 0 ? fmt::format(", trained at {:.0f}", subject.trained()) : "", shape.heads, shape.head_dim);
  if (subject.has_weights())
    say(out, "trained tensors stand at their starting values, drawn from seed {}; gates see a token of zeros\n",
        subject.seed());
  section(out, "wavelengths", found.wavelengths, [&](auto const& all) {
    for (std::size_t n : spread_over(all.size(), 4)) show_wavelengths(out, all[n], subject);
    if (all.size() > 4) say(out, "  {} more entries are in --json\n", all.size() - 4);
  });
  section(out, "expected logit by distance", found.expected_logit, [&](auto const& d) { show_decay(out, d); });
  section(out, "bias by distance", found.bias, [&](auto const& b) { show_bias(out, b); });
  section(out, "spectrum", found.spectrum, [&](auto const& s) { show_spectrum(out, s); });
  section(out, "table", found.tables, [&](auto const& all) {
    for (auto const& t : all) show_table(out, t);
  });
  heading(out, "effective rank");
  if (found.rank)
    for (auto const& r : *found.rank.value)
      say(out, "  {}, head {}: the phases of {:.0f} positions span {:.2f} of {} directions{}\n", r.label, r.head,
          subject.length(), r.at_length, r.out_of,
          r.at_trained > 0 ? fmt::format("; those of training {:.2f}", r.at_trained) : "");
  if (found.tables)
    for (auto const& t : *found.tables.value)
      say(out, "  {}: the rows span {:.2f} of {} directions\n", t.label, t.effective_rank, t.channels);
  if (!found.rank && !found.tables) say(out, "  does not apply: {}\n", found.rank.why_not);
  section(out, "precision", found.precision, [&](auto const& all) {
    for (auto const& p : all) show_precision(out, p);
  });
  show_cost(out, found.cost);
  return out;
}

}  // namespace sextant::cli
