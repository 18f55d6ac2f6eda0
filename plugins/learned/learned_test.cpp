#include "support/plugin.hpp"

#include <sextant/encoding/binding.hpp>

using namespace sextant;
using namespace sextant::test;

TEST_CASE("learned: one table for the model, starting with standard deviation 0.02", "[learned]") {
  auto const p = encoding_of("learned", {{"max_length", std::int64_t{50}}})->parameters(heads_of(2, 8, 16));
  REQUIRE(p.size() == 1);
  CHECK(p[0].shape == std::vector<std::size_t>{50, 16});
  CHECK_FALSE(p[0].per_layer);
  double square = 0;
  for (std::size_t i = 0; i < 800; ++i) square += std::pow(p[0].init(Stream(4, "table"), i), 2);
  CHECK(std::sqrt(square / 800) == Catch::Approx(0.02).epsilon(0.1));
}

TEST_CASE("learned: a position past the table, or between two rows, is an error and not the last row", "[learned]") {
  encoding::PositionChoice const choice{{{"learned", {{"max_length", std::int64_t{4}}}, {}}}, {}, 0};
  auto const position =
      std::make_shared<encoding::Position const>(choice, encoding::Registry::global(), heads_of(1, 8, 2));
  encoding::Binding<double> binding(position, 1);
  View1<double> table("table", 8), grad("grad", 8);
  for (int i = 0; i < 8; ++i) table(i) = i;
  binding.attach({table}, {grad});
  auto const at = [&](double p) {
    encoding::Tokens tokens;
    tokens.batch = tokens.count = 1;
    tokens.position = View2<double>("p", 1, 1);
    tokens.position(0, 0) = p;
    binding.begin(Exec(), tokens);
    View2<double> x("x", 1, 2);
    binding.embed(Exec(), x);
    return x(0, 1);
  };
  CHECK(at(3) == 7);
  CHECK_THROWS_WITH(at(4), Catch::Matchers::ContainsSubstring("position 4 is past its table of 4 rows"));
  CHECK_THROWS_WITH(at(1.5), Catch::Matchers::ContainsSubstring("whole number"));
  CHECK_THROWS_WITH(at(-1), Catch::Matchers::ContainsSubstring("whole number"));
}
