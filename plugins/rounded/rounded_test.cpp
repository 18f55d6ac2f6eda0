#include "support/plugin.hpp"

#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/kernels/rotate.hpp>

#include <bit>

using namespace sextant;
using namespace sextant::test;

namespace {
encoding::Position rope_with(encoding::Options const& options, std::string const& encoding = "rope") {
  return {{{{encoding, {}, {}}}, {{"rounded", options, {}}}, 64}, encoding::Registry::global(), heads_of(1, 8)};
}
kernels::RotationTable<double> table_of(encoding::Options const& options, int len) {
  auto const position = rope_with(options);
  auto const found = position.frequencies(position.terms()[0], {});
  View4<double> const phase("phase", 1, 1, len, 1);
  for (int i = 0; i < len; ++i) phase(0, 0, i, 0) = i;
  kernels::Spectra spectra{View4<double>("inv_freq", 1, 1, 1, 4), View1<double>("factor", 1), {}, found.format};
  spectra.factor(0) = 1;
  for (int p = 0; p < 4; ++p) spectra.inv_freq(0, 0, 0, p) = found.inv_freq[p];
  kernels::RotationTable<double> table;
  kernels::form_rotation<double>(Exec(), phase, spectra, 1, table);
  return table;
}
/// By cutting the float's bits: nearest, ties to even.
double to_bf16(double x) {
  auto const bits = std::bit_cast<std::uint32_t>(static_cast<float>(x));
  return std::bit_cast<float>((bits + 0x7FFFu + (bits >> 16 & 1u)) & 0xFFFF0000u);
}
}  // namespace

TEST_CASE("rounded: int4 keeps sevenths of cos and sin, and nothing else changes", "[rounded]") {
  auto const table = table_of({{"table", std::string("int4")}}, 300);
  for (int i = 0; i < 300; ++i)
    for (int p = 0; p < 4; ++p) {
      double const angle = i * std::pow(10000.0, -p / 4.0);
      CHECK(table.cos(0, i, p) == Catch::Approx(std::round(7 * std::cos(angle)) / 7).margin(1e-15));
      CHECK(table.sin(0, i, p) == Catch::Approx(std::round(7 * std::sin(angle)) / 7).margin(1e-15));
    }
}

TEST_CASE("rounded: a bf16 angle stands still for whole stretches of positions", "[rounded]") {
  auto const table = table_of({{"angle", std::string("bf16")}}, 1000);
  for (int i : {1, 255, 257, 300, 999}) {
    double const angle = to_bf16(to_bf16(i) * to_bf16(1.0));
    CHECK(table.cos(0, i, 0) == Catch::Approx(std::cos(angle)).margin(1e-15));
    CHECK(table.sin(0, i, 0) == Catch::Approx(std::sin(angle)).margin(1e-15));
  }
  CHECK(table.cos(0, 513, 0) == table.cos(0, 512, 0));  // 8 significant bits: 512, 516, 520
}

TEST_CASE("rounded: what it refuses", "[rounded][reject]") {
  using Catch::Matchers::ContainsSubstring;
  CHECK_THROWS_WITH(rope_with({}), ContainsSubstring("rounds nothing"));
  CHECK_THROWS_WITH(rope_with({{"table", std::string("int4")}}, "grape_m"),
                    ContainsSubstring("frequencies are trained"));
  CHECK_THROWS_WITH(rope_with({{"table", std::string("int4")}}, "alibi"), ContainsSubstring("expected a rotary"));
  encoding::Choice const once{"rounded", {{"table", std::string("fp16")}}, {}};
  CHECK_THROWS_WITH(
      encoding::Position({{{"rope", {}, {}}}, {once, once}, 64}, encoding::Registry::global(), heads_of(1, 8)),
      ContainsSubstring("rounded already"));
}
