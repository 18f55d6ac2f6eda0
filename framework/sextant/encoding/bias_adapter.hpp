// Carries a plugin's bias formula into attention tiles: tabulated over offsets when it depends on nothing else,
// inlined over the tile otherwise. Instantiated inside the plugin.
#pragma once
#include <sextant/encoding/encoding.hpp>
#include <sextant/encoding/weights.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace sextant::encoding {

template <class P>
inline constexpr int gate_count_of = [] {
  if constexpr (requires { P::gate_count; })
    return P::gate_count;
  else
    return 0;
}();
template <class P>
inline constexpr bool is_relative = [] {
  if constexpr (requires { P::relative; })
    return P::relative;
  else
    return false;
}();
/// Scalars of Weights<T> that bias() itself reads; plugins whose weights only feed gates say so.
template <class P>
inline constexpr int bias_weight_count = [] {
  if constexpr (requires { P::bias_reads_weights; })
    return P::bias_reads_weights ? fixed_weight_count<P> : 0;
  else
    return fixed_weight_count<P>;
}();
/// Plugins with many weights may differentiate their formula themselves, one backward pass a pair where forward mode takes
/// one for every few weights: bias_gradient(weights, site, g, out) adds g d bias / d weight to out[count].
template <class P>
concept HasBiasGradient = requires(P const p, Site<double> s, double const* w, double* out) {
  p.bias_gradient(w, s, 1.0, out);
};
/// A bias that is a function of the offset alone is tabulated once per head: 2 L - 1 numbers, never L x L.
template <class P>
inline constexpr bool is_tabulated = is_relative<P>&& gate_count_of<P> == 0;

template <class P, class T>
class BiasAdapter final : public Bias<T> {
  static constexpr int gates = gate_count_of<P>;

 public:
  using Inputs = typename Bias<T>::Inputs;

  BiasAdapter(P const& plugin, int weight_count, bool trains, std::vector<GateSpec> specs)
      : plugin_(plugin), count_(weight_count), trains_(trains), specs_(std::move(specs)) {}

  void prepare(Exec const& exec, Inputs const& in) override {
    in_ = in;
    if (shared_by_heads())
      count_ = static_cast<int>(in.weights.size());  // of all heads, of which a composite's part may be some
    else
      own_weights_ = count_ > 0;
    if constexpr (is_tabulated<P>) tabulate(exec);
    numbers_.clear();
    for (int h = 0; !tabulated_ && h < (own_weights_ ? in.heads : 1); ++h)
      numbers_.emplace_back(count_, weights_of(static_cast<std::size_t>(h)));
    if (in.want_gradient) {
      std::size_t const rows = static_cast<std::size_t>(in.batch) * in.heads;
      table_gradient_.assign(tabulated_ && trains_ ? rows * table_width_ : 0, T(0));
      pair_gradient_.assign(tabulated_ || !trains_ ? 0 : rows * weights_read(), 0.0);
    }
  }

  kernels::Visible visible(int batch, int row, int rows, int col, int cols) const override {
    if constexpr (is_tabulated<P>) return visible_by_offset(batch, row, rows, col, cols);
    return kernels::Visible::all;
  }

  void gradient_rows(std::vector<GateRows> query, std::vector<GateRows> key) override {
    query_gradient_ = std::move(query);
    key_gradient_ = std::move(key);
  }

  void forward(kernels::Tile<T> const& tile) const override {
    if (!covers(tile.head)) return;
    if (tabulated_) {
      T const* table = table_.data() + head_of(tile) * table_width_;
      over_offsets(tile, [&](int r, int c, std::ptrdiff_t at) { tile.logit[r * tile.stride + c] += table[at]; });
    } else {
      auto const& weights = numbers_[own_weights_ ? head_of(tile) : 0];
      TileGates const from = gates_of(tile);
      for (int r = 0; r < tile.rows; ++r) {
        T* const logit = tile.logit + std::ptrdiff_t(r) * tile.stride;
        over_row<T>(tile, r, 0, tile.cols, from, weights, [&](int c, T const& bias) { logit[c] += bias; });
      }
    }
  }

  void backward(kernels::Tile<T> const& tile, T const* grad, int stride) override {
    if (!covers(tile.head)) return;
    std::size_t const row = static_cast<std::size_t>(tile.batch) * in_.heads + head_of(tile);
    if (tabulated_) {
      if (!trains_) return;
      T* table = table_gradient_.data() + row * table_width_;
      over_offsets(tile, [&](int r, int c, std::ptrdiff_t at) { table[at] += grad[r * stride + c]; });
    } else if constexpr (has_weight_array<P>) {
      if (trains_) array_backward(tile, grad, stride, row);
    } else if constexpr (gates > 0 || bias_weight_count<P> > 0) {
      pair_backward(tile, grad, stride, row);
    }
  }

  kernels::OffsetTable<T> table() override {
    if (!tabulated_) return {};
    bool const graded = in_.want_gradient && trains_;
    return {table_.data(), graded ? table_gradient_.data() : nullptr, in_.head_begin,
            in_.heads,     static_cast<std::int64_t>(table_width_),   -table_most_};
  }

  void finish(double* weight_gradient) override {
    if (!trains_ || count_ == 0) return;
    for (int h = 0; h < in_.heads; ++h) {
      double* out = weight_gradient + (own_weights_ ? static_cast<std::size_t>(h) * count_ : 0);
      if (tabulated_) {
        if constexpr (is_tabulated<P>) finish_table(h, out);
      } else {
        int const read = weights_read();
        for (int b = 0; b < in_.batch; ++b)
          for (int n = 0; n < read; ++n)
            out[n] += pair_gradient_[(static_cast<std::size_t>(b) * in_.heads + h) * read + n];
      }
    }
  }

  std::size_t bytes() const override {
    return shown_.size() * sizeof(std::int64_t) + (table_.size() + table_gradient_.size()) * sizeof(T) +
           pair_gradient_.size() * sizeof(double);
  }

 private:
  bool shared_by_heads() const {
    if constexpr (requires { plugin_.shared_by_heads(); })
      return plugin_.shared_by_heads();
    else
      return false;
  }
  bool covers(int head) const { return head >= in_.head_begin && head < in_.head_begin + in_.heads; }
  int weights_read() const { return has_weight_array<P> ? count_ : bias_weight_count<P>; }
  Head formula_head(int head) const { return {in_.first_head.index + head, in_.first_head.count}; }
  std::size_t head_of(kernels::Tile<T> const& tile) const { return tile.head - in_.head_begin; }
  double const* weights_of(std::size_t head) const { return in_.weights.data() + (own_weights_ ? head * count_ : 0); }

  // ---- a bias of the offset alone: table[key - query + most_offset] ----
  void tabulate(Exec const& exec) {
    double const span = in_.most_offset - in_.least_offset;
    tabulated_ = in_.whole_positions && span <= 4.0 * (static_cast<double>(in_.query_len) + in_.key_len) + 1024;
    if (!tabulated_) return;
    std::size_t const width = static_cast<std::size_t>(span) + 1;
    bool const same = width == table_width_ && table_most_ == in_.most_offset && table_weights_ == in_.weights &&
                      table_stretch_ == in_.stretch && table_.size() == width * in_.heads;
    if (same) return;
    table_stretch_ = in_.stretch;
    table_width_ = width;
    table_most_ = in_.most_offset;
    table_weights_ = in_.weights;
    table_.resize(width * in_.heads);
    for (int h = 0; h < in_.heads; ++h) {
      auto const weights = WeightsIn<P, double>(count_, weights_of(h));
      T* row = table_.data() + h * width;
      double const most = in_.most_offset, stretch = in_.stretch;
      P const plugin = plugin_;
      Head const named = formula_head(h);
      Kokkos::parallel_for("sextant::bias_table",
                           Kokkos::RangePolicy<HostExec>(host_side(exec), 0, static_cast<std::int64_t>(width)),
                           [=, &weights](std::int64_t at) {
                             double const offset = (most - static_cast<double>(at)) / stretch;
                             Site<double> const site{offset, offset, 0, named, nullptr, nullptr};
                             row[at] = static_cast<T>(plugin.template bias<double>(weights.get(), site));
                           });
      exec.fence();
    }
    count_finite();
  }

  /// shown_[n] of the first n offsets of the table, in its order, are seen by some head. Empty: no entry hides anything.
  void count_finite() {
    shown_.clear();
    if (std::none_of(table_.begin(), table_.end(), [](T x) { return x == -std::numeric_limits<T>::infinity(); }))
      return;
    shown_.assign(table_width_ + 1, 0);
    for (std::size_t at = 0; at < table_width_; ++at) {
      bool seen = false;
      for (int h = 0; h < in_.heads; ++h) seen |= table_[h * table_width_ + at] != -std::numeric_limits<T>::infinity();
      shown_[at + 1] = shown_[at] + seen;
    }
  }
  /// A tile is hidden if the table is -infinity at every offset between the least and the most of its pairs.
  kernels::Visible visible_by_offset(int batch, int row, int rows, int col, int cols) const {
    using kernels::Visible;
    if (!tabulated_ || shown_.empty() || !in_.all_heads || in_.query_position.size() == 0) return Visible::all;
    int const line = in_.key_position.extent_int(0) > 1 ? batch : 0;
    auto const [query_least, query_most] =
        std::minmax_element(&in_.query_position(line, row), &in_.query_position(line, row) + rows);
    auto const [key_least, key_most] =
        std::minmax_element(&in_.key_position(line, col), &in_.key_position(line, col) + cols);
    auto const first = static_cast<std::ptrdiff_t>(*key_least - *query_most + table_most_);
    auto const last = static_cast<std::ptrdiff_t>(*key_most - *query_least + table_most_) + 1;
    std::int64_t const seen = shown_[last] - shown_[first];
    return seen == 0 ? Visible::none : seen == last - first ? Visible::all : Visible::some;
  }

  template <class F>
  void over_offsets(kernels::Tile<T> const& tile, F&& f) const {
    double const* const key = tile.key_position;
    bool run = true;
    for (int c = 1; c < tile.cols; ++c) run &= key[c] - key[c - 1] == 1.0;
    for (int r = 0; r < tile.rows; ++r) {
      double const to_index = table_most_ - tile.query_position[r];
      if (run) {
        auto const first = static_cast<std::ptrdiff_t>(key[0] + to_index);
        for (int c = 0; c < tile.cols; ++c) f(r, c, first + c);
      } else {
        for (int c = 0; c < tile.cols; ++c) f(r, c, static_cast<std::ptrdiff_t>(key[c] + to_index));
      }
    }
  }

  Site<double> site_at(std::size_t at, int h) const {
    double const offset = (table_most_ - static_cast<double>(at)) / in_.stretch;
    return {offset, offset, 0, formula_head(h), nullptr, nullptr};
  }
  void finish_table(int h, double* out) const {
    std::vector<double> sum(table_width_, 0.0);
    for (int b = 0; b < in_.batch; ++b) {
      T const* row = table_gradient_.data() + (static_cast<std::size_t>(b) * in_.heads + h) * table_width_;
      for (std::size_t at = 0; at < table_width_; ++at) sum[at] += row[at];
    }
    if constexpr (HasBiasGradient<P>) {
      for (std::size_t at = 0; at < table_width_; ++at)
        if (sum[at] != 0.0) plugin_.bias_gradient(weights_of(h), site_at(at, h), sum[at], out);
    } else {
      differentiate<P>(count_, weights_of(h), out, [&](auto const& weights, auto&& add) {
        using D = typename std::decay_t<decltype(weights)>::Number;
        for (std::size_t at = 0; at < table_width_; ++at) {
          if (sum[at] == 0.0) continue;
          Site<double> const site = site_at(at, h);
          add(sum[at], plugin_.template bias<D>(
                           weights.get(), Site<D>{site.offset_, site.query_position, 0, site.head, nullptr, nullptr}));
        }
      });
    }
  }

  // ---- a bias of gates, or of absolute positions: the formula for every pair ----
  // Scanned gates reach the formula relative to the query's own value, so only differences inside one row count.
  struct TileGates {
    Head head;
    double const *query[gates + 1] = {}, *key[gates + 1] = {};  // of the tile's rows and columns; null: switched off
    bool scanned[gates + 1] = {};
  };
  TileGates gates_of(kernels::Tile<T> const& tile) const {
    int const head = static_cast<int>(head_of(tile));
    TileGates out;
    out.head = formula_head(head);
    for (int g = 0; g < gates; ++g) {
      if (!specs_[g].active) continue;
      out.query[g] = in_.query_gates[g].row(tile.batch, head) + tile.row;
      out.key[g] = in_.key_gates[g].row(tile.batch, head) + tile.col;
      out.scanned[g] = specs_[g].scan != Scan::none;
    }
    return out;
  }
  template <class D, class W, class F>
  void over_row(kernels::Tile<T> const& tile, int r, int begin, int end, TileGates const& from, W const& weights,
                F&& f) const {
    constexpr int seeds_at = bias_weight_count<P>;
    double const* key[gates + 1] = {};
    double origin[gates + 1] = {};
    D query_gate[gates + 1] = {};  // a gate that is switched off reads as 0
    for (int g = 0; g < gates; ++g) {
      if (!from.query[g]) continue;
      double const raw = from.query[g][r];
      key[g] = from.key[g];
      origin[g] = from.scanned[g] ? raw : 0;
      query_gate[g] = seeded<D>(from.scanned[g] ? T(0) : static_cast<T>(raw), seeds_at + g);
    }
    double const query_position = tile.query_position[r] / in_.stretch;
    for (int c = begin; c < end; ++c) {
      D key_gate[gates + 1];
      for (int g = 0; g < gates; ++g) {
        key_gate[g] = seeded<D>(key[g] ? static_cast<T>(key[g][c] - origin[g]) : T(0), seeds_at + gates + g);
      }
      double const key_position = tile.key_position[c] / in_.stretch;
      Site<D> const at{
          static_cast<T>(query_position - key_position), query_position, key_position, from.head, query_gate, key_gate};
      f(c, plugin_.template bias<D>(weights.get(), at));
    }
  }

  static constexpr int piece = 64;  // pairs of a row at once
  /// In 16 lanes, and these one after another: sums of several rows then overlap.
  static T sum_of(T const* x, int n) {
    constexpr int lanes = 16;
    T part[lanes] = {}, sum = 0;
    int i = 0;
    for (; i + lanes <= n; i += lanes)
      for (int lane = 0; lane < lanes; ++lane) part[lane] += x[i + lane];
    for (int lane = 0; i + lane < n; ++lane) part[lane] += x[i + lane];
    for (T const y : part) sum += y;
    return sum;
  }

  void pair_backward(kernels::Tile<T> const& tile, T const* grad, int stride, std::size_t row) {
    constexpr int weights_n = bias_weight_count<P>;
    constexpr int seeds = weights_n + 2 * gates;
    using D = Dual<T, seeds>;
    int const head = static_cast<int>(head_of(tile));
    auto const weights = WeightsIn<P, D>(count_, weights_of(head), weights_n > 0 ? 0 : -1);
    TileGates const from = gates_of(tile);
    std::vector<T> key_sum(static_cast<std::size_t>(gates) * tile.cols, T(0));
    alignas(64) T share[seeds + 1][piece];  // of some of a row's pairs in each derivative
    for (int r = 0; r < tile.rows; ++r)
      for (int begin = 0; begin < tile.cols; begin += piece) {
        int const cols = std::min(piece, tile.cols - begin);
        T const* const g_row = grad + std::ptrdiff_t(r) * stride + begin;
        over_row<D>(tile, r, begin, begin + cols, from, weights, [&](int c, D const& bias) {
          for (int n = 0; n < seeds; ++n) share[n][c - begin] = g_row[c - begin] * bias.slope[n];
        });
        for (int n = 0; trains_ && n < weights_n; ++n) pair_gradient_[row * weights_n + n] += sum_of(share[n], cols);
        for (int g = 0; g < gates; ++g) {
          if (!from.query[g]) continue;
          query_gradient_[g].row(tile.batch, head)[tile.row + r] += sum_of(share[weights_n + g], cols);
          T* const to = key_sum.data() + g * tile.cols + begin;
          for (int c = 0; c < cols; ++c) to[c] += share[weights_n + gates + g][c];
        }
      }
    for (int g = 0; g < gates; ++g) {
      if (!specs_[g].active) continue;
      double* out = key_gradient_[g].row(tile.batch, head) + tile.col;
      for (int c = 0; c < tile.cols; ++c) out[c] += key_sum[g * tile.cols + c];
    }
  }

  // Many weights, of which a pair reads few, at positions that no table covers (fractions, far apart): group by group.
  void array_backward(kernels::Tile<T> const& tile, T const* grad, int stride, std::size_t row) {
    double* const out = pair_gradient_.data() + row * count_;
    if constexpr (HasBiasGradient<P>) {
      double const* const w = weights_of(head_of(tile));
      Head const named = formula_head(static_cast<int>(head_of(tile)));
      for (int r = 0; r < tile.rows; ++r)
        for (int c = 0; c < tile.cols; ++c) {
          double const query = tile.query_position[r] / in_.stretch, key = tile.key_position[c] / in_.stretch;
          double const g = grad[r * stride + c];
          if (g != 0) plugin_.bias_gradient(w, {query - key, query, key, named, nullptr, nullptr}, g, out);
        }
      return;
    }
    constexpr int group = 8;
    using D = Dual<T, group>;
    TileGates const from = gates_of(tile);
    for (int first = 0; first < count_; first += group) {
      WeightsIn<P, D> const weights(count_, weights_of(head_of(tile)), first);
      int const some = std::min(group, count_ - first);
      for (int r = 0; r < tile.rows; ++r)
        over_row<D>(tile, r, 0, tile.cols, from, weights, [&](int c, D const& bias) {
          for (int n = 0; n < some; ++n) out[first + n] += grad[r * stride + c] * bias.slope[n];
        });
    }
  }

  template <class D>
  static D seeded(T value, int seed) {
    D out(value);
    if constexpr (!std::is_arithmetic_v<D>) out.slope[seed] = T(1);
    return out;
  }

  P plugin_;
  int count_;
  bool trains_;
  std::vector<GateSpec> specs_;
  Inputs in_;
  bool own_weights_ = false;
  bool tabulated_ = false;
  std::size_t table_width_ = 0;
  double table_most_ = 0, table_stretch_ = 1;
  std::vector<double> table_weights_;
  std::vector<WeightsIn<P, T>> numbers_;  // of each head, or of all; where no table stands for them
  SharedVector<T> table_, table_gradient_;
  std::vector<std::int64_t> shown_;
  std::vector<double> pair_gradient_;
  std::vector<GateRows> query_gradient_, key_gradient_;
};

}  // namespace sextant::encoding
