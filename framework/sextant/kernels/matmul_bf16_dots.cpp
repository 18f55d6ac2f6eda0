#include <sextant/kernels/matmul_bf16_dots.hpp>
#include <sextant/kernels/simd.hpp>

#include <algorithm>
#include <bit>

namespace sextant::kernels::blocks {
namespace {
using Pairs = simd::VectorOf<float>::Bits;  // of bf16 numbers, the earlier in the lower half
constexpr int W = simd::width<float>;

Pairs load_pairs(BFloat16 const* from, int count) {
  Pairs x{};
  std::memcpy(&x, from, sizeof(BFloat16) * static_cast<std::size_t>(count < 2 * W ? count : 2 * W));
  return x;
}
SEXTANT_INLINE simd::Vec<float> even(Pairs x) { return std::bit_cast<simd::Vec<float>>(x << 16); }
SEXTANT_INLINE simd::Vec<float> odd(Pairs x) { return std::bit_cast<simd::Vec<float>>(x & 0xFFFF0000u); }
}  // namespace

int split_length(int terms) { return (terms + 2 * W - 1) / (2 * W) * 2 * W; }

void split_row(float const* x, int terms, float* to) {
  for (int k = 0; k < terms; k += 2 * W)
    for (int lane = 0; lane < 2 * W; ++lane)
      to[k + lane % 2 * W + lane / 2] = k + lane < terms ? round_to_bf16(x[k + lane]) : 0.0f;
}

void dots(float const* a, BFloat16 const* b, std::ptrdiff_t b_stride, int cols, int terms, float* c) {
  for (int j = 0; j < cols; j += W) {
    BFloat16 const* right[W];
    for (int k = 0; k < W; ++k) right[k] = b + std::min(j + k, cols - 1) * b_stride;
    simd::Vec<float> sum[W];
    simd::unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA { sum[k] = simd::Vec<float>{}; });
    auto const add = [&](int d, auto const& load) SEXTANT_INLINE_LAMBDA {
      auto const left_even = simd::load(a + d), left_odd = simd::load(a + d + W);
      simd::unroll<W>([&](auto k) SEXTANT_INLINE_LAMBDA {
        Pairs const x = load(right[k] + d);
        sum[k] += left_even * even(x);
        sum[k] += left_odd * odd(x);
      });
    };
    int d = 0;
    for (; d + 2 * W <= terms; d += 2 * W)
      add(d, [](BFloat16 const* from) SEXTANT_INLINE_LAMBDA {
        Pairs x;
        std::memcpy(&x, from, sizeof x);
        return x;
      });
    if (d < terms) add(d, [&](BFloat16 const* from) SEXTANT_INLINE_LAMBDA { return load_pairs(from, terms - d); });
    auto const total = simd::sums<float>(sum);
    std::memcpy(c + j, &total, sizeof(float) * static_cast<std::size_t>(std::min(W, cols - j)));
  }
}

}  // namespace sextant::kernels::blocks
