// Attention in strips, forward: the logits of a few rows against all their keys, softmax over whole rows, P V.
#include <sextant/kernels/attention_strip_group.hpp>
#include <sextant/kernels/small_matmul.hpp>

#include <cmath>

namespace sextant::kernels::host {
namespace {
template <class T>
class StripForward {
 public:
  StripForward(Problem<T> const& p, Rows<T> const& out, Cursor& memory) : p_(p), out_(out), group_(p, memory) {
    inverse_ = memory.take<T>(group_.most_rows());
    sum_ = memory.take<T>(std::int64_t(group_.most_rows()) * p.value_dim);
  }

  int most_rows() const { return group_.most_rows(); }

  void run(int b, int h, int row) {
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    bool const some = group_.form(mask, b, h, row);
    for (auto& head : group_.heads()) {
      std::fill_n(inverse_, head.rows(), T(0));
      std::fill_n(sum_, std::int64_t(head.rows()) * p_.value_dim, T(0));
      T* const log_sum_exp = p_.log_sum_exp_at(b, head.head()) + row;
      std::fill_n(log_sum_exp, head.rows(), -std::numeric_limits<T>::infinity());
      if (some) {
        weights(head, log_sum_exp);
        values(head, b);
      }
      for (int r = 0; r < head.rows(); ++r) {
        T* const to = out_.at(b, head.head(), row + r);
        T const* const from = sum_ + std::int64_t(r) * p_.value_dim;
        for (int d = 0; d < p_.value_dim; ++d) to[d] = from[d] * inverse_[r];
      }
    }
  }

 private:
  static constexpr int W = width<T>;

  void weights(HeadStrip<T>& head, T* log_sum_exp) {
    for (int r = 0; r < head.rows(); ++r) {
      T* const x = head.logit() + r * head.stride();
      Vec<T> top = broadcast(T(hidden_below)), total{};
      head.for_seen([&](int begin, int end) {
        for (int j = begin; j < end; j += W) top = simd::max(top, load(x + j));
      });
      T const most = largest<T>(top) * T(log2_e);
      head.for_seen([&](int begin, int end) {
        for (int j = begin; j < end; j += W) {
          Vec<T> const weight = exp2<T>(load(x + j) * T(log2_e) - most);
          store(x + j, weight);
          total += weight;
        }
      });
      T const all = sum<T>(total);
      if (all == T(0)) continue;
      inverse_[r] = T(1) / all;
      log_sum_exp[r] = most * T(ln_2) + std::log(all);
    }
  }

  void values(HeadStrip<T>& head, int b) {
    bool more = false;
    for (auto const* link : p_.links) more = more || link->adds_to_values();
    if (more) normalise(head);
    T const* const value = p_.value.at(b, head.kv_head(), 0);
    head.for_seen([&](int begin, int end) {
      small_nn(head.logit() + begin, head.stride(), head.rows(), value + begin * p_.value.row, p_.value.row,
               p_.value_dim, end - begin, T(1), sum_, p_.value_dim, true);
    });
    for (int n = 0; n < static_cast<int>(p_.links.size()); ++n)
      if (auto const* link = p_.links[static_cast<std::size_t>(n)]; link->adds_to_values())
        link->values(head.strip(n), sum_, p_.value_dim, p_.value_dim);
  }

  /// Weights to rows that sum to 1, with zeros where nothing is seen.
  void normalise(HeadStrip<T>& head) {
    head.fill_unseen(head.logit());
    for (int r = 0; r < head.rows(); ++r) {
      T* const x = head.logit() + r * head.stride();
      head.for_seen([&](int begin, int end) {
        for (int j = begin; j < end; j += W) store(x + j, load(x + j) * inverse_[r]);
      });
      inverse_[r] = T(1);
    }
  }

  Problem<T> const& p_;
  Rows<T> out_;
  StripGroup<T> group_;
  T *inverse_, *sum_;  // [rows]: 1 / sum of weights, what remains to multiply; [rows, value_dim]
};
}  // namespace

template <class T>
void strip_forward(Problem<T> const& given, Rows<T> const& out, Workshop const& shop) {
  Problem<T> const p = without_padding(given, shop);
  auto workers = crew<StripForward<T>>(shop, p, out);
  int const rows = workers[0].most_rows(), blocks = (p.query_len + rows - 1) / rows, at_once = heads_at_once(p);
  std::int64_t const lanes = std::int64_t(p.batch) * p.heads / at_once;
  shop.run("sextant::attention_strips", lanes * blocks, [&](int worker, std::int64_t task) {
    std::int64_t const head = task % lanes * at_once;
    int const row = (blocks - 1 - static_cast<int>(task / lanes)) * rows;  // the long rows first
    workers[static_cast<std::size_t>(worker)].run(static_cast<int>(head / p.heads), static_cast<int>(head % p.heads),
                                                  row);
  });
}

template void strip_forward(Problem<float> const&, Rows<float> const&, Workshop const&);
template void strip_forward(Problem<double> const&, Rows<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
