#include <sextant/inspect/precision.hpp>

#include "subject_of.hpp"

using namespace sextant;
using namespace sextant::inspect;
using test::subject_of;

namespace {
double at(PrecisionLine const& line, double position) {
  for (std::size_t n = 0; n < line.position.size(); ++n)
    if (line.position[n] == position) return line.error[n];
  FAIL("no position " << position);
  return 0;
}
}  // namespace

TEST_CASE("formats: known roundings, ties to even, overflow, denormals, integers", "[inspect][precision]") {
  CHECK(round_to(Format::bf16, 257) == 256);  // 8 significant bits: 256, 258, 260 ...
  CHECK(round_to(Format::bf16, 259) == 260);
  CHECK(round_to(Format::bf16, 1 + 1.0 / 128) == 1 + 1.0 / 128);
  CHECK(round_to(Format::fp16, 2049) == 2048);
  CHECK(round_to(Format::fp16, 2051) == 2052);
  CHECK(round_to(Format::fp16, 65504) == 65504);
  CHECK(std::isinf(round_to(Format::fp16, 65520)));
  CHECK(round_to(Format::fp16, 6e-8) == std::ldexp(1, -24));  // the smallest denormal
  CHECK(round_to(Format::fp16, 2e-8) == 0);
  CHECK(round_to(Format::int8, 0.5) == 64.0 / 127);
  CHECK(round_to(Format::int4, -0.9) == -6.0 / 7);
  CHECK(round_to(Format::int4, 2, 1) == 1);
  for (double x : {0.1, -3.3, 1e-40, 7e30})
    CHECK(round_to(Format::fp32, x) == static_cast<double>(static_cast<float>(x)));
}

TEST_CASE("precision: bf16 positions past 256 fall together, to the radian", "[inspect][precision]") {
  auto const line = rotary_precision({1.0}, 512, Format::bf16, Way::direct);
  double const exact = std::max(std::abs(round_to(Format::bf16, std::cos(512.0)) - std::cos(512.0)),
                                std::abs(round_to(Format::bf16, std::sin(512.0)) - std::sin(512.0)));
  CHECK(at(line, 512) == Catch::Approx(exact).margin(1e-15));  // 512 itself is a bf16 number
  auto const odd = rotary_precision({1.0}, 257, Format::bf16, Way::direct);
  CHECK(at(odd, 257) > 0.4);  // cos 256 where cos 257 belongs
}

TEST_CASE("precision: errors keep to half a unit of the stored numbers, and to the angle's own half unit",
          "[inspect][precision]") {
  std::vector<double> const ladder = {1, 0.31, 0.0123};
  for (auto [format, unit] : {std::pair{Format::fp32, std::ldexp(1, -24)},
                              {Format::bf16, std::ldexp(1, -8)},
                              {Format::fp16, std::ldexp(1, -11)},
                              {Format::int8, 1.0 / 127},
                              {Format::int4, 1.0 / 7}}) {
    auto const reduced = rotary_precision(ladder, 1 << 20, format, Way::reduced);
    CHECK(reduced.worst <= 0.5 * unit * (1 + 1e-6) + 1e-9);  // 1e-9: a double angle of 1e6 radians
    CHECK(reduced.worst > 0.1 * unit);
  }
  auto const direct = rotary_precision(ladder, 1 << 20, Format::fp32, Way::direct);
  for (std::size_t n = 0; n < direct.position.size(); ++n)  // half a unit each for frequency and product
    CHECK(direct.error[n] <= direct.position[n] * 2 * std::ldexp(1, -24) + std::ldexp(1, -23));
  CHECK(direct.worst > 1e-3);  // a float angle of 1e6 radians is good to 0.06
  CHECK(rotary_precision(ladder, 1 << 20, Format::fp64, Way::direct).worst < 1e-9);
}

TEST_CASE("precision: a recurrence drifts with the number of steps, and no faster than linearly",
          "[inspect][precision]") {
  auto const line = rotary_precision({0.7}, 1 << 16, Format::fp32, Way::recurrence);
  CHECK(line.error.back() > 10 * at(line, 16));
  for (std::size_t n = 0; n < line.position.size(); ++n)
    CHECK(line.error[n] <= (line.position[n] + 1) * std::ldexp(1, -22));
}

TEST_CASE("precision: a running sum in bf16 stops where the step is below half its unit", "[inspect][precision]") {
  auto const found = precision(subject_of("alibi", {.length = 65536, .heads = 1}));  // slope 1/256
  REQUIRE(found);
  for (auto const& line : found.value->at(0).lines)
    if (line.format == Format::bf16 && line.way == Way::recurrence)
      CHECK(line.error.back() == 65535.0 / 256 - 1);  // 1 + 1/256 rounds to 1
}

TEST_CASE("precision: rows are judged as stored", "[inspect][precision]") {
  auto const found = precision(subject_of("sinusoidal", {.length = 128}));
  REQUIRE(found);
  auto const& p = found.value->at(0);
  CHECK(p.lines.size() == formats.size());
  CHECK(p.lines[0].worst == 0);
  CHECK(p.lines[2].worst <= std::ldexp(1, -9) * (1 + 1e-12));
}
