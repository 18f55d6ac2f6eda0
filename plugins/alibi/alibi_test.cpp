#include "support/plugin.hpp"

#include <cmath>

using namespace sextant;
using namespace sextant::test;

namespace {
std::vector<double> slopes(int heads, Options options = {}) {
  return start_of(*encoding_of("alibi", std::move(options)), heads_of(heads));
}
double bias(Options options, double distance, int head = 0) {
  auto const alibi = encoding_of("alibi", std::move(options));
  auto const w = start_of(*alibi, heads_of(8));
  return alibi->bias_at(heads_of(8), w.data() + w.size() / 8 * head, {head, 8}, distance, 0, nullptr, nullptr);
}
}  // namespace

TEST_CASE("alibi: eight heads get slopes 1/2, 1/4, ... 1/256", "[alibi][paper]") {
  for (int head = 0; head < 8; ++head) CHECK(slopes(8)[head] == std::exp2(-(head + 1)));
}

TEST_CASE("alibi: head counts that are no power of two follow the released code", "[alibi][paper][R31]") {
  CHECK(slopes(3) == std::vector<double>{0.0625, 0.00390625, 0.25});
  CHECK(slopes(6) == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125});
  auto const twelve = slopes(12);
  for (int head = 0; head < 8; ++head) CHECK(twelve[head] == slopes(8)[head]);
  double const rest[] = {0.70710678, 0.35355339, 0.17677670, 0.08838835};
  for (int n = 0; n < 4; ++n) CHECK(twelve[8 + n] == Catch::Approx(rest[n]).epsilon(1e-7));
}

TEST_CASE("alibi: MPT's order holds the same slopes as the next power of two offers, odd entries first", "[alibi]") {
  CHECK(slopes(6, {{"slope_order", std::string("mpt")}}) ==
        std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625, 0.5, 0.125});
  auto const five = slopes(5, {{"slope_order", std::string("mpt")}});
  CHECK(five == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625, 0.5});
  CHECK(slopes(8, {{"slope_order", std::string("mpt")}}) == slopes(8));
}

TEST_CASE("alibi: the exponent's limit, the bias cap and the distance cap are three things", "[alibi]") {
  CHECK(slopes(4, {{"slope_exponent", 4.0}}) == std::vector<double>{0.5, 0.25, 0.125, 0.0625});
  CHECK(bias({}, 100) == -50);
  CHECK(bias({{"bias_max", 9.0}}, 100) == -9);
  CHECK(bias({{"bias_max", 9.0}}, 10) == -5);
  CHECK(bias({{"distance_cap", 30.0}}, 100) == -15);
  CHECK(bias({{"slope_scale", 2.0}}, 10) == -10);
  CHECK(bias({}, -10) == -5);  // a key ahead is as far as one behind
}

TEST_CASE("alibi: slopes are parameters only when they are to be trained", "[alibi]") {
  CHECK(encoding_of("alibi")->parameters(heads_of(8)).empty());
  auto const trained = encoding_of("alibi", {{"train_slopes", true}})->parameters(heads_of(8));
  REQUIRE(trained.size() == 1);
  CHECK(trained[0].name == "slope");
  CHECK(trained[0].shape == std::vector<std::size_t>{8, 1});
  CHECK(trained[0].init(Stream(3, "any"), 5) == std::exp2(-6));
}

TEST_CASE("alibi: the first heads share the slopes of so many heads, the others have no bias", "[alibi]") {
  Options const some{{"biased_heads", std::int64_t{4}}};
  CHECK(slopes(8, some) == std::vector<double>{0.25, 0.0625, 0.015625, 0.00390625, 0, 0, 0, 0});
  CHECK(bias(some, 8, 1) == -0.5);
  double const moved = 3;  // a weight that training moved all the same
  CHECK(encoding_of("alibi", some)->bias_at(heads_of(8), &moved, {4, 8}, 8, 0, nullptr, nullptr) == 0);
  CHECK_THAT(refusal_of(*encoding_of("alibi", {{"biased_heads", std::int64_t{9}}}), heads_of(8)),
             Catch::Matchers::ContainsSubstring("biased_heads is 9, expected at most the 8 heads"));
}

TEST_CASE("alibi: asymmetric, keys ahead have slopes of their own, trained apart", "[alibi]") {
  Options const both{{"sides", std::string("asymmetric")}, {"ahead_scale", 0.5}};
  CHECK(bias(both, 8) == -4);
  CHECK(bias(both, -8) == -2);
  CHECK(bias({{"sides", std::string("asymmetric")}}, -8) == bias({}, -8));
  Options trained = both;
  trained["train_slopes"] = true;
  CHECK(encoding_of("alibi", trained)->parameters(heads_of(8)).at(0).shape == std::vector<std::size_t>{8, 2});
  CHECK_THAT(refusal_of(*encoding_of("alibi", {{"ahead_scale", 0.5}}), heads_of(8)),
             Catch::Matchers::ContainsSubstring("which is for sides asymmetric"));
}

TEST_CASE("alibi: a cap past the last distance is no cap, and distances on one side add up", "[alibi][law]") {
  for (int head = 0; head < 8; ++head)
    for (double d : {0.0, 1.0, 5.0, 63.0}) {
      CHECK(bias({{"bias_max", 0.5 * 64}}, d, head) == bias({}, d, head));
      CHECK(bias({}, d + 11, head) == Catch::Approx(bias({}, d, head) + bias({}, 11, head)).epsilon(1e-14));
    }
}
