// One panel of the right operand at a time, 6 rows by 2 vectors of sums in registers. Where the right operand's rows lie as
// the product wants them they are read in place; a transposed one and ragged edges go through a small packed panel.
#include <sextant/kernels/blocks_of.hpp>
#include <sextant/kernels/simd_block.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/kernels/small_panel.hpp>

namespace sextant::kernels {
namespace {
using namespace simd;

inline constexpr int depth_block = 128;  // of a packed panel: it stays in L1
inline constexpr int row_block = 96;     // rows that meet a panel before the next one
inline constexpr int dot_rows = 6;       // up to here a transposed product reads both operands where they lie

/// c[0 .. count) = x, or += when `add`; count may cut the vector.
template <class T>
SEXTANT_INLINE void put(T* c, Vec<T> x, int count, bool add) {
  if (count >= width<T>) {
    store(c, add ? load(c) + x : x);
    return;
  }
  if (count <= 0) return;
  if (add) x += load_part(c, count);
  std::memcpy(c, &x, sizeof(T) * static_cast<std::size_t>(count));
}

/// The left operand: element (r, k) is data[r * row + k * step].
template <class T>
struct Left {
  T const* data;
  std::ptrdiff_t row, step;
};

template <class T>
struct Result {
  T* data;
  std::ptrdiff_t stride;
  T alpha;
};

/// c[rows, cols] (+)= alpha * a b for one panel: cols <= panel_width, b[depth, b_stride] readable in whole vectors.
template <class T>
void panel_product(Left<T> a, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth, Result<T> c,
                   bool add) {
  constexpr int W = width<T>;
  with_vectors(blocks_of(cols, W), [&](auto vectors) SEXTANT_INLINE_LAMBDA {
    for (int at = 0; at < rows; at += block_rows)
      up_to<block_rows>(rows - at, [&](auto count) SEXTANT_INLINE_LAMBDA {
        T* const to = c.data + at * c.stride;
        block_product<T, count, vectors>(a.data + at * a.row, a.row, a.step, b, b_stride, depth,
                                         [&](auto r, auto const& x) SEXTANT_INLINE_LAMBDA {
                                           unroll<vectors>([&](auto v) SEXTANT_INLINE_LAMBDA {
                                             put<T>(to + r * c.stride + v * W, x[v] * c.alpha, cols - v * W, add);
                                           });
                                         });
      });
  });
}

/// c[rows, cols] (+)= alpha * a b[depth, cols].
template <class T>
void product(Left<T> a, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth, Result<T> c, bool add) {
  constexpr int W = width<T>, P = panel_width<T>;
  alignas(bytes) T packed[depth_block * P];
  for (int r = 0; r < rows; r += row_block)
    for (int j = 0; j < cols; j += P) {
      int const wide = std::min(P, cols - j), count = std::min(row_block, rows - r);
      Result<T> const to{c.data + r * c.stride + j, c.stride, c.alpha};
      int const step = wide % W == 0 ? 2 * depth_block : depth_block;
      for (int k = 0; k < depth; k += step) {
        int const deep = std::min(step, depth - k);
        T const* from = b + k * b_stride + j;
        std::ptrdiff_t from_stride = b_stride;
        if (wide % W != 0) {
          pack_rows<T>(from, b_stride, deep, deep, wide, nullptr, packed);
          from = packed, from_stride = round_up(wide, W);
        }
        panel_product<T>({a.data + r * a.row + k * a.step, a.row, a.step}, count, from, from_stride, wide, deep, to,
                         add || k > 0);
      }
    }
}

/// The product a b^T of few rows: W sums over the lanes at once, nothing packed.
template <class T>
void dots(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
          Result<T> c, bool add) {
  constexpr int W = width<T>;
  for (int j = 0; j < cols; j += W) {
    T const* right[W];
    for (int k = 0; k < W; ++k) right[k] = b + std::min(j + k, cols - 1) * b_stride;
    for (int r = 0; r < rows; ++r) {
      T const* const left = a + r * a_stride;
      Vec<T> x[W];
      unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { x[k] = Vec<T>{}; });
      int d = 0;
      for (; d + W <= depth; d += W) {
        Vec<T> const l = load(left + d);
        unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { x[k] += l * load(right[k] + d); });
      }
      if (d < depth) {
        Vec<T> const l = load_part(left + d, depth - d);
        unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { x[k] += l * load_part(right[k] + d, depth - d); });
      }
      put<T>(c.data + r * c.stride + j, sums<T>(x) * c.alpha, cols - j, add);
    }
  }
}

template <class T>
void clear(Result<T> c, int rows, int cols) {
  for (int r = 0; r < rows; ++r) std::fill_n(c.data + r * c.stride, cols, T(0));
}
}  // namespace

template <class T>
void small_nt(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add) {
  constexpr int W = width<T>, P = panel_width<T>;
  if (rows <= 0 || cols <= 0) return;
  Result<T> const result{c, c_stride, alpha};
  if (depth <= 0 && !add) return clear(result, rows, cols);
  if (rows <= dot_rows) return dots(a, a_stride, rows, b, b_stride, cols, depth, result, add);
  alignas(bytes) T packed[depth_block * P];
  for (int j = 0; j < cols; j += P) {
    int const wide = std::min(P, cols - j);
    for (int k = 0; k < depth; k += depth_block) {
      int const deep = std::min(depth_block, depth - k);
      pack_transposed<T>(b + j * b_stride + k, b_stride, wide, round_up(wide, W), deep, nullptr, packed);
      panel_product<T>({a + k, a_stride, 1}, rows, packed, P, wide, deep, {c + j, c_stride, alpha}, add || k > 0);
    }
  }
}

template <class T>
void small_nn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add) {
  Result<T> const result{c, c_stride, alpha};
  if (depth <= 0 && !add) return clear(result, rows, cols);
  product<T>({a, a_stride, 1}, rows, b, b_stride, cols, depth, result, add);
}

template <class T>
void small_tn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, std::ptrdiff_t b_stride, int cols, int depth,
              T alpha, T* c, std::ptrdiff_t c_stride, bool add) {
  Result<T> const result{c, c_stride, alpha};
  if (depth <= 0 && !add) return clear(result, rows, cols);
  product<T>({a, 1, a_stride}, rows, b, b_stride, cols, depth, result, add);
}

template <class T>
void panel_nt(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, int begin, int end, int depth, T* to,
              std::ptrdiff_t to_stride, int origin) {
  constexpr int P = panel_width<T>;
  for (int j = begin / P * P; j < end; j += P)
    panel_product<T>({a, a_stride, 1}, rows, b + std::ptrdiff_t(j) * depth, P, std::min(P, round_up(end - j, width<T>)),
                     depth, {to + (j - origin), to_stride, T(1)}, false);
}

template <class T>
void panel_nn(T const* a, std::ptrdiff_t a_stride, int rows, T const* b, int capacity, int begin, int end, int cols,
              T alpha, T* to, std::ptrdiff_t to_stride) {
  constexpr int P = panel_width<T>, step = 2 * depth_block;
  for (int k = begin; k < end; k += step)
    for (int j = 0; j < cols; j += P) {
      int const wide = std::min(P, round_up(cols - j, width<T>));
      panel_product<T>({a + (k - begin), a_stride, 1}, rows,
                       b + std::ptrdiff_t(j) * capacity + std::ptrdiff_t(k) * wide, wide, std::min(P, cols - j),
                       std::min(step, end - k), {to + j, to_stride, alpha}, true);
    }
}

#define SEXTANT_INSTANTIATE(T)                                                                                     \
  template void small_nt(T const*, std::ptrdiff_t, int, T const*, std::ptrdiff_t, int, int, T, T*, std::ptrdiff_t, \
                         bool);                                                                                    \
  template void small_nn(T const*, std::ptrdiff_t, int, T const*, std::ptrdiff_t, int, int, T, T*, std::ptrdiff_t, \
                         bool);                                                                                    \
  template void small_tn(T const*, std::ptrdiff_t, int, T const*, std::ptrdiff_t, int, int, T, T*, std::ptrdiff_t, \
                         bool);                                                                                    \
  template void panel_nt(T const*, std::ptrdiff_t, int, T const*, int, int, int, T*, std::ptrdiff_t, int);         \
  template void panel_nn(T const*, std::ptrdiff_t, int, T const*, int, int, int, int, T, T*, std::ptrdiff_t);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
