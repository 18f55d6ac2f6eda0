// Attention in strips, forward: the logits of a few rows against all their keys, softmax over whole rows, P V.
#include <sextant/kernels/attention_strip_group.hpp>

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

  void run(int b, int h, int row, StripKeys<T> const* keys) {
    MaskRow const mask(p_.mask, b, p_.query_len, p_.key_len);
    bool const some = group_.form(mask, b, h, row, keys);
    for (auto& head : group_.heads()) {
      std::fill_n(inverse_, head.rows(), T(0));
      std::fill_n(sum_, std::int64_t(head.rows()) * p_.value_dim, T(0));
      T* const log_sum_exp = p_.log_sum_exp_at(b, head.head()) + row;
      std::fill_n(log_sum_exp, head.rows(), -std::numeric_limits<T>::infinity());
      if (some) {
        weights(head, log_sum_exp);
        values(head);
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

  void values(HeadStrip<T>& head) {
    bool more = false;
    for (auto const* link : p_.links) more = more || link->adds_to_values();
    if (more) normalise(head);
    head.for_seen([&](int begin, int end) {
      head.keys().add_values(head.logit(), head.stride(), head.rows(), begin, end, sum_);
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

/// Packed keys of as many units (what is worked on at once) as fit in here, and of at least one.
inline constexpr std::size_t wave_bytes = 16 << 20;

template <class T>
class Waves {
 public:
  Waves(Problem<T> const& given, Workshop const& shop)
      : shop_(shop),
        kv_heads_(kv_heads_at_once(given)),
        units_(std::int64_t(given.batch) * given.kv_heads / kv_heads_) {
    std::size_t const unit = kv_heads_ * StripKeys<T>::bytes(given, Pass::forward);
    packed_ = packs(given, unit);
    std::int64_t const fit = static_cast<std::int64_t>(wave_bytes / std::max<std::size_t>(unit, 1));
    wave_ = packed_ ? std::clamp<std::int64_t>(fit, 1, units_) : units_;
    Cursor counter;
    without_padding(given, counter, shop.run);
    shop.shared->reserve(counter.used() + (packed_ ? static_cast<std::size_t>(wave_) * unit : 0));
    Cursor memory(shop.shared->data());
    p_ = without_padding(given, memory, shop.run);
    for (std::int64_t n = 0; n < wave_ * kv_heads_; ++n) keys_.emplace_back(p_, Pass::forward, packed_, memory);
  }
  Problem<T> const& problem() const { return p_; }

  void run(std::vector<StripForward<T>>& workers) {
    int const rows = workers[0].most_rows(), blocks = blocks_of(p_.query_len, rows);
    int const lanes = p_.group() * kv_heads_ / heads_at_once(p_);  // of a unit
    for (std::int64_t first = 0; first < units_; first += wave_) {
      std::int64_t const count = std::min(wave_, units_ - first);
      open(first, count);
      shop_.run("sextant::attention_strips", count * lanes * blocks, [&](int worker, std::int64_t task) {
        std::int64_t const lane = task % (count * lanes), unit = lane / lanes;
        int const row = (blocks - 1 - static_cast<int>(task / (count * lanes))) * rows;  // the long rows first
        std::int64_t const head = (first + unit) * kv_heads_ * p_.group() + lane % lanes;
        workers[static_cast<std::size_t>(worker)].run(static_cast<int>(head / p_.heads),
                                                      static_cast<int>(head % p_.heads), row,
                                                      &keys_[static_cast<std::size_t>(unit * kv_heads_)]);
      });
    }
  }

 private:
  void open(std::int64_t first, std::int64_t count) {
    for (std::int64_t n = 0; n < count * kv_heads_; ++n) {
      std::int64_t const kv_head = first * kv_heads_ + n;
      keys_[static_cast<std::size_t>(n)].open(static_cast<int>(kv_head / p_.kv_heads),
                                              static_cast<int>(kv_head % p_.kv_heads));
    }
    if (!packed_) return;
    int const pieces = (p_.key_len + StripKeys<T>::piece - 1) / StripKeys<T>::piece;
    shop_.run("sextant::attention_pack", count * kv_heads_ * pieces, [&](int, std::int64_t task) {
      keys_[static_cast<std::size_t>(task / pieces)].pack(static_cast<int>(task % pieces) * StripKeys<T>::piece);
    });
  }

  Workshop const& shop_;
  int kv_heads_;
  std::int64_t units_, wave_ = 1;
  bool packed_ = false;
  Problem<T> p_;
  std::vector<StripKeys<T>> keys_;
};
}  // namespace

template <class T>
void strip_forward(Problem<T> const& given, Rows<T> const& out, Workshop const& shop) {
  Waves<T> waves(given, shop);
  auto workers = crew<StripForward<T>>(shop, waves.problem(), out);
  waves.run(workers);
}

template void strip_forward(Problem<float> const&, Rows<float> const&, Workshop const&);
template void strip_forward(Problem<double> const&, Rows<double> const&, Workshop const&);

}  // namespace sextant::kernels::host
