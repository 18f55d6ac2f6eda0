// The definition of attention: plain loops over one row of logits, sums in double.
#include <sextant/kernels/attention.hpp>

#include <cmath>
#include <limits>

namespace sextant::reference {
namespace {
constexpr double none = -std::numeric_limits<double>::infinity();
constexpr double lowest = -1e8;  // a row whose logits are all far below this sees nothing

bool visible(kernels::Mask const& mask, int b, int i, int j, int query_len, int key_len) {
  long const own = static_cast<long>(i) + key_len - query_len;
  if (mask.causal && j > own) return false;
  if (mask.window > 0 && std::abs(own - j) >= mask.window) return false;
  if (mask.key_document.size() == 0) return true;
  int const document = mask.query_document(b, i);
  return document >= 0 && document == mask.key_document(b, j);
}

/// What one row of one query head is made of. Links see it as a strip of one row.
template <class T>
struct Row {
  kernels::AttentionInput<T> const& in;
  int b, h, i;
  int keys = in.key.extent_int(2), dim = in.query.extent_int(3);
  std::vector<T> logit = std::vector<T>(keys), query = {}, key = {}, notes = {};
  std::vector<signed char> branch = std::vector<signed char>(keys);  // or BranchRule::hidden

  int kv_head() const { return h / (in.query.extent_int(1) / in.key.extent_int(1)); }
  double scale() const { return in.scale != 0 ? in.scale : 1.0 / std::sqrt(static_cast<double>(dim)); }
  double const* position(View2<double> const& view, int at) const {
    return view.size() ? &view(view.extent(0) > 1 ? b : 0, at) : nullptr;
  }
  kernels::Tile<T> tile() {
    return {b, h, i, 0, 1, keys, logit.data(), keys, position(in.query_position, i), position(in.key_position, 0)};
  }
  kernels::Strip<T> strip(std::size_t n) {
    std::size_t at = 0, all = 0;
    for (std::size_t k = 0; k < in.rows.size(); ++k) (k < n ? at : all) += in.rows[k]->notes();
    notes.resize((at + all) * keys);
    return {b,
            h,
            i,
            1,
            keys,
            logit.data(),
            keys,
            position(in.query_position, i),
            position(in.key_position, 0),
            notes.data() + at * keys,
            keys};
  }
  Heads<T const> const& queries(int n) const { return n == 0 ? in.query : in.more_query[n - 1]; }
  Heads<T const> const& all_keys(int n) const { return n == 0 ? in.key : in.more_key[n - 1]; }
  bool padding(int j) const { return in.mask.key_document.size() > 0 && in.mask.key_document(b, j) < 0; }
  bool own_padding() const { return in.mask.query_document.size() > 0 && in.mask.query_document(b, i) < 0; }
  kernels::Operands<T> operands() {
    if (query.empty()) {
      query.resize(dim), key.resize(static_cast<std::size_t>(keys) * dim);
      for (int d = 0; d < dim && !own_padding(); ++d) query[d] = in.query(b, h, i, d);
      for (int j = 0; j < keys; ++j)
        for (int d = 0; d < dim && !padding(j); ++d)
          key[static_cast<std::size_t>(j) * dim + d] = in.key(b, kv_head(), j, d);
    }
    return {query.data(), key.data(), dim, dim, dim, static_cast<T>(scale())};
  }
  kernels::RowLink<T>* multiplier(std::size_t& n) const {
    for (n = 0; n < in.rows.size(); ++n)
      if (in.rows[n]->multiplies(h)) return in.rows[n];
    return nullptr;
  }

  void hide() {
    int const query_len = in.query.extent_int(2);
    for (int j = 0; j < keys; ++j)
      if (branch[j] == kernels::BranchRule::hidden || !visible(in.mask, b, i, j, query_len, keys))
        logit[j] = static_cast<T>(none);
  }
  /// Logits before the links; hidden pairs are -infinity.
  void form() {
    if (in.branch_rule && keys > 0)
      in.branch_rule->select(h, position(in.query_position, i), 1, position(in.key_position, 0), keys, branch.data());
    std::size_t n;
    if (auto const* link = multiplier(n); link && keys > 0)
      link->multiply(strip(n), operands());
    else
      for (int j = 0; j < keys; ++j) {
        if (branch[j] == kernels::BranchRule::hidden) continue;
        double sum = 0;
        for (int d = 0; d < dim; ++d)
          sum += static_cast<double>(queries(branch[j])(b, h, i, d)) *
                 static_cast<double>(all_keys(branch[j])(b, kv_head(), j, d));
        logit[j] = static_cast<T>(sum * scale());
      }
    if (!in.rows.empty()) hide();
  }
  /// The chain of tile modifiers, and what is hidden.
  void modify() {
    if (keys > 0)
      for (auto const* link : in.modifiers) link->forward(tile());
    hide();
  }
};

/// One row of the heads that are worked on at once: one, or all of a batch row when a link goes across them.
template <class T>
struct Rows {
  kernels::AttentionInput<T> const& in;
  std::vector<Row<T>> row;

  static int at_once(kernels::AttentionInput<T> const& in) {
    for (auto const* link : in.rows)
      if (link->across_heads()) return in.query.extent_int(1);
    return 1;
  }
  Rows(kernels::AttentionInput<T> const& input, int b, int h, int i) : in(input) {
    for (int k = 0; k < at_once(in); ++k) row.push_back(Row<T>{in, b, h + k, i});
    for (auto& each : row) each.form();
    for (std::size_t n = 0; n < in.rows.size() && row[0].keys > 0; ++n) {
      auto [strips, operands] = see(n);
      if (in.rows[n]->across_heads())
        in.rows[n]->forward_heads(strips, operands);
      else
        for (std::size_t k = 0; k < row.size(); ++k) in.rows[n]->forward(strips[k], operands[k]);
    }
    for (auto& each : row) each.modify();
  }
  std::pair<std::vector<kernels::Strip<T>>, std::vector<kernels::Operands<T>>> see(std::size_t n) {
    std::pair<std::vector<kernels::Strip<T>>, std::vector<kernels::Operands<T>>> all;
    for (auto& each : row) all.first.push_back(each.strip(n)), all.second.push_back(each.operands());
    return all;
  }
  /// grad: d loss / d final logit on entry, before the links on return.
  void backward(std::vector<std::vector<T>>& grad, std::vector<kernels::OperandGradients<T>> const& out) {
    std::vector<T*> slopes;
    for (auto& each : grad) slopes.push_back(each.data());
    for (std::size_t k = 0; k < row.size(); ++k)
      for (auto* link : in.modifiers) link->backward(row[k].tile(), slopes[k], row[k].keys);
    for (std::size_t n = in.rows.size(); n-- > 0;) {
      auto [strips, operands] = see(n);
      if (in.rows[n]->across_heads())
        in.rows[n]->backward_heads(strips, operands, slopes, out);
      else
        for (std::size_t k = 0; k < row.size(); ++k) in.rows[n]->backward(strips[k], operands[k], slopes[k], out[k]);
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::size_t n;
      if (auto* link = row[k].multiplier(n))
        link->multiply_backward(row[k].strip(n), row[k].operands(), slopes[k], out[k]);
    }
  }
};

template <class T>
void forward_row(Row<T>& row, Heads<T> const& out, View3<T> const& log_sum_exp) {
  auto const& in = row.in;
  int const b = row.b, h = row.h, i = row.i, value_dim = out.extent_int(3);
  double most = lowest, total = 0;
  for (T x : row.logit) most = std::max(most, static_cast<double>(x));
  std::vector<double> sum(value_dim);
  std::vector<T> weights(row.keys), more(value_dim);
  for (int j = 0; j < row.keys; ++j) total += std::exp(static_cast<double>(row.logit[j]) - most);
  for (int j = 0; j < row.keys; ++j) {
    double const weight = std::exp(static_cast<double>(row.logit[j]) - most);
    if (weight == 0) continue;
    weights[j] = static_cast<T>(weight / total);
    for (int d = 0; d < value_dim; ++d) sum[d] += weight * static_cast<double>(in.value(b, row.kv_head(), j, d));
  }
  row.logit = weights;
  for (std::size_t n = 0; n < in.rows.size(); ++n)
    if (in.rows[n]->adds_to_values() && row.keys > 0)
      in.rows[n]->values(row.strip(n), more.data(), value_dim, value_dim);
  for (int d = 0; d < value_dim; ++d)
    out(b, h, i, d) = static_cast<T>((total == 0 ? 0 : sum[d] / total) + static_cast<double>(more[d]));
  log_sum_exp(b, h, i) = static_cast<T>(total == 0 ? none : most + std::log(total));
}

/// Sums over the rows of a batch row in double; what links add is collected in T, row by row.
template <class T>
struct Sums {
  std::size_t size;
  std::vector<double> sum;
  std::vector<T> given;
  explicit Sums(std::size_t n) : size(n), sum(n) {}
  T* open() { return given.assign(size, T(0)), given.data(); }
  void close() {
    for (std::size_t n = 0; n < given.size(); ++n) sum[n] += static_cast<double>(given[n]);
    given.clear();
  }
};

/// One batch row's backward.
template <class T>
class BatchBackward {
 public:
  BatchBackward(kernels::AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
                Heads<T const> const& grad_out, int b)
      : in_(in), out_(out), log_sum_exp_(log_sum_exp), grad_out_(grad_out), b_(b) {
    auto const size = [](auto const& x) { return x.extent(1) * x.extent(2) * x.extent(3); };
    for (std::size_t n = 0; n <= in.more_query.size(); ++n) {
      query.emplace_back(size(in.query));
      key.emplace_back(size(in.key));
    }
    value.resize(size(in.value));
    for (int h = 0; h < in.query.extent_int(1); h += Rows<T>::at_once(in))
      for (int i = 0; i < in.query.extent_int(2); ++i) row(h, i);
    for (int h = 0; h < in.query.extent_int(1) && in.query.extent(2) > 0; ++h) finish(h);
  }
  std::vector<Sums<T>> query, key;  // a branch each
  std::vector<double> value;

 private:
  std::size_t query_at(int h, int i) const { return (h * in_.query.extent(2) + i) * in_.query.extent(3); }
  std::size_t key_at(int h, int j) const { return (h * in_.key.extent(2) + j) * in_.key.extent(3); }

  void row(int h, int i) {
    Rows<T> rows(in_, b_, h, i);
    std::vector<std::vector<T>> slopes;
    for (auto& each : rows.row) slopes.push_back(slope(each));
    if (in_.key.extent(2) == 0) return;
    std::vector<kernels::OperandGradients<T>> gradients;
    if (!in_.rows.empty()) {
      T *const to_query = query[0].open(), *const to_key = key[0].open();
      std::ptrdiff_t const dim = in_.query.extent_int(3);
      for (auto const& each : rows.row)
        gradients.push_back({to_query + query_at(each.h, i), to_key + key_at(each.kv_head(), 0), dim, dim});
    }
    rows.backward(slopes, gradients);
    query[0].close(), key[0].close();
    for (std::size_t k = 0; k < slopes.size(); ++k) product(rows.row[k], slopes[k]);
  }

  void finish(int h) {
    Row<T> row{in_, b_, h, 0};
    std::size_t unused;
    auto* const link = row.multiplier(unused);
    if (!link) return;
    std::ptrdiff_t const dim = row.dim;
    T *const to_query = query[0].open(), *const to_key = key[0].open();
    link->multiply_finish(b_, h, row.operands(),
                          {to_query + query_at(h, 0), to_key + key_at(row.kv_head(), 0), dim, dim});
    query[0].close(), key[0].close();
  }

  /// d loss / d final logit; adds to the values' gradient.
  std::vector<T> slope(Row<T>& row) {
    int const value_dim = in_.value.extent_int(3), i = row.i, h = row.h;
    std::vector<T> slopes(row.keys), more(row.keys), given(value_dim);
    if (log_sum_exp_(b_, h, i) == static_cast<T>(none)) return slopes;
    double dot = 0;
    for (int d = 0; d < value_dim; ++d) {
      given[d] = grad_out_(b_, h, i, d);
      dot += static_cast<double>(out_(b_, h, i, d)) * static_cast<double>(given[d]);
    }
    std::vector<double> weight(row.keys);
    for (int j = 0; j < row.keys; ++j) {
      weight[j] = std::exp(static_cast<double>(row.logit[j]) - static_cast<double>(log_sum_exp_(b_, h, i)));
      row.logit[j] = static_cast<T>(weight[j]);
    }
    for (std::size_t n = 0; n < in_.rows.size(); ++n)
      if (in_.rows[n]->adds_to_values())
        in_.rows[n]->values_backward(row.strip(n), given.data(), value_dim, value_dim, more.data());
    for (int j = 0; j < row.keys; ++j) {
      if (weight[j] == 0) continue;
      double grad_weight = static_cast<double>(more[j]);
      double* const to = value.data() + (row.kv_head() * in_.value.extent(2) + j) * value_dim;
      for (int d = 0; d < value_dim; ++d) {
        double const g = static_cast<double>(given[d]);
        grad_weight += g * static_cast<double>(in_.value(b_, row.kv_head(), j, d));
        to[d] += weight[j] * g;
      }
      slopes[j] = static_cast<T>(weight[j] * (grad_weight - dot));
    }
    return slopes;
  }

  void product(Row<T> const& row, std::vector<T> const& slopes) {
    std::size_t unused;
    if (row.multiplier(unused)) return;
    for (int j = 0; j < row.keys; ++j) {
      if (slopes[j] == T(0)) continue;
      int const n = row.branch[j];
      double const x = static_cast<double>(slopes[j]) * row.scale();
      double* const to_query = query[n].sum.data() + query_at(row.h, row.i);
      double* const to_key = key[n].sum.data() + key_at(row.kv_head(), j);
      for (int d = 0; d < row.dim; ++d) {
        to_query[d] += x * static_cast<double>(row.all_keys(n)(b_, row.kv_head(), j, d));
        to_key[d] += x * static_cast<double>(row.queries(n)(b_, row.h, row.i, d));
      }
    }
  }

  kernels::AttentionInput<T> const& in_;
  Heads<T const> const& out_;
  View3<T> const& log_sum_exp_;
  Heads<T const> const& grad_out_;
  int b_;
};

template <class T>
void write(Heads<T> const& to, int b, std::vector<double> const& from) {
  std::size_t n = 0;
  for (std::size_t h = 0; h < to.extent(1); ++h)
    for (std::size_t i = 0; i < to.extent(2); ++i)
      for (std::size_t d = 0; d < to.extent(3); ++d) to(b, h, i, d) = static_cast<T>(from[n++]);
}
}  // namespace

template <class T>
void attention_forward(kernels::AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp) {
  for (int b = 0; b < in.query.extent_int(0); ++b)
    for (int h = 0; h < in.query.extent_int(1); h += Rows<T>::at_once(in))
      for (int i = 0; i < in.query.extent_int(2); ++i) {
        Rows<T> rows(in, b, h, i);
        for (auto& row : rows.row) forward_row(row, out, log_sum_exp);
      }
}

template <class T>
void attention_backward(kernels::AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
                        Heads<T const> const& grad_out, Heads<T> const& grad_query, Heads<T> const& grad_key,
                        Heads<T> const& grad_value, kernels::BranchGradients<T> const& grad_branches) {
  for (int b = 0; b < in.query.extent_int(0); ++b) {
    BatchBackward<T> const sums(in, out, log_sum_exp, grad_out, b);
    write(grad_value, b, sums.value);
    for (std::size_t n = 0; n < sums.query.size(); ++n) {
      write(n == 0 ? grad_query : grad_branches.query[n - 1], b, sums.query[n].sum);
      write(n == 0 ? grad_key : grad_branches.key[n - 1], b, sums.key[n].sum);
    }
  }
}

#define SEXTANT_INSTANTIATE(T)                                                                                \
  template void attention_forward(kernels::AttentionInput<T> const&, Heads<T> const&, View3<T> const&);       \
  template void attention_backward(kernels::AttentionInput<T> const&, Heads<T const> const&, View3<T> const&, \
                                   Heads<T const> const&, Heads<T> const&, Heads<T> const&, Heads<T> const&,  \
                                   kernels::BranchGradients<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::reference
