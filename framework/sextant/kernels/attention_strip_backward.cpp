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
    take_keys(memory);
  }

  /// All query heads of kv heads [kv_head, kv_head + kv_heads).
  void run(int b, int kv_head, int kv_heads) {
    clear(b, kv_head, kv_heads);
    for (int k = 0; k < kv_heads; ++k) {
      keys_[static_cast<std::size_t>(k)].open(b, kv_head + k);
      if (packed_) keys_[static_cast<std::size_t>(k)].pack_all();
    }
    open_sums(kv_head, kv_heads);
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    int const at_once = static_cast<int>(group_.heads().size());
    for (int h = kv_head * p_.group(); h < (kv_head + kv_heads) * p_.group(); h += at_once) {
      for (int row = 0; row < p_.query_len; row += group_.most_rows()) {
        if (!group_.form(mask, b, h, row, keys_.data())) continue;
        for (std::size_t k = 0; k < slope_.size(); ++k) slope(group_.heads()[k], slope_[k], b, row);
        group_.backward(slope_, grad_.branches, key_sums_);
      }
      for (int k = 0; k < at_once; ++k)
        group_.heads()[static_cast<std::size_t>(k)].multiply_finish(b, h + k, grad_.branches[0]);
    }
    close_sums(b, kv_head, kv_heads);
  }

 private:
  static constexpr int W = width<T>;

  /// Packed keys, and beside them dense sums of what keys and values receive; else it is added where it belongs.
  void take_keys(Cursor& memory) {
    int const kv_heads = kv_heads_at_once(p_);
    packed_ = packs(p_, kv_heads * 2 * StripKeys<T>::bytes(p_, Pass::backward));
    for (int k = 0; k < kv_heads; ++k) keys_.emplace_back(p_, Pass::backward, packed_, memory);
    auto const sums = [&](int dim) {
      std::ptrdiff_t const row = round_up(dim, W), lane = row * p_.key_len;
      return Rows<T>{packed_ ? memory.take<T>(kv_heads * lane) : nullptr, 0, lane, row};
    };
    for (std::size_t n = 0; n < p_.branches.size(); ++n) key_memory_.push_back(sums(p_.head_dim));
    value_memory_ = sums(p_.value_dim);
  }
  /// Rows at(b, kv_head ...) of the sums.
  void open_sums(int kv_head, int kv_heads) {
    key_sums_.clear();
    auto const open = [&](Rows<T> memory, Rows<T> const& out) {
      if (!packed_) return out;
      std::fill_n(memory.data, kv_heads * memory.head, T(0));
      memory.data -= kv_head * memory.head;
      return memory;
    };
    for (std::size_t n = 0; n < key_memory_.size(); ++n)
      key_sums_.push_back(open(key_memory_[n], grad_.branches[n].key));
    value_sums_ = open(value_memory_, grad_.value);
  }
  void close_sums(int b, int kv_head, int kv_heads) const {
    auto const close = [&](Rows<T> const& sums, Rows<T> const& out, int dim) {
      for (int h = kv_head; h < kv_head + kv_heads; ++h)
        for (int j = 0; j < p_.key_len; ++j) {
          T* const to = out.at(b, h, j);
          T const* const from = sums.at(0, h, j);
          for (int d = 0; d < dim; ++d) to[d] += from[d];
        }
    };
    if (!packed_) return;
    for (std::size_t n = 0; n < key_sums_.size(); ++n) close(key_sums_[n], grad_.branches[n].key, p_.head_dim);
    close(value_sums_, grad_.value, p_.value_dim);
  }

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
    head.fill_unseen(to);
    head.for_seen([&](int begin, int end) {
      head.keys().weights(grad_out_, head.rows(), begin, end, to, head.stride());
      small_tn(head.logit() + begin, head.stride(), end - begin, grad_out_, p_.value_dim, p_.value_dim, head.rows(),
               T(1), value_sums_.at(b, head.kv_head(), begin), value_sums_.row, true);
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
  bool packed_ = false;
  std::vector<StripKeys<T>> keys_;              // of the kv heads at work
  std::vector<Rows<T>> key_memory_, key_sums_;  // a branch each
  Rows<T> value_memory_, value_sums_;
  std::vector<T*> slope_;          // [rows, stride] a head
  T *grad_out_, *dot_, *log_sum_;  // [rows, value_dim], [rows], [rows]
};
}  // namespace

template <class T>
void strip_backward(Problem<T> const& given, Gradients<T> const& g, Workshop const& shop) {
  Cursor counter;
  without_padding(given, counter, shop.run);
  shop.shared->reserve(counter.used());
  Cursor memory(shop.shared->data());
  Problem<T> const p = without_padding(given, memory, shop.run);
  auto workers = crew<StripBackward<T>>(shop, p, g);
  int const kv_heads = kv_heads_at_once(p), lanes = p.kv_heads / kv_heads;
  shop.run("sextant::attention_strips_backward", std::int64_t(p.batch) * lanes, [&](int worker, std::int64_t task) {
    workers[static_cast<std::size_t>(worker)].run(static_cast<int>(task / lanes),
                                                  static_cast<int>(task % lanes) * kv_heads, kv_heads);
  });
}

template void strip_backward(Problem<float> const&, Gradients<float> const&, Workshop const&);
template void strip_backward(Problem<double> const&, Gradients<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
