// Attention in strips, backward: logits and notes are formed again as in the forward pass, then
//
//   P = exp(S - log_sum_exp)   dP = dO V^T + what links give their weights   dS = P (dP - rowsum(dO O))
//   dV = P^T dO, and dS goes back through the tile modifiers, the links and the products
//
// One task per (batch, kv head), or per batch row when a link goes across heads, takes its query heads and their strips in
// order: every sum has one thread and one order.
#include <sextant/kernels/attention_strip_group.hpp>
#include <sextant/kernels/small_matmul.hpp>

namespace sextant::kernels::host {
namespace {
template <class T>
class StripBackward {
 public:
  StripBackward(Problem<T> const& p, Gradients<T> const& g, Cursor& memory) : p_(p), grad_(g), group_(p, memory) {
    int const rows = group_.most_rows();
    for (auto const& head : group_.heads()) slope_.push_back(memory.take<T>(rows * head.stride()));
    grad_out_ = memory.take<T>(std::int64_t(rows) * p.value_dim);
    dot_ = memory.take<T>(rows);
    log_sum_ = memory.take<T>(rows);
  }

  /// All query heads of kv heads [kv_head, kv_head + kv_heads).
  void run(int b, int kv_head, int kv_heads) {
    clear(b, kv_head, kv_heads);
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    int const at_once = static_cast<int>(group_.heads().size());
    for (int h = kv_head * p_.group(); h < (kv_head + kv_heads) * p_.group(); h += at_once) {
      for (int row = 0; row < p_.query_len; row += group_.most_rows()) {
        if (!group_.form(mask, b, h, row)) continue;
        for (std::size_t k = 0; k < slope_.size(); ++k) slope(group_.heads()[k], slope_[k], b, row);
        group_.backward(slope_, grad_.branches);
      }
      for (int k = 0; k < at_once; ++k)
        group_.heads()[static_cast<std::size_t>(k)].multiply_finish(b, h + k, grad_.branches[0]);
    }
  }

 private:
  static constexpr int W = width<T>;

  void clear(int b, int kv_head, int kv_heads) const {
    auto const zero = [&](Rows<T> const& x, int head, int heads, int length, int dim) {
      for (int h = head; h < head + heads; ++h)
        for (int i = 0; i < length; ++i) std::fill_n(x.at(b, h, i), dim, T(0));
    };
    for (auto const& branch : grad_.branches) {
      zero(branch.query, kv_head * p_.group(), kv_heads * p_.group(), p_.query_len, p_.head_dim);
      zero(branch.key, kv_head, kv_heads, p_.key_len, p_.head_dim);
    }
    zero(grad_.value, kv_head, kv_heads, p_.key_len, p_.value_dim);
  }

  /// dS of one head, and what its values receive.
  void slope(HeadStrip<T>& head, T* const to, int b, int row) {
    start(head, b, row);
    weights(head);
    T const* const value = p_.value.at(b, head.kv_head(), 0);
    T* const grad_value = grad_.value.at(b, head.kv_head(), 0);
    head.fill_unseen(to);
    head.for_seen([&](int begin, int end) {
      small_nt(grad_out_, p_.value_dim, head.rows(), value + begin * p_.value.row, p_.value.row, end - begin,
               p_.value_dim, T(1), to + begin, head.stride());
      small_tn(head.logit() + begin, head.stride(), end - begin, grad_out_, p_.value_dim, p_.value_dim, head.rows(),
               T(1), grad_value + begin * grad_.value.row, grad_.value.row, true);
      for (int r = 0; r < head.rows(); ++r)  // the chunk's columns past the last key
        std::fill(to + r * head.stride() + end, to + r * head.stride() + round_up(end, W), T(0));
    });
    for (int n = 0; n < static_cast<int>(p_.links.size()); ++n)
      if (auto* link = p_.links[static_cast<std::size_t>(n)]; link->adds_to_values())
        link->values_backward(head.strip(n), grad_out_, p_.value_dim, p_.value_dim, to);
    for (int r = 0; r < head.rows(); ++r) {
      T const* const weight = head.logit() + r * head.stride();
      T* const x = to + r * head.stride();
      head.for_seen([&](int begin, int end) {
        for (int j = begin; j < end; j += W) store(x + j, load(weight + j) * (load(x + j) - dot_[r]));
      });
    }
    head.fill_unseen(to);
  }

  /// dO with zeros in rows that saw nothing, rowsum(dO O) and log-sum-exp in log2 units.
  void start(HeadStrip<T> const& head, int b, int row) {
    T const* const log_sum_exp = p_.log_sum_exp_at(b, head.head()) + row;
    for (int r = 0; r < head.rows(); ++r) {
      T* const to = grad_out_ + std::int64_t(r) * p_.value_dim;
      dot_[r] = 0;
      if (log_sum_exp[r] == -std::numeric_limits<T>::infinity()) {
        std::fill_n(to, p_.value_dim, T(0));
        log_sum_[r] = std::numeric_limits<T>::infinity();  // 2^(x - infinity) = 0
        continue;
      }
      T const* const out = grad_.out.at(b, head.head(), row + r);
      std::copy_n(grad_.grad_out.at(b, head.head(), row + r), p_.value_dim, to);
      Vec<T> dot{};
      for (int d = 0; d < p_.value_dim; d += W)
        dot += load_part(to + d, p_.value_dim - d) * load_part(out + d, p_.value_dim - d);
      dot_[r] = sum<T>(dot);
      log_sum_[r] = log_sum_exp[r] * T(log2_e);
    }
  }

  void weights(HeadStrip<T>& head) {
    for (int r = 0; r < head.rows(); ++r) {
      T* const x = head.logit() + r * head.stride();
      head.for_seen([&](int begin, int end) {
        for (int j = begin; j < end; j += W) store(x + j, exp2<T>(load(x + j) * T(log2_e) - log_sum_[r]));
      });
    }
    head.fill_unseen(head.logit());
  }

  Problem<T> const& p_;
  Gradients<T> grad_;
  StripGroup<T> group_;
  std::vector<T*> slope_;          // [rows, stride] a head
  T *grad_out_, *dot_, *log_sum_;  // [rows, value_dim], [rows], [rows]
};
}  // namespace

template <class T>
void strip_backward(Problem<T> const& given, Gradients<T> const& g, Workshop const& shop) {
  Problem<T> const p = without_padding(given, shop);
  auto workers = crew<StripBackward<T>>(shop, p, g);
  int const kv_heads = heads_at_once(p) == 1 ? 1 : p.kv_heads, lanes = p.kv_heads / kv_heads;
  shop.run("sextant::attention_strips_backward", std::int64_t(p.batch) * lanes, [&](int worker, std::int64_t task) {
    workers[static_cast<std::size_t>(worker)].run(static_cast<int>(task / lanes),
                                                  static_cast<int>(task % lanes) * kv_heads, kv_heads);
  });
}

template void strip_backward(Problem<float> const&, Gradients<float> const&, Workshop const&);
template void strip_backward(Problem<double> const&, Gradients<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
