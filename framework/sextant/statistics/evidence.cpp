#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/statistics/evidence.hpp>

#include <algorithm>
#include <boost/math/distributions/chi_squared.hpp>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>

namespace sextant::statistics {
namespace {
// Mean over windows of each quantity under each seed, [quantities, seeds].
std::vector<double> seed_means(Panel const& panel) {
  std::vector<double> out(panel.quantities * panel.seeds);
  for (std::size_t q = 0; q < panel.quantities; ++q)
    for (std::size_t s = 0; s < panel.seeds; ++s)
      out[q * panel.seeds + s] =
          mean(std::span(panel.values).subspan((q * panel.seeds + s) * panel.windows, panel.windows));
  return out;
}

// Mean over seeds of each quantity in each window, [quantities, windows].
std::vector<double> window_means(Panel const& panel) {
  std::vector<double> out(panel.quantities * panel.windows, 0.0);
  for (std::size_t q = 0; q < panel.quantities; ++q)
    for (std::size_t s = 0; s < panel.seeds; ++s)
      for (std::size_t w = 0; w < panel.windows; ++w)
        out[q * panel.windows + w] += panel.at(q, s, w) / static_cast<double>(panel.seeds);
  return out;
}

std::vector<double> row_means(std::vector<double> const& table, std::size_t rows) {
  std::vector<double> out;
  std::size_t const columns = table.size() / rows;
  for (std::size_t r = 0; r < rows; ++r) out.push_back(mean(std::span(table).subspan(r * columns, columns)));
  return out;
}

// sqrt(dof / chi^2), the factor that makes a t of a normal.
double widening(double dof, double uniform) {
  double const u = std::clamp(uniform, 1e-15, 1 - 1e-15);
  return std::sqrt(dof / boost::math::quantile(boost::math::chi_squared_distribution<double>(dof), u));
}

// Deviations of the means that one replicate draws.
class Draws {
 public:
  Draws(Panel const& panel, Drawn drawn)
      : drawn_(drawn),
        quantities_(panel.quantities),
        n_(panel.seeds),
        m_(panel.windows),
        by_seed_(seed_means(panel)),
        by_window_(window_means(panel)),
        center_(row_means(by_seed_, quantities_)) {}

  std::vector<double> const& center() const { return center_; }

  /// Means as replicate r sees them.
  std::vector<double> means(std::uint64_t r) const {
    std::vector<double> out = center_;
    if (drawn_ == Drawn::seeds_and_windows) add_seeds(r, out);
    add_windows(r, out);
    return out;
  }

 private:
  void add_seeds(std::uint64_t r, std::vector<double>& out) const {
    double const n = static_cast<double>(n_);
    double const scale = widening(n - 1, scales_.uniform(0, r)) / std::sqrt(n * (n - 1));
    for (std::size_t s = 0; s < n_; ++s) {
      double const g = scale * seeds_.normal(s, r);
      for (std::size_t q = 0; q < quantities_; ++q) out[q] += g * (by_seed_[q * n_ + s] - center_[q]);
    }
  }

  void add_windows(std::uint64_t r, std::vector<double>& out) const {
    double const m = static_cast<double>(m_);
    double const scale = widening(m - 1, scales_.uniform(1, r)) * std::sqrt(m / (m - 1)) / m;
    for (std::size_t k = 0; k < m_; ++k) {
      auto const w = static_cast<std::size_t>(windows_.below(static_cast<std::int64_t>(m_), k, r));
      for (std::size_t q = 0; q < quantities_; ++q) out[q] += scale * (by_window_[q * m_ + w] - center_[q]);
    }
  }

  Drawn drawn_;
  std::size_t quantities_, n_, m_;
  std::vector<double> by_seed_, by_window_, center_;
  Stream seeds_{0, "claims/seeds"}, windows_{0, "claims/windows"}, scales_{0, "claims/scales"};
};

// The effect of each column of a table [quantities, columns].
std::vector<double> effects_of(std::vector<double> const& table, std::size_t quantities, Effect const& effect) {
  std::size_t const columns = table.size() / quantities;
  std::vector<double> out, means(quantities);
  for (std::size_t c = 0; c < columns; ++c) {
    for (std::size_t q = 0; q < quantities; ++q) means[q] = table[q * columns + c];
    out.push_back(effect(means));
  }
  return out;
}

double t_upper(double t, double dof) {
  if (std::isnan(t)) return 1;  // a share of nothing: it counts against every claim
  if (std::isinf(t)) return t > 0 ? 0 : 1;
  return boost::math::cdf(boost::math::complement(boost::math::students_t_distribution<double>(dof), t));
}

double chance_of_one_sign(std::size_t n) { return std::exp2(-static_cast<double>(n)); }
}  // namespace

double Evidence::p_below(double bound) const {
  if (t_) {
    if (t_->error == 0) return effect < bound ? least_ : 1;  // the limits of t = distance / 0
    return std::max(least_, t_upper((bound - effect) / t_->error, t_->dof));
  }
  auto const under = std::lower_bound(replicates_.begin(), replicates_.end(), bound) - replicates_.begin();
  return std::max(least_, static_cast<double>(1 + drawn_ - under) / (1 + drawn_));
}

double Evidence::p_above(double bound) const {
  if (t_) {
    if (t_->error == 0) return effect > bound ? least_ : 1;
    return std::max(least_, t_upper((effect - bound) / t_->error, t_->dof));
  }
  auto const over = replicates_.end() - std::upper_bound(replicates_.begin(), replicates_.end(), bound);
  return std::max(least_, static_cast<double>(1 + drawn_ - over) / (1 + drawn_));
}

Interval Evidence::interval(double confidence) const {
  expect(confidence > 0 && confidence < 1, "statistics: confidence is ", confidence, ", expected inside (0, 1)");
  double const tail = 0.5 - 0.5 * confidence;
  if (t_) {
    if (std::isnan(t_->error)) return {-HUGE_VAL, HUGE_VAL};
    double const half = t_->error == 0 ? 0 : t_quantile(1 - tail, t_->dof) * t_->error;
    return {effect - half, effect + half};
  }
  expect(!replicates_.empty(), "statistics: no replicate of the effect is a number");
  return {sorted_quantile(replicates_, tail), sorted_quantile(replicates_, 1 - tail)};
}

Evidence student(Panel const& panel, Effect const& effect, Drawn drawn) {
  bool const given = drawn == Drawn::windows;
  std::size_t const n = given ? panel.windows : panel.seeds;
  char const* const what = given ? "windows" : "seeds";
  expect(n >= 2, "statistics: a t-test over ", what, " needs 2 ", what, ", found ", n);
  auto const effects = effects_of(given ? window_means(panel) : seed_means(panel), panel.quantities, effect);
  Evidence out;
  out.effect = mean(effects);
  out.t_ = {sample_sd(effects) / std::sqrt(static_cast<double>(n)), static_cast<double>(n - 1)};
  out.least_ = given ? chance_of_one_sign(n) : 0;
  return out;
}

Evidence bootstrap(Panel const& panel, Effect const& effect, int replicates, Drawn drawn) {
  bool const given = drawn == Drawn::windows;
  expect(panel.seeds >= (given ? 1 : 2) && panel.windows >= 2, "statistics: a bootstrap over ",
         given ? "windows" : "seeds and windows", " needs 2 of ", given ? "them" : "both", ", found ", panel.seeds,
         " seeds and ", panel.windows, " windows");
  expect(replicates >= 1, "statistics: ", replicates, " replicates, expected at least 1");
  Draws const draws(panel, drawn);
  Evidence out;
  out.effect = effect(draws.center());
  out.drawn_ = replicates;
  out.least_ = given ? chance_of_one_sign(panel.windows) : 0;
  for (int r = 0; r < replicates; ++r) {
    double const value = effect(draws.means(static_cast<std::uint64_t>(r)));
    if (!std::isnan(value)) out.replicates_.push_back(value);  // one that is none counts against every claim
  }
  std::sort(out.replicates_.begin(), out.replicates_.end());
  return out;
}

Spread spread_of(Panel const& panel, Effect const& effect) {
  expect(panel.seeds >= 2, "statistics: a spread over seeds needs 2 seeds, found ", panel.seeds);
  Spread out;
  out.seed_sd = sample_sd(effects_of(seed_means(panel), panel.quantities, effect));
  if (panel.windows < 2) return out;
  double const sd = sample_sd(effects_of(window_means(panel), panel.quantities, effect));
  out.windows = static_cast<int>(panel.windows);
  out.windows_variance = sd * sd / static_cast<double>(panel.windows);
  return out;
}

}  // namespace sextant::statistics
