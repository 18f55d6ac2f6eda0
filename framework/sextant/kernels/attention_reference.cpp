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

template <class T>
struct Row {
  kernels::AttentionInput<T> const& in;
  int b, h, i;
  std::vector<T> logit = std::vector<T>(in.key.extent(2));

  int kv_head() const { return h / (in.query.extent_int(1) / in.key.extent_int(1)); }
  double scale() const { return in.scale != 0 ? in.scale : 1.0 / std::sqrt(static_cast<double>(in.query.extent(3))); }
  kernels::Tile<T> tile() {
    auto const position = [&](View2<double> const& view, int at) {
      return view.size() ? &view(view.extent(0) > 1 ? b : 0, at) : nullptr;
    };
    int const keys = in.key.extent_int(2);
    return {b, h, i, 0, 1, keys, logit.data(), keys, position(in.query_position, i), position(in.key_position, 0)};
  }

  /// Logits with the chain's additions; hidden pairs are -infinity.
  void form() {
    int const query_len = in.query.extent_int(2), keys = in.key.extent_int(2);
    for (int j = 0; j < keys; ++j) {
      double sum = 0;
      for (int d = 0; d < in.query.extent_int(3); ++d)
        sum += static_cast<double>(in.query(b, h, i, d)) * static_cast<double>(in.key(b, kv_head(), j, d));
      logit[j] = static_cast<T>(sum * scale());
    }
    if (keys > 0)
      for (auto const* link : in.modifiers) link->forward(tile());
    for (int j = 0; j < keys; ++j)
      if (!visible(in.mask, b, i, j, query_len, keys)) logit[j] = static_cast<T>(none);
  }
};
}  // namespace

template <class T>
void attention_forward(kernels::AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp) {
  for (int b = 0; b < in.query.extent_int(0); ++b)
    for (int h = 0; h < in.query.extent_int(1); ++h)
      for (int i = 0; i < in.query.extent_int(2); ++i) {
        Row<T> row{in, b, h, i};
        row.form();
        double most = lowest, total = 0;
        for (T x : row.logit) most = std::max(most, static_cast<double>(x));
        std::vector<double> sum(out.extent(3));
        for (int j = 0; j < in.key.extent_int(2); ++j) {
          double const weight = std::exp(static_cast<double>(row.logit[j]) - most);
          if (weight == 0) continue;
          total += weight;
          for (std::size_t d = 0; d < sum.size(); ++d)
            sum[d] += weight * static_cast<double>(in.value(b, row.kv_head(), j, d));
        }
        for (std::size_t d = 0; d < sum.size(); ++d) out(b, h, i, d) = static_cast<T>(total == 0 ? 0 : sum[d] / total);
        log_sum_exp(b, h, i) = static_cast<T>(total == 0 ? none : most + std::log(total));
      }
}

template <class T>
void attention_backward(kernels::AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
                        Heads<T const> const& grad_out, Heads<T> const& grad_query, Heads<T> const& grad_key,
                        Heads<T> const& grad_value, kernels::BranchGradients<T> const& grad_branches) {
  (void)grad_branches;
  int const keys = in.key.extent_int(2), head_dim = in.query.extent_int(3), value_dim = in.value.extent_int(3);
  int const group = in.key.extent_int(1) ? in.query.extent_int(1) / in.key.extent_int(1) : 0;
  for (int b = 0; b < in.query.extent_int(0); ++b)
    for (int kv_head = 0; kv_head < in.key.extent_int(1); ++kv_head) {
      std::vector<double> sum_key(static_cast<std::size_t>(keys) * head_dim);
      std::vector<double> sum_value(static_cast<std::size_t>(keys) * value_dim);
      for (int h = kv_head * group; h < (kv_head + 1) * group; ++h)
        for (int i = 0; i < in.query.extent_int(2); ++i) {
          Row<T> row{in, b, h, i};
          row.form();
          std::vector<T> grad_logit(keys);
          std::vector<double> sum_query(head_dim);
          double dot = 0;
          bool const empty = log_sum_exp(b, h, i) == static_cast<T>(none);
          for (int d = 0; d < value_dim && !empty; ++d)
            dot += static_cast<double>(out(b, h, i, d)) * static_cast<double>(grad_out(b, h, i, d));
          for (int j = 0; j < keys && !empty; ++j) {
            double const weight =
                std::exp(static_cast<double>(row.logit[j]) - static_cast<double>(log_sum_exp(b, h, i)));
            if (weight == 0) continue;
            double grad_weight = 0;
            for (int d = 0; d < value_dim; ++d) {
              grad_weight +=
                  static_cast<double>(grad_out(b, h, i, d)) * static_cast<double>(in.value(b, kv_head, j, d));
              sum_value[static_cast<std::size_t>(j) * value_dim + d] +=
                  weight * static_cast<double>(grad_out(b, h, i, d));
            }
            double const slope = weight * (grad_weight - dot);
            grad_logit[j] = static_cast<T>(slope);
            for (int d = 0; d < head_dim; ++d) {
              sum_query[d] += slope * row.scale() * static_cast<double>(in.key(b, kv_head, j, d));
              sum_key[static_cast<std::size_t>(j) * head_dim + d] +=
                  slope * row.scale() * static_cast<double>(in.query(b, h, i, d));
            }
          }
          if (keys > 0)
            for (auto* link : in.modifiers) link->backward(row.tile(), grad_logit.data(), keys);
          for (int d = 0; d < head_dim; ++d) grad_query(b, h, i, d) = static_cast<T>(sum_query[d]);
        }
      for (int j = 0; j < keys; ++j) {
        for (int d = 0; d < head_dim; ++d)
          grad_key(b, kv_head, j, d) = static_cast<T>(sum_key[static_cast<std::size_t>(j) * head_dim + d]);
        for (int d = 0; d < value_dim; ++d)
          grad_value(b, kv_head, j, d) = static_cast<T>(sum_value[static_cast<std::size_t>(j) * value_dim + d]);
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
