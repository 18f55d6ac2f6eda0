#include <sextant/inspect/table.hpp>
#include <sextant/inspect/wavelengths.hpp>

#include <numbers>

#include "subject_of.hpp"

using namespace sextant;
using namespace sextant::inspect;
using test::subject_of;

namespace {
constexpr double turn = 2 * std::numbers::pi;

/// Counts distances beyond the arc one by one.
double counted(double step, double count, double arc) {
  double beyond = 0;
  for (double n = 0; n < count; ++n) beyond += std::fmod(n * step, turn) > arc + 1e-9;
  return beyond / count;
}
}  // namespace

TEST_CASE("wavelengths: rope's are 2 pi base^(2f/n), and those past the trained length are not completed",
          "[inspect][paper]") {
  auto const found = wavelengths(subject_of("rope", {.length = 4096, .trained = 512, .head_dim = 64}));
  REQUIRE(found);
  auto const& w = found.value->at(0);
  REQUIRE(w.pairs.size() == 32);
  CHECK(w.pairs[0].wavelength == Catch::Approx(turn).epsilon(1e-14));
  int never = 0;
  for (int f = 0; f < 32; ++f) {
    double const wavelength = turn * std::pow(1e4, 2.0 * f / 64);
    CHECK(w.pairs[f].wavelength == Catch::Approx(wavelength).epsilon(1e-13));
    CHECK(w.pairs[f].trained_turns == Catch::Approx(511 / wavelength).epsilon(1e-13));
    CHECK(w.pairs[f].completed == (511 >= wavelength));
    never += 511 < wavelength;
  }
  CHECK(w.never_completed == never);
  CHECK(never == 16);  // 2 pi 1e4^(f/32) > 511 from f = 16 on
}

TEST_CASE("unseen phases: the closed count equals counting one by one", "[inspect]") {
  for (double step : {1.0, 0.37, 0.011, 0.0004})
    for (double count : {2.0, 17.0, 1000.0, 30000.0})
      for (double arc : {0.0, 0.5, 3.0, 6.2}) {
        INFO("step " << step << ", count " << count << ", arc " << arc);
        CHECK(share_beyond(step, count, arc) == Catch::Approx(counted(step, count, arc)).margin(1e-12));
      }
}

TEST_CASE("unseen phases: none within the trained length, more beyond it, none once interpolated", "[inspect]") {
  auto const mean = [](double length, std::vector<encoding::Choice> scalings) {
    return wavelengths(subject_of("rope", {.length = length, .trained = 512, .scalings = std::move(scalings)}))
        .value->at(0)
        .mean_unseen;
  };
  CHECK(mean(512, {}) == 0);
  CHECK(mean(1024, {}) > 0.1);
  CHECK(mean(4096, {}) > mean(1024, {}));
  CHECK(mean(2048, {{"linear", {{"factor", 2048.0 / 512}}, {}}}) < 0.01);  // only the last, between 511 and 512
}

TEST_CASE("wavelengths: an encoding that turns nothing says so", "[inspect]") {
  auto const found = wavelengths(subject_of("alibi"));
  CHECK_FALSE(found);
  CHECK_THAT(found.why_not, Catch::Matchers::ContainsSubstring("no wavelength"));
}

TEST_CASE("rank of phases: one slow pair spans little more than one direction, a fast one both", "[inspect]") {
  auto const rank = [](double base, double length) {
    auto const found = rotary_rank(subject_of({{"rope", {{"base", base}}, {}}}, {.length = length, .head_dim = 4}));
    return found.value->at(0);
  };
  CHECK(rank(1e12, 1000).out_of == 4);
  CHECK(rank(1e12, 1000).at_length < 3.05);  // wavelength 6e6: cos is 1 and sin hardly moves
  CHECK(rank(100, 1000).at_length == Catch::Approx(4).epsilon(0.02));
}
