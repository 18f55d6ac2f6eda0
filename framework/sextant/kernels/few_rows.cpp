#include <sextant/kernels/few_rows.hpp>
#include <sextant/kernels/simd_block.hpp>

#include <algorithm>
#include <bit>

namespace sextant::kernels::few {
namespace {
using simd::load, simd::load_part, simd::unroll, simd::Vec, simd::width;

template <class T>
struct Two {
  Vec<T> first{}, second{};
};

/// Two vectors' worth of a row of b, or the `count` numbers that are left of it.
template <class T>
SEXTANT_INLINE Two<T> two(T const* from) {
  return {load(from), load(from + width<T>)};
}
template <class T>
SEXTANT_INLINE Two<T> two(T const* from, int count) {
  return {load_part(from, count), load_part(from + std::min(count, width<T>), count - width<T>)};
}

using Pairs = simd::VectorOf<float>::Bits;  // of bf16 numbers, the earlier in the lower half
SEXTANT_INLINE Two<float> even_and_odd(Pairs x) {
  return {std::bit_cast<Vec<float>>(x << 16), std::bit_cast<Vec<float>>(x & 0xFFFF0000u)};
}
SEXTANT_INLINE Two<float> two(BFloat16 const* from) {
  Pairs x;
  std::memcpy(&x, from, sizeof x);
  return even_and_odd(x);
}
SEXTANT_INLINE Two<float> two(BFloat16 const* from, int count) {
  Pairs x{};
  std::memcpy(&x, from, sizeof(BFloat16) * static_cast<std::size_t>(count));
  return even_and_odd(x);
}

/// x[r] = the products of row r of a with one row of b, summed but for the lanes.
template <int R, class T, class B>
SEXTANT_INLINE void meet(T const* a, int length, B const* b, int terms, Vec<T> (*x)[width<T>], int at) {
  constexpr int step = 2 * width<T>;
  Two<T> sum[R];
  auto const add = [&](int k, Two<T> const& right) SEXTANT_INLINE_LAMBDA {
    unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
      T const* const left = a + r * length + k;
      sum[r].first += load(left) * right.first;
      sum[r].second += load(left + width<T>) * right.second;
    });
  };
  int k = 0;
  for (; k + step <= terms; k += step) add(k, two(b + k));
  if (k < terms) add(k, two(b + k, terms - k));
  unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA { x[r][at] = sum[r].first + sum[r].second; });
}

template <int R, class T, class B>
void multiply(T const* a, B const* b, std::ptrdiff_t b_stride, int cols, int terms, T* c, std::ptrdiff_t c_stride) {
  constexpr int W = width<T>;
  int const length = row_length<T>(terms);
  Vec<T> x[R][W] = {};
  for (int j = 0; j < cols; j += W) {
    int const count = std::min(W, cols - j);
    for (int at = 0; at < count; ++at) meet<R>(a, length, b + (j + at) * b_stride, terms, x, at);
    unroll<R>([&](auto r) SEXTANT_INLINE_LAMBDA {
      auto const total = simd::sums<T>(x[r]);
      std::memcpy(c + r * c_stride + j, &total, sizeof(T) * static_cast<std::size_t>(count));
    });
  }
}

}  // namespace

template <class T>
int row_length(int terms) {
  return simd::round_up(terms, 2 * width<T>);
}
template <class T>
void lay_out(T const* x, int terms, T* to) {
  std::copy_n(x, terms, to);
  std::fill(to + terms, to + row_length<T>(terms), T(0));
}

void lay_out_rounded(float const* x, int terms, float* to) {
  constexpr int W = width<float>;
  for (int k = 0; k < terms; k += 2 * W)
    for (int lane = 0; lane < 2 * W; ++lane)
      to[k + lane % 2 * W + lane / 2] = k + lane < terms ? round_to_bf16(x[k + lane]) : 0.0f;
}

template <class T, class B>
void product(int rows, T const* a, B const* b, std::ptrdiff_t b_stride, int cols, int terms, T* c,
             std::ptrdiff_t c_stride) {
  simd::up_to<few_rows>(rows, [&](auto count) { multiply<count>(a, b, b_stride, cols, terms, c, c_stride); });
}

template int row_length<float>(int);
template int row_length<double>(int);
template void lay_out(float const*, int, float*);
template void lay_out(double const*, int, double*);
template void product(int, float const*, float const*, std::ptrdiff_t, int, int, float*, std::ptrdiff_t);
template void product(int, float const*, BFloat16 const*, std::ptrdiff_t, int, int, float*, std::ptrdiff_t);
template void product(int, double const*, double const*, std::ptrdiff_t, int, int, double*, std::ptrdiff_t);

}  // namespace sextant::kernels::few
