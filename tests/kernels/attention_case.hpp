// What the attention tests share: a random problem of any shape, its two implementations, and links for the chain.
#pragma once
#include <catch2/catch_all.hpp>
#include <sextant/base/bfloat16.hpp>
#include <sextant/kernels/attention_team.hpp>

#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "support/close_to.hpp"
#include "support/random.hpp"

namespace sextant::test {

struct Shape {
  int batch = 1, heads = 1, kv_heads = 1, query_len = 1, key_len = 1, head_dim = 8, value_dim = 8;
};

/// Positions 0, 1, ... for keys, and for queries those of the last keys.
inline View2<double> positions(int length, int first = 0) {
  View2<double> view("positions", 1, length);
  for (int i = 0; i < length; ++i) view(0, i) = first + i;
  return view;
}

/// As a kind of attention: of floats, under Precision::bf16, its operands rounded. The other kinds are float and double.
struct Bf16 {};
template <class Kind>
using Number = std::conditional_t<std::is_same_v<Kind, Bf16>, float, Kind>;

template <class Kind>
struct Attention {
  using T = Number<Kind>;
  Shape shape;
  kernels::AttentionInput<T> in;
  Heads<T> query, key, value, out, grad_out, grad_query, grad_key, grad_value;
  View3<T> log_sum_exp;

  explicit Attention(Shape const& s, std::uint64_t seed = 1)
      : shape(s),
        query(random_heads<T>(seed, "query", s.batch, s.heads, s.query_len, s.head_dim)),
        key(random_heads<T>(seed, "key", s.batch, s.kv_heads, s.key_len, s.head_dim)),
        value(random_heads<T>(seed, "value", s.batch, s.kv_heads, s.key_len, s.value_dim)),
        grad_out(random_heads<T>(seed, "grad_out", s.batch, s.heads, s.query_len, s.value_dim)) {
    in.query = query, in.key = key, in.value = value;
    in.key_position = positions(s.key_len);
    in.query_position = positions(s.query_len, s.key_len - s.query_len);
    if constexpr (std::is_same_v<Kind, Bf16>) {
      in.precision = kernels::Precision::bf16;
      for (auto const& x : {query, key, value})
        for (std::size_t n = 0; n < x.span(); ++n) x.data()[n] = round_to_bf16(x.data()[n]);
    }
    clear();
  }
  /// Results as NaN, so that what a kernel forgets to write is seen.
  void clear() {
    Shape const& s = shape;
    T const nan = std::numeric_limits<T>::quiet_NaN();
    out = zero_heads<T>(s.batch, s.heads, s.query_len, s.value_dim);
    grad_query = zero_heads<T>(s.batch, s.heads, s.query_len, s.head_dim);
    grad_key = zero_heads<T>(s.batch, s.kv_heads, s.key_len, s.head_dim);
    grad_value = zero_heads<T>(s.batch, s.kv_heads, s.key_len, s.value_dim);
    log_sum_exp = View3<T>("log_sum_exp", s.batch, s.heads, s.query_len);
    Kokkos::deep_copy(out, nan), Kokkos::deep_copy(grad_query, nan), Kokkos::deep_copy(grad_key, nan);
    Kokkos::deep_copy(grad_value, nan), Kokkos::deep_copy(log_sum_exp, nan);
  }
  bool teams = false;  ///< by teams, the path of a device, instead of the host's kernel
  int team_size = 0;   ///< threads of a team; 0 leaves it to Kokkos

  void forward() {
    if (teams) return kernels::team::forward<T>(Exec(), in, out, log_sum_exp, team_size), Exec().fence();
    kernels::AttentionWorkspace workspace;
    kernels::attention_forward<T>(Exec(), in, out, log_sum_exp, workspace);
  }
  void backward() {
    if (teams)
      return kernels::team::backward<T>(Exec(), in, out, log_sum_exp, grad_out, grad_query, grad_key, grad_value,
                                        team_size),
             Exec().fence();
    kernels::AttentionWorkspace workspace;
    kernels::attention_backward<T>(Exec(), in, out, log_sum_exp, grad_out, grad_query, grad_key, grad_value, workspace);
  }
  void reference_forward() { reference::attention_forward<T>(in, out, log_sum_exp); }
  void reference_backward() {
    reference::attention_backward<T>(in, out, log_sum_exp, grad_out, grad_query, grad_key, grad_value);
  }
  void documents(std::vector<std::vector<int>> const& queries, std::vector<std::vector<int>> const& keys) {
    in.mask.query_document = View2<int>("query_document", shape.batch, shape.query_len);
    in.mask.key_document = View2<int>("key_document", shape.batch, shape.key_len);
    for (int b = 0; b < shape.batch; ++b) {
      for (int i = 0; i < shape.query_len; ++i) in.mask.query_document(b, i) = queries[b][i];
      for (int j = 0; j < shape.key_len; ++j) in.mask.key_document(b, j) = keys[b][j];
    }
  }
};

/// -slope(head) * (query position - key position), with the slopes' gradient kept apart by (batch, head).
template <class T>
struct LinearBias final : kernels::TileModifier<T> {
  std::vector<double> slope, grad;
  LinearBias(int batch, std::vector<double> slopes) : slope(slopes), grad(batch * slopes.size()) {}
  void forward(kernels::Tile<T> const& t) const override {
    for (int r = 0; r < t.rows; ++r)
      for (int c = 0; c < t.cols; ++c)
        t.logit[r * t.stride + c] -= static_cast<T>(slope[t.head] * (t.query_position[r] - t.key_position[c]));
  }
  void backward(kernels::Tile<T> const& t, T const* g, int stride) override {
    double sum = 0;
    for (int r = 0; r < t.rows; ++r)
      for (int c = 0; c < t.cols; ++c)
        sum -= static_cast<double>(g[r * stride + c]) * (t.query_position[r] - t.key_position[c]);
    grad[t.batch * slope.size() + t.head] += sum;
  }
  std::vector<double> grad_slope() const {
    std::vector<double> sum(slope.size());
    for (std::size_t i = 0; i < grad.size(); ++i) sum[i % slope.size()] += grad[i];
    return sum;
  }
};

/// A bias of the offset by its definition; as_table() gives the same as a table.
template <class T>
struct Offsets : kernels::TileModifier<T> {
  std::vector<T> bias, grad;
  int head_begin, heads, most;  // offsets -most to most
  Offsets(int batch, int first, int count, int most_offset)
      : bias(count * (2 * most_offset + 1)),
        grad(batch * bias.size()),
        head_begin(first),
        heads(count),
        most(most_offset) {
    for (std::size_t n = 0; n < bias.size(); ++n) bias[n] = static_cast<T>(std::sin(0.7 * static_cast<double>(n)));
  }
  bool covers(int head) const { return head >= head_begin && head < head_begin + heads; }
  std::size_t at(kernels::Tile<T> const& t, int r, int c) const {
    double const offset = t.key_position[c] - t.query_position[r];
    return static_cast<std::size_t>((t.head - head_begin) * (2 * most + 1) + most + static_cast<int>(offset));
  }
  void forward(kernels::Tile<T> const& t) const override {
    for (int r = 0; r < t.rows && covers(t.head); ++r)
      for (int c = 0; c < t.cols; ++c) t.logit[r * t.stride + c] += bias[at(t, r, c)];
  }
  void backward(kernels::Tile<T> const& t, T const* g, int stride) override {
    for (int r = 0; r < t.rows && covers(t.head); ++r)
      for (int c = 0; c < t.cols; ++c) grad[t.batch * bias.size() + at(t, r, c)] += g[r * stride + c];
  }
  kernels::OffsetTable<T> as_table() {
    return {bias.data(), grad.data(), head_begin, heads, 2 * most + 1, -1.0 * most};
  }
};

/// Hides pairs here and there by writing `hidden` (-infinity, or the large negative number some masks use).
template <class T>
struct Sieve final : kernels::TileModifier<T> {
  T hidden = -std::numeric_limits<T>::infinity();
  static bool holds(int i, int j) { return (7 * i + 3 * j) % 5 == 0 || i % 11 == 4; }
  void forward(kernels::Tile<T> const& t) const override {
    for (int r = 0; r < t.rows; ++r)
      for (int c = 0; c < t.cols; ++c)
        if (holds(t.row + r, t.col + c)) t.logit[r * t.stride + c] = hidden;
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
};

/// Sees only keys less than `reach` away by index, tells so through visible(), and counts the pairs it was shown.
template <class T>
struct Near final : kernels::TileModifier<T> {
  int reach, offset;
  mutable std::atomic<long> shown{0};
  Near(int reach_, int offset_) : reach(reach_), offset(offset_) {}
  kernels::Visible visible(int, int row, int rows, int col, int cols) const override {
    bool const left = col + cols - 1 <= row + offset - reach, right = col >= row + rows - 1 + offset + reach;
    return left || right ? kernels::Visible::none : kernels::Visible::some;
  }
  void forward(kernels::Tile<T> const& t) const override {
    shown += static_cast<long>(t.rows) * t.cols;
    for (int r = 0; r < t.rows; ++r)
      for (int c = 0; c < t.cols; ++c)
        if (std::abs(t.row + r + offset - t.col - c) >= reach)
          t.logit[r * t.stride + c] = -std::numeric_limits<T>::infinity();
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
};

template <class Kind>
constexpr double bound = std::is_same_v<Kind, Bf16>  ? 0x1p-8
                         : sizeof(Number<Kind>) == 4 ? 1e-5
                                                     : 1e-12;

/// Of bf16: log-sum-exp as float's; the output within one rounding of the weights; gradients within a few, of grad_out, P, dS and
/// what `out` was off by, summed over the rows.
struct Bounds {
  double out, log_sum_exp, gradient;
};
template <class Kind>
constexpr Bounds bounds = std::is_same_v<Kind, Bf16> ? Bounds{bound<Kind>, bound<float>, 0x1p-5}
                                                     : Bounds{bound<Kind>, bound<Kind>, bound<Kind>};

/// Forward and backward of one kernel against the plain loops.
template <class Kind>
void compare(Attention<Kind>& fast, Attention<Kind>& plain, Bounds const& within = bounds<Kind>) {
  fast.clear(), plain.clear();
  fast.forward(), plain.reference_forward();
  CHECK_THAT(fast.out, CloseTo(plain.out, within.out));
  CHECK_THAT(fast.log_sum_exp, CloseTo(plain.log_sum_exp, within.log_sum_exp));
  fast.backward(), plain.reference_backward();
  CHECK_THAT(fast.grad_query, CloseTo(plain.grad_query, within.gradient));
  CHECK_THAT(fast.grad_key, CloseTo(plain.grad_key, within.gradient));
  CHECK_THAT(fast.grad_value, CloseTo(plain.grad_value, within.gradient));
}

inline std::vector<Shape> const shapes = {
    {1, 1, 1, 1, 1, 1, 1},     {2, 1, 1, 1, 70, 8, 8},      {1, 2, 2, 3, 3, 5, 3},       {2, 2, 1, 17, 17, 8, 8},
    {1, 4, 2, 64, 64, 16, 16}, {1, 2, 2, 97, 97, 7, 19},    {1, 2, 1, 130, 259, 33, 40}, {1, 3, 3, 50, 20, 12, 6},
    {2, 6, 2, 5, 300, 20, 24}, {1, 1, 1, 200, 200, 64, 64}, {1, 2, 2, 9, 700, 24, 17},   {1, 2, 2, 8, 513, 64, 128},
    {8, 4, 2, 30, 40, 6, 10},
};
inline std::string name(Shape const& s) {
  return text("batch ", s.batch, " heads ", s.heads, '/', s.kv_heads, " lengths ", s.query_len, " x ", s.key_len,
              " dims ", s.head_dim, ", ", s.value_dim);
}

}  // namespace sextant::test
