#include <sextant/inspect/wavelengths.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <numbers>

namespace sextant::inspect {
namespace {
constexpr double turn = 2 * std::numbers::pi;
constexpr double slack = 1e-9;  // a phase that rounding puts beyond the arc is not unseen

// What the pair's angle is proportional to, at distance d from the last of n tokens.
using Phase = std::function<double(double)>;  // what scalings make of a phase
double turned(encoding::Encoding const& e, Phase const& scaled, int branches, double n, double d) {
  double const i = n - 1, j = n - 1 - d;
  if (branches == 0) return scaled(e.phase(i)) - scaled(e.phase(j));
  int const b = e.branch(i, j);
  if (b < 0) return std::numeric_limits<double>::quiet_NaN();
  return scaled(e.query_phase(b, i)) - scaled(e.key_phase(e.key_set(b), j));
}

// Distances 0 .. n - 1 in units of phase; a plain encoding's are the numbers themselves and need no list.
struct Distances {
  bool plain = true;
  double count = 0, most = 0;
  std::vector<double> list;
};
Distances distances_of(encoding::Encoding const& e, Phase const& scaled, int branches, double n) {
  Distances out{true, n, n - 1, {}};
  double const probes[] = {0, 1, std::floor(n / 3), std::floor(n / 2), n - 1};
  for (double d : probes) out.plain = out.plain && d < n && turned(e, scaled, branches, n, d) == d;
  if (out.plain && branches == 0) return out;
  out.plain = false;
  out.most = 0;
  double const stride = std::max(1.0, std::floor(n / 16384));
  for (double d = 0; d < n; d += stride)
    if (double const rho = std::abs(turned(e, scaled, branches, n, d)); !std::isnan(rho)) {
      out.list.push_back(rho);
      out.most = std::max(out.most, rho);
    }
  return out;
}

double unseen(Distances const& used, double step, double arc) {
  if (arc >= turn || used.count == 0) return 0;
  if (used.plain) return share_beyond(step, used.count, arc);
  double beyond = 0;
  for (double rho : used.list) beyond += std::fmod(rho * step, turn) > arc + slack;
  return used.list.empty() ? 0 : beyond / static_cast<double>(used.list.size());
}

std::string note_of(Term const& term, Phase const& scaled, encoding::Rotary const& form, int branches) {
  if (form.phase_gate >= 0)
    return "angles count phase that the tokens decide, not tokens: a wavelength is in that phase";
  if (form.axes > 1)
    return "angles count along " + std::to_string(form.axes) + " axes: a wavelength is in steps of one";
  if (branches > 0) return "far keys are met at other angles than near ones; distances are those it turns by";
  bool bent = false;
  for (double p : {4.0, 64.0, 4096.0})
    bent = bent || scaled(term.encoding->phase(2 * p)) - scaled(term.encoding->phase(p)) != p;
  return bent ? "positions are bent before they turn anything" : "";
}
}  // namespace

double share_beyond(double step, double count, double arc) {
  if (step <= 0 || arc >= turn || count <= 0) return 0;
  double beyond = 0;
  double const turns = std::ceil((count - 1) * step / turn + 1e-12);
  for (double t = 0; t <= turns; ++t) {
    double const first = std::floor((t * turn + arc + slack) / step) + 1;  // first n beyond the arc of this turn
    double const last = std::ceil((t + 1) * turn / step - 1e-12) - 1;      // last n before the next turn
    beyond += std::max(0.0, std::min(last, count - 1) - first + 1);
  }
  return beyond / count;
}

Finding<std::vector<Wavelengths>> wavelengths(Subject const& subject) {
  std::vector<Wavelengths> out;
  for (std::size_t t = 0; t < subject.terms().size(); ++t) {
    Term const& term = subject.terms()[t];
    auto const& stages = term.stages;
    if (!stages.rotate || !subject.acts(t)) continue;
    auto const found = subject.frequencies(t);
    int const pairs = found.form.rotary_dim / 2, axes = found.form.axes;
    std::vector<double> plain(found.inv_freq.size());
    term.encoding->inv_freq(term.shape, subject.all_weights(t).data(), plain.data());
    bool const tokens = found.form.phase_gate < 0 && axes == 1;
    double const trained = subject.trained();
    Phase const scaled = [&](double phase) { return subject.position().scaled_phase(term, phase); };
    Phase const plain_phase = [](double phase) { return phase; };
    Distances const used = tokens ? distances_of(*term.encoding, scaled, stages.branches, subject.length())
                                  : Distances{true, subject.length(), subject.length() - 1, {}};
    Distances const seen = trained < 1 ? Distances{}
                           : tokens    ? distances_of(*term.encoding, plain_phase, stages.branches, trained)
                                       : Distances{true, trained, trained - 1, {}};
    for (int h = 0; h < found.rows; ++h) {
      Wavelengths w{.label = term.label,
                    .head = term.head_begin + h,
                    .per_head = found.rows > 1,
                    .attention_factor = found.attention_factor,
                    .note = note_of(term, scaled, found.form, stages.branches),
                    .pairs = {}};
      for (int a = 0; a < axes; ++a)
        for (int p = 0; p < pairs; ++p) {
          std::size_t const n = (static_cast<std::size_t>(h) * axes + a) * pairs + p;
          PairTurn pair{.axis = a, .pair = p, .inv_freq = found.inv_freq[n], .plain = plain[n]};
          pair.wavelength = turn / std::abs(pair.inv_freq);
          double const arc = trained < 1 ? -1 : seen.most * std::abs(pair.plain);
          pair.trained_turns = trained < 1 ? 0 : arc / turn;
          pair.completed = pair.trained_turns >= 1 || pair.plain == 0;
          pair.unseen_share = pair.completed ? 0 : unseen(used, std::abs(pair.inv_freq), arc);
          w.never_completed += !pair.completed;
          w.mean_unseen += pair.unseen_share / (pairs * axes);
          w.pairs.push_back(pair);
        }
      out.push_back(std::move(w));
    }
  }
  if (out.empty())
    return Finding<std::vector<Wavelengths>>::none("nothing turns query or key, so there is no wavelength");
  return out;
}

}  // namespace sextant::inspect
