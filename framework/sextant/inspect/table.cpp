#include <sextant/base/error.hpp>
#include <sextant/inspect/matrix.hpp>
#include <sextant/inspect/table.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::inspect {
namespace {
constexpr int most_rows = 1024, most_channels = 128, heat_rows = 96, rank_rows = 2048;

class Rows {
 public:
  // Looks at a narrower model when the width is past most_channels: the laws do not depend on it.
  Rows(Subject const& subject, std::size_t term) : subject_(subject), t_(term), shape_(subject.terms()[term].shape) {
    shape_.model_dim = std::min(shape_.model_dim, most_channels);
    trained_ = encoding().table_length() > 0;
  }
  encoding::Encoding const& encoding() const { return *subject_.terms()[t_].encoding; }
  int channels() const { return shape_.model_dim; }
  int count() const {
    double const n = trained_ ? std::min<double>(subject_.length(), encoding().table_length()) : subject_.length();
    return static_cast<int>(n);
  }
  void row(double position, double* out) const {
    if (!trained_) return encoding().embed_row(shape_, position, out);
    for (int c = 0; c < channels(); ++c) out[c] = subject_.table_at(t_, static_cast<int>(position), c);
  }
  Matrix first(int rows) const {
    Matrix out(rows, channels());
    for (int r = 0; r < rows; ++r) row(r, out.row(r));
    return out;
  }

 private:
  Subject const& subject_;
  std::size_t t_;
  encoding::Shape shape_;
  bool trained_ = false;
};

// Rows first, first + 2, ... and what follows each of them.
struct StepsOf {
  Matrix from, to;
  StepsOf(Matrix const& x, int first) : from((x.rows - first) / 2, x.cols), to(from.rows, x.cols) {
    for (int r = 0; r < from.rows; ++r) {
      std::copy_n(x.row(first + 2 * r), x.cols, from.row(r));
      std::copy_n(x.row(first + 2 * r + 1), x.cols, to.row(r));
    }
  }
  double residual(Matrix const& map) const { return frobenius(difference(to, product(from, map))) / frobenius(to); }
};

void find_shift(Matrix const& x, TableView& out) {
  StepsOf const fitted(x, 0), held_out(x, 1);
  Matrix const map = fit(fitted.from, fitted.to);
  out.fit_residual = fitted.residual(map);
  out.held_out_residual = held_out.residual(map);
  out.step = eigenvalues(map);
  out.radius = std::abs(out.step.front());
}

void find_similarity(Matrix const& x, TableView& out) {
  double norm = 0;
  for (double v : x.data) norm += v * v / x.rows;
  for (double d : distances_to(x.rows / 2.0)) {
    double sum = 0;
    int const shift = static_cast<int>(d);
    for (int r = shift; r < x.rows; ++r)
      for (int c = 0; c < x.cols; ++c) sum += x(r, c) * x(r - shift, c);
    out.distance.push_back(d);
    out.similarity.push_back(sum / (x.rows - shift) / norm);
  }
}

double rank_of(std::vector<double> const& inv_freq, double length, Stream const& stream) {
  int const pairs = static_cast<int>(inv_freq.size()), rows = static_cast<int>(std::min<double>(length, rank_rows));
  Matrix x(rows, 2 * pairs);
  for (int r = 0; r < rows; ++r) {
    double const p = length <= rank_rows ? r : static_cast<double>(stream.below(static_cast<std::int64_t>(length), r));
    for (int f = 0; f < pairs; ++f) {
      x(r, 2 * f) = std::cos(p * inv_freq[f]);
      x(r, 2 * f + 1) = std::sin(p * inv_freq[f]);
    }
  }
  // Singular values of x are the roots of its Gram matrix's: far fewer turns, and small ones do not weigh in an entropy.
  auto s = singular_values(product_transposed(x, x));
  for (double& value : s) value = std::sqrt(value);
  return effective_rank(s);
}
}  // namespace

Finding<std::vector<TableView>> tables(Subject const& subject) {
  std::vector<TableView> out;
  for (std::size_t t = 0; t < subject.terms().size(); ++t) {
    Term const& term = subject.terms()[t];
    if (!term.stages.embed) continue;
    Rows const rows(subject, t);
    TableView view{.label = term.label, .channels = rows.channels(), .table_length = term.encoding->table_length()};
    view.rows = std::min(rows.count(), most_rows);
    view.heat_rows = std::min(rows.count(), heat_rows);
    view.heat = rows.first(view.heat_rows).data;
    Matrix const x = rows.first(view.rows);
    if (view.rows >= 8) {
      find_shift(x, view);
      find_similarity(x, view);
    }
    auto s = singular_values(product_transposed(x, x));
    for (double& value : s) value = std::sqrt(value);
    view.effective_rank = effective_rank(s);
    out.push_back(std::move(view));
  }
  if (out.empty())
    return Finding<std::vector<TableView>>::none("nothing is added to the token embedding, so there is no table");
  return out;
}

Finding<std::vector<RotaryRank>> rotary_rank(Subject const& subject) {
  std::vector<RotaryRank> out;
  for (std::size_t t = 0; t < subject.terms().size(); ++t) {
    Term const& term = subject.terms()[t];
    if (!term.stages.rotate || !subject.acts(t)) continue;
    auto const found = subject.frequencies(t);
    if (found.form.axes > 1 || found.form.phase_gate >= 0) continue;
    std::size_t const pairs = static_cast<std::size_t>(found.form.rotary_dim) / 2;
    for (int h = 0; h < found.rows; ++h) {
      auto const first = found.inv_freq.begin() + static_cast<std::ptrdiff_t>(h * pairs);
      std::vector<double> const w(first, first + static_cast<std::ptrdiff_t>(pairs));
      Stream const stream(subject.seed(), "inspect/positions");
      out.push_back({term.label, term.head_begin + h, static_cast<int>(2 * pairs), rank_of(w, subject.length(), stream),
                     subject.trained() > 1 ? rank_of(w, subject.trained(), stream) : 0});
    }
  }
  if (out.empty())
    return Finding<std::vector<RotaryRank>>::none(
        "no pair turns by the position alone, so there are no phases to rank");
  return out;
}

}  // namespace sextant::inspect
