#include <sextant/base/error.hpp>
#include <sextant/kernels/rotate.hpp>

#include <catch2/catch_all.hpp>
#include <support/random.hpp>

#include <cmath>

using namespace sextant;

namespace {
kernels::RotationTable<float> table_of(int len, int pairs) {
  View4<double> const phase("phase", 1, 1, len, 1);
  for (int i = 0; i < len; ++i) phase(0, 0, i, 0) = 1.5 * i;
  kernels::Spectra const spectra{View4<double>("inv_freq", 1, 1, 1, pairs), View1<double>("factor", 1), {}};
  spectra.factor(0) = 1.25;
  for (int p = 0; p < pairs; ++p) spectra.inv_freq(0, 0, 0, p) = std::pow(100.0, -1.0 * p / pairs);
  kernels::RotationTable<float> table;
  kernels::form_rotation<float>(Exec(), phase, spectra, 1, table);
  return table;
}
}  // namespace

TEST_CASE("rotate: turns pairs by phase times frequency whatever the order of heads and tokens in memory",
          "[rotate][reference]") {
  int const batch = 2, heads = 3, len = 67, dim = 10;
  auto const table = table_of(len, 3);
  for (bool const interleaved : {false, true})
    for (bool const heads_apart : {false, true}) {
      View4<float> const memory("x", batch, heads_apart ? heads : len, heads_apart ? len : heads, dim);
      test::fill_random(memory, 5, "x");
      auto const see = [&](View4<float> const& m) {
        return heads_apart ? Heads<float>(m) : as_heads(m.data(), batch, heads, len, dim);
      };
      View4<float> const turned("turned", batch, memory.extent(1), memory.extent(2), dim);
      Kokkos::deep_copy(turned, -77.0f);
      kernels::RotationSpan const span{1, 2, 2, interleaved};
      auto const x = see(memory), to = see(turned);
      kernels::rotate_into<float>(Exec(), x, to, table, span);
      double worst = 0;
      for (int b = 0; b < batch; ++b)
        for (int h = 0; h < heads; ++h)
          for (int i = 0; i < len; ++i)
            for (int c = 0; c < dim; ++c) {
              double expected = x(b, h, i, c);
              if (h >= 1 && c >= 2 && c < 8) {
                int const k = c - 2, p = interleaved ? k / 2 : k % 3, second = interleaved ? k % 2 : k / 3;
                int const other = 2 + (interleaved ? k ^ 1 : (k + 3) % 6);
                double const angle = 1.5 * i * std::pow(100.0, -1.0 * p / 3);
                expected =
                    1.25 * (x(b, h, i, c) * std::cos(angle) + (second ? 1 : -1) * x(b, h, i, other) * std::sin(angle));
              }
              worst = std::max(worst, std::abs(expected - to(b, h, i, c)));
            }
      INFO((interleaved ? "interleaved" : "half") << (heads_apart ? ", heads apart" : ", tokens apart"));
      CHECK(worst < 4e-6);
      kernels::rotate<float>(Exec(), x, table, span);
      bool same = true;
      for (std::size_t n = 0; n < memory.size(); ++n) same = same && memory.data()[n] == turned.data()[n];
      CHECK(same);
    }
}

TEST_CASE("rotate_into: an array of another shape is named", "[rotate][error]") {
  View4<float> const x("x", 1, 2, 3, 4), to("to", 1, 2, 3, 6);
  CHECK_THROWS_WITH(
      kernels::rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(to), table_of(3, 2), {0, 2, 0, false}),
      "rotate_into: to is [1, 2, 3, 6], expected [1, 2, 3, 4] as x");
}
