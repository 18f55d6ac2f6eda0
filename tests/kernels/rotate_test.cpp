#include <sextant/base/error.hpp>
#include <sextant/kernels/rotate.hpp>
#include <sextant/kernels/rotate_past_cache.hpp>

#include <catch2/catch_all.hpp>
#include <support/random.hpp>

#include <algorithm>
#include <cmath>

using namespace sextant;

namespace {
template <class T>
kernels::RotationTable<T> table_of(int len, int pairs) {
  View4<double> const phase("phase", 1, 1, len, 1);
  for (int i = 0; i < len; ++i) phase(0, 0, i, 0) = 1.5 * i;
  kernels::Spectra const spectra{View4<double>("inv_freq", 1, 1, 1, pairs), View1<double>("factor", 1), {}};
  spectra.factor(0) = 1.25;
  for (int p = 0; p < pairs; ++p) spectra.inv_freq(0, 0, 0, p) = std::pow(100.0, -1.0 * p / pairs);
  kernels::RotationTable<T> table;
  kernels::form_rotation<T>(Exec(), phase, spectra, 1, table);
  return table;
}
}  // namespace

TEST_CASE("rotate: turns pairs by phase times frequency whatever the order of heads and tokens in memory",
          "[rotate][reference]") {
  int const batch = 2, heads = 3, len = 67, dim = 10;
  auto const table = table_of<float>(len, 3);
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

TEMPLATE_TEST_CASE("rotate_into: past the cache it writes the same bits, whatever the layout and the span", "[rotate]",
                   float, double) {
  using T = TestType;
  int const batch = 2, len = 67;
  struct Case {
    int heads, dim, pairs;
    kernels::RotationSpan span;
  };
  bool const interleaved = GENERATE(false, true), heads_apart = GENERATE(false, true);
  for (Case const& now : {Case{7, 128, 64, {0, 7, 0, interleaved}}, Case{6, 96, 16, {1, 4, 32, interleaved}},
                          Case{3, 64, 16, {0, 3, 0, interleaved}}, Case{2, 40, 10, {1, 1, 4, interleaved}}}) {
    int const rows = heads_apart ? now.heads : len, columns = heads_apart ? len : now.heads;
    auto const see = [&](View4<T> const& m) {
      return heads_apart ? Heads<T>(m) : as_heads(m.data(), batch, now.heads, len, now.dim);
    };
    View4<T> const memory("x", batch, rows, columns, now.dim);
    test::fill_random(memory, 7, "x");
    auto const table = table_of<T>(len, now.pairs);
    View4<T> const through("through", batch, rows, columns, now.dim), past("past", batch, rows, columns, now.dim);
    kernels::rotate_into<T>(Exec(), see(memory), see(through), table, now.span, kernels::Writes::through_cache);
    kernels::rotate_into<T>(Exec(), see(memory), see(past), table, now.span, kernels::Writes::past_cache);
    INFO("dim " << now.dim << (interleaved ? ", interleaved" : ", half") << (heads_apart ? ", heads apart" : ""));
    CHECK(std::equal(past.data(), past.data() + past.size(), through.data()));
  }
}

TEST_CASE("rotate: whole vectors are written past the cache, others are not", "[rotate]") {
  alignas(64) float to[1] = {};
  auto const turn = [&](std::ptrdiff_t row, int channel_begin, int pairs) {
    kernels::Turn<float> out{.to = {to, 8 * row, 2 * row, row}, .channel_begin = channel_begin, .pairs = pairs};
    return out;
  };
  CHECK(kernels::host::writes_past_cache(turn(128, 0, 64)));
  CHECK(kernels::host::writes_past_cache(turn(96, 32, 16)));
  CHECK_FALSE(kernels::host::writes_past_cache(turn(130, 0, 64)));
  CHECK_FALSE(kernels::host::writes_past_cache(turn(128, 2, 16)));
  CHECK_FALSE(kernels::host::writes_past_cache(turn(128, 0, 10)));
  auto shifted = turn(128, 0, 64);
  ++shifted.to.data;
  CHECK_FALSE(kernels::host::writes_past_cache(shifted));
}

TEST_CASE("rotate_into: what is no whole vectors is written through the cache, at any address", "[rotate]") {
  int const heads = 2, len = 5, dim = 64;
  auto const table = table_of<float>(len, 32);
  View1<float> const from("from", heads * len * dim + 1), into("into", from.size());
  test::fill_random(from, 3, "x");
  kernels::RotationSpan const span{0, heads, 0, false};
  auto const x = as_heads(from.data() + 1, 1, heads, len, dim), to = as_heads(into.data() + 1, 1, heads, len, dim);
  kernels::rotate_into<float>(Exec(), x, to, table, span, kernels::Writes::past_cache);
  kernels::rotate<float>(Exec(), x, table, span);
  CHECK(std::equal(from.data() + 1, from.data() + from.size(), into.data() + 1));
}

TEST_CASE("rotate: unrotate undoes it, and so does the inverse but for the factor", "[rotate]") {
  int const batch = 2, heads = 9, len = 35, dim = 12;
  auto const table = table_of<float>(len, 4);
  kernels::Spectra const spectra{View4<double>("inv_freq", 1, 1, 1, 4), View1<double>("factor", 1), {}};
  spectra.factor(0) = 1.25;
  for (bool const interleaved : {false, true}) {
    View4<float> const memory("x", batch, heads, len, dim), kept("kept", batch, heads, len, dim);
    test::fill_random(memory, 11, "x");
    Kokkos::deep_copy(kept, memory);
    kernels::RotationSpan const span{2, 6, 1, interleaved};
    Heads<float> const x(memory);
    double worst = 0, worst_inverse = 0;
    kernels::rotate<float>(Exec(), x, table, span);
    kernels::unrotate<float>(Exec(), x, table, span, spectra);
    for (std::size_t n = 0; n < kept.size(); ++n)
      worst = std::max<double>(worst, std::abs(memory.data()[n] - kept.data()[n]));
    kernels::rotate<float>(Exec(), x, table, span);
    kernels::rotate<float>(Exec(), x, table, span, true);
    for (int b = 0; b < batch; ++b)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < len; ++i)
          for (int c = 0; c < dim; ++c) {
            double const by = h >= 2 && h < 8 && c >= 1 && c < 9 ? 1.25 * 1.25 : 1;
            worst_inverse = std::max(worst_inverse, std::abs(x(b, h, i, c) - by * kept(b, h, i, c)));
          }
    CHECK(worst < 2e-6);
    CHECK(worst_inverse < 4e-6);
  }
}

TEST_CASE("rotate_into: an array of another shape is named", "[rotate][error]") {
  View4<float> const x("x", 1, 2, 3, 4), to("to", 1, 2, 3, 6);
  CHECK_THROWS_WITH(kernels::rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(to), table_of<float>(3, 2),
                                                {0, 2, 0, false}),
                    "rotate_into: to is [1, 2, 3, 6], expected [1, 2, 3, 4] as x");
}
