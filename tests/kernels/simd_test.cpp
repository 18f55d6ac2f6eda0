// The vector helpers against the scalar library.
#include <sextant/kernels/simd_block.hpp>
#include <sextant/kernels/simd_stream.hpp>

#include <catch2/catch_all.hpp>
#include <cmath>
#include <limits>
#include <vector>

namespace sextant::kernels::simd {

TEMPLATE_TEST_CASE("simd: exp2 keeps its stated error, is 1 at 0, 0 far below and passes NaN on", "[simd]", float,
                   double) {
  using T = TestType;
  bool const single = sizeof(T) == 4;
  double worst = 0;
  for (double x = single ? -125.9 : -1021.9; x < 100; x += 0.00937) {
    T const rounded = static_cast<T>(x);
    double const exact = static_cast<double>(std::exp2(static_cast<long double>(rounded)));
    worst = std::max(worst, std::abs(static_cast<double>(exp2<T>(broadcast(rounded))[0]) / exact - 1));
  }
  CHECK(worst < (single ? 2.5e-7 : 5e-16));
  CHECK(exp2<T>(broadcast(T(0)))[0] == 1);
  CHECK(exp2<T>(broadcast(T(-3)))[0] == T(0.125));
  CHECK(exp2<T>(broadcast(single ? T(-126.1) : T(-1022.1)))[0] == 0);
  CHECK(exp2<T>(broadcast(std::numeric_limits<T>::lowest()))[0] == 0);
  CHECK(exp2<T>(broadcast(-std::numeric_limits<T>::infinity()))[0] == 0);
  CHECK(std::isnan(exp2<T>(broadcast(std::numeric_limits<T>::quiet_NaN()))[0]));
}

TEMPLATE_TEST_CASE("simd: pairs split into even and odd lanes and join again; streamed vectors arrive", "[simd]", float,
                   double) {
  using T = TestType;
  constexpr int W = width<T>;
  Vec<T> a, b;
  for (int i = 0; i < W; ++i) a[i] = static_cast<T>(i), b[i] = static_cast<T>(W + i);
  split_pairs<T>(a, b);
  for (int i = 0; i < W; ++i) CHECK((a[i] == 2 * i && b[i] == 2 * i + 1));
  join_pairs<T>(a, b);
  alignas(bytes) T arrived[2 * W];
  stream(arrived, a), stream(arrived + W, b);
  end_stream();
  for (int i = 0; i < 2 * W; ++i) CHECK(arrived[i] == i);
}

TEMPLATE_TEST_CASE("simd: sums, largest, transpose and parts of vectors", "[simd]", float, double) {
  using T = TestType;
  constexpr int W = width<T>;
  Vec<T> x[W], y[W];
  for (int i = 0; i < W; ++i)
    for (int j = 0; j < W; ++j) x[i][j] = y[i][j] = static_cast<T>(i * W + j);
  CHECK(sum<T>(x[1]) == W * W + W * (W - 1) / 2);
  CHECK(largest<T>(-x[1]) == -W);
  Vec<T> const rows = sums<T>(y);
  for (int i = 0; i < W; ++i) CHECK(rows[i] == i * W * W + W * (W - 1) / 2);
  transpose<T>(x);
  for (int i = 0; i < W; ++i)
    for (int j = 0; j < W; ++j) CHECK(x[i][j] == j * W + i);
  std::vector<T> const two{5, 6};
  Vec<T> const part = load_part(two.data(), 2);
  CHECK((part[0] == 5 && part[1] == 6 && sum<T>(part) == 11));
}

TEMPLATE_TEST_CASE("simd: packed panels multiply to the plain sums", "[simd]", float, double) {
  using T = TestType;
  constexpr int P = panel_width<T>, R = block_rows;
  int const depth = 13, keys = P + 3, columns = round_up(keys, P);
  std::vector<T> a(R * depth), b(keys * depth), packed(columns * depth), out(R * columns);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<T>(static_cast<int>(i * 7 % 11) - 5);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<T>(static_cast<int>(i * 5 % 13) - 6);
  pack_transposed(b.data(), depth, keys, columns, depth, nullptr, packed.data());
  for (int j = 0; j < columns; j += P)
    block_product<T, R, block_vectors>(a.data(), depth, 1, packed.data() + j * depth, P, depth,
                                       [&](auto r, auto const& x) {
                                         for (int v = 0; v < block_vectors; ++v)
                                           store(out.data() + r * columns + j + v * width<T>, x[v]);
                                       });
  for (int r = 0; r < R; ++r)
    for (int j = 0; j < columns; ++j) {
      T sum = 0;
      for (int d = 0; d < depth && j < keys; ++d) sum += a[r * depth + d] * b[j * depth + d];
      CHECK(out[r * columns + j] == sum);
    }
}

}  // namespace sextant::kernels::simd
