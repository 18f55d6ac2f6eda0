// Carries a plugin's bias formula into attention tiles: tabulated over offsets when it depends on nothing else,
// inlined over the tile otherwise. What reads the formula is instantiated inside the plugin; the rest is FormulaBias.
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

/// Offsets that a table covers: entry n stands for (most - n) / stretch tokens from key to query.
struct TableOffsets {
  double most = 0, stretch = 1;
  Site<double> site(std::int64_t n, Head head) const {
    double const offset = (most - static_cast<double>(n)) / stretch;
    return {offset, offset, 0, head, nullptr, nullptr};
  }
};

/// What the tables and sums of a bias need to know of its formula.
struct BiasForm {
  int weight_count = 0;
  int weights_read = 0;  ///< by the formula of a pair; -1: all, however many they are
  bool trains = false;
  bool shared_by_heads = false;  ///< one row of weights serves all heads
  bool of_offset = false;        ///< is_tabulated
};

/// What of a bias does not depend on its formula: compiled once, in bias_adapter.cpp.
template <class T>
class FormulaBias : public Bias<T> {
 public:
  using Inputs = typename Bias<T>::Inputs;

  FormulaBias(BiasForm const& form, std::vector<GateSpec> specs);
  ~FormulaBias() override;
  void prepare(Exec const& exec, Inputs const& in) override;
  kernels::Visible visible(int batch, int row, int rows, int col, int cols) const override;
  void gradient_rows(std::vector<GateRows> query, std::vector<GateRows> key) override;
  void forward(kernels::Tile<T> const& tile) const override;
  void backward(kernels::Tile<T> const& tile, T const* grad, int stride) override;
  kernels::OffsetTable<T> table() override;
  void finish(double* weight_gradient) override;
  std::size_t bytes() const override;

 protected:
  /// out[end - begin]: the formula at entries [begin, end) of a table. For biases of the offset alone.
  virtual void values(TableOffsets const& offsets, double const* weights, Head head, std::int64_t begin,
                      std::int64_t end, double* out) const = 0;
  /// Adds sum over n of grad[n] * d entry n / d weight to out[weight_count].
  virtual void values_backward(TableOffsets const& offsets, double const* weights, Head head,
                               std::vector<double> const& grad, double* out) const = 0;
  /// Of tiles that no table covers.
  virtual void add_pairs(kernels::Tile<T> const& tile) const = 0;
  virtual void pairs_backward(kernels::Tile<T> const& tile, T const* grad, int stride, std::size_t row) = 0;

  Head formula_head(int head) const { return {in_.first_head.index + head, in_.first_head.count}; }
  std::size_t head_of(kernels::Tile<T> const& tile) const { return tile.head - in_.head_begin; }
  double const* weights_of(std::size_t head) const { return in_.weights.data() + (own_weights_ ? head * count_ : 0); }

  int count_;
  bool trains_;
  bool own_weights_ = false;
  bool tabulated_ = false;
  std::vector<GateSpec> specs_;
  Inputs in_;
  std::vector<double> pair_gradient_;
  std::vector<GateRows> query_gradient_, key_gradient_;

 private:
  bool covers(int head) const { return head >= in_.head_begin && head < in_.head_begin + in_.heads; }
  int weights_read() const { return form_.weights_read < 0 ? count_ : form_.weights_read; }
  void tabulate(Exec const& exec);
  void count_finite();
  template <class F>
  void over_offsets(kernels::Tile<T> const& tile, F&& f) const;
  void table_backward(int h, double* out) const;

  BiasForm form_;
  std::size_t table_width_ = 0;
  double table_most_ = 0, table_stretch_ = 1;
  std::vector<double> table_weights_;
  SharedVector<T> table_, table_gradient_;
  std::vector<std::int64_t> shown_;
};
extern template class FormulaBias<float>;
extern template class FormulaBias<double>;

template <class P>
BiasForm bias_form(P const& plugin, int weight_count, bool trains) {
  BiasForm form{.weight_count = weight_count, .trains = trains, .of_offset = is_tabulated<P>};
  form.weights_read = has_weight_array<P> ? -1 : bias_weight_count<P>;
  if constexpr (requires { plugin.shared_by_heads(); }) form.shared_by_heads = plugin.shared_by_heads();
  return form;
}

/// FormulaBias::values() and its adjoint, in double for either number type of the tiles.
template <class P>
void offset_values(P const& plugin, int count, TableOffsets const& offsets, double const* weights, Head head,
                   std::int64_t begin, std::int64_t end, double* out) {
  WeightsIn<P, double> const w(count, weights);
  for (std::int64_t n = begin; n < end; ++n)
    out[n - begin] = plugin.template bias<double>(w.get(), offsets.site(n, head));
}
template <class P>
void offset_values_backward(P const& plugin, int count, TableOffsets const& offsets, double const* weights, Head head,
                            std::vector<double> const& grad, double* out) {
  if constexpr (HasBiasGradient<P>) {
    for (std::size_t n = 0; n < grad.size(); ++n)
      if (grad[n] != 0.0) plugin.bias_gradient(weights, offsets.site(n, head), grad[n], out);
  } else {
    differentiate<P>(count, weights, out, [&](auto const& w, auto&& add) {
      using D = typename std::decay_t<decltype(w)>::Number;
      for (std::size_t n = 0; n < grad.size(); ++n) {
        if (grad[n] == 0.0) continue;
        Site<double> const site = offsets.site(n, head);
        add(grad[n], plugin.template bias<D>(
                         w.get(), Site<D>{site.offset_, site.query_position, 0, site.head, nullptr, nullptr}));
      }
    });
  }
}

template <class P, class T>
class BiasAdapter final : public FormulaBias<T> {
  static constexpr int gates = gate_count_of<P>;

 public:
  using typename FormulaBias<T>::Inputs;

  BiasAdapter(P const& plugin, int weight_count, bool trains, std::vector<GateSpec> specs)
      : FormulaBias<T>(bias_form(plugin, weight_count, trains), std::move(specs)), plugin_(plugin) {}

  void prepare(Exec const& exec, Inputs const& in) override {
    FormulaBias<T>::prepare(exec, in);
    numbers_.clear();
    for (int h = 0; !tabulated_ && h < (own_weights_ ? in.heads : 1); ++h)
      numbers_.emplace_back(count_, weights_of(static_cast<std::size_t>(h)));
  }

 private:
  using FormulaBias<T>::count_, FormulaBias<T>::trains_, FormulaBias<T>::specs_, FormulaBias<T>::in_;
  using FormulaBias<T>::pair_gradient_, FormulaBias<T>::query_gradient_, FormulaBias<T>::key_gradient_;
  using FormulaBias<T>::own_weights_, FormulaBias<T>::tabulated_, FormulaBias<T>::formula_head, FormulaBias<T>::head_of,
      FormulaBias<T>::weights_of;

  void values([[maybe_unused]] TableOffsets const& offsets, [[maybe_unused]] double const* weights,
              [[maybe_unused]] Head head, [[maybe_unused]] std::int64_t begin, [[maybe_unused]] std::int64_t end,
              [[maybe_unused]] double* out) const override {
    if constexpr (is_tabulated<P>) offset_values(plugin_, count_, offsets, weights, head, begin, end, out);
  }
  void values_backward([[maybe_unused]] TableOffsets const& offsets, [[maybe_unused]] double const* weights,
                       [[maybe_unused]] Head head, [[maybe_unused]] std::vector<double> const& grad,
                       [[maybe_unused]] double* out) const override {
    if constexpr (is_tabulated<P>) offset_values_backward(plugin_, count_, offsets, weights, head, grad, out);
  }
  void add_pairs(kernels::Tile<T> const& tile) const override {
    auto const& weights = numbers_[own_weights_ ? head_of(tile) : 0];
    TileGates const from = gates_of(tile);
    for (int r = 0; r < tile.rows; ++r) {
      T* const logit = tile.logit + std::ptrdiff_t(r) * tile.stride;
      over_row<T>(tile, r, 0, tile.cols, from, weights, [&](int c, T const& bias) { logit[c] += bias; });
    }
  }
  void pairs_backward([[maybe_unused]] kernels::Tile<T> const& tile, [[maybe_unused]] T const* grad,
                      [[maybe_unused]] int stride, [[maybe_unused]] std::size_t row) override {
    if constexpr (has_weight_array<P>) {
      if (trains_) array_backward(tile, grad, stride, row);
    } else if constexpr (gates > 0 || bias_weight_count<P> > 0) {
      pair_backward(tile, grad, stride, row);
    }
  }

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
  std::vector<WeightsIn<P, T>> numbers_;  // of each head, or of all; where no table stands for them
};

}  // namespace sextant::encoding
