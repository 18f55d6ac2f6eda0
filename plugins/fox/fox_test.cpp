#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

TEST_CASE("fox: biases start at gates that decay over the times asked for, log-spaced over the heads", "[fox][paper]") {
  auto const fox = encoding_of("fox", {{"shortest", 10.0}, {"longest", 1000.0}});
  auto const p = fox->parameters(heads_of(3, 8, 16));
  REQUIRE(p.size() == 2);
  CHECK(p[0].name == "forget_weight");
  CHECK(p[0].shape == std::vector<std::size_t>{3, 16});
  CHECK(p[1].name == "forget_bias");
  double const times[] = {10, 100, 1000};
  for (int h = 0; h < 3; ++h) {
    double const b = p[1].init(Stream(1, "b"), h);
    CHECK(-std::log1p(std::exp(-b)) == Catch::Approx(-1 / times[h]).epsilon(1e-12));  // log gate
  }
}

TEST_CASE("fox: the bias is the difference of the running sums, so it is 0 on the diagonal", "[fox]") {
  auto const fox = encoding_of("fox");
  double const query = -3.5, key = -1.25;
  CHECK(fox->bias_at(heads_of(1), nullptr, {0, 1}, 9, 4, &query, &key) == -2.25);
  CHECK(fox->bias_at(heads_of(1), nullptr, {0, 1}, 9, 9, &query, &query) == 0);
}

TEST_CASE("fox: bias_only has one number a head", "[fox]") {
  auto const p = encoding_of("fox", {{"gate", std::string("bias_only")}})->parameters(heads_of(4));
  REQUIRE(p.size() == 1);
  CHECK(p[0].shape == std::vector<std::size_t>{4});
  CHECK_THAT(refusal_of(*encoding_of("fox", {{"shortest", 50.0}, {"longest", 5.0}}), heads_of(1)),
             Catch::Matchers::ContainsSubstring("fox.longest is 5, expected at least fox.shortest, 50"));
}
