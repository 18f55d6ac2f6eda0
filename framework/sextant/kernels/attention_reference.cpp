// The definition of attention: plain loops over one row of logits, sums in double.
#include <sextant/kernels/attention_reference_row.hpp>

namespace sextant::reference {
namespace {
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
