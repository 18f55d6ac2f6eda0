#include <sextant/tasks/positions.hpp>

#include <catch2/catch_all.hpp>

#include <map>
#include <vector>

using namespace sextant;

TEST_CASE("drawn positions are distinct, ascending, within range, and the same for the same row",
          "[tasks][positions]") {
  Stream const stream(3, "positions");
  for (int below : {8, 9, 40, 2000}) {
    std::vector<double> p(8), again(8), other(8);
    tasks::draw_positions(stream, 5, 8, below, p.data());
    for (std::size_t i = 0; i < p.size(); ++i) {
      CHECK(p[i] == std::floor(p[i]));
      CHECK((i ? p[i] > p[i - 1] : p[i] >= 0));
    }
    CHECK(p.back() < below);
    tasks::draw_positions(stream, 5, 8, below, again.data());
    CHECK(p == again);
    tasks::draw_positions(stream, 6, 8, below, other.data());
    if (below > 1000) CHECK(p != other);
  }
  CHECK_THROWS_WITH(tasks::draw_positions(stream, 0, 9, 8, std::vector<double>(9).data()),
                    "cannot draw 9 distinct positions of 8");
}

TEST_CASE("drawn positions: every subset of 2 out of 4 comes up equally often", "[tasks][positions]") {
  Stream const stream(4, "positions");
  std::map<std::vector<double>, int> seen;
  int const draws = 60000;
  for (int row = 0; row < draws; ++row) {
    std::vector<double> p(2);
    tasks::draw_positions(stream, row, 2, 4, p.data());
    ++seen[p];
  }
  REQUIRE(seen.size() == 6);
  double chi_square = 0;  // five degrees of freedom: above 20.5 once in a thousand
  for (auto const& [p, n] : seen) chi_square += std::pow(n - draws / 6.0, 2) / (draws / 6.0);
  CHECK(chi_square < 20.5);
}

TEST_CASE("skipped positions: two runs of neighbours, every start and gap that fits", "[tasks][positions][pose]") {
  Stream const stream(6, "positions");
  int const count = 7, below = 10;
  std::map<std::pair<int, int>, int> seen;
  int const draws = 40000;
  for (int row = 0; row < draws; ++row) {
    std::vector<double> p(count);
    tasks::draw_skip(stream, row, count, below, p.data());
    int first = 1;
    while (first < count && p[first] == p[first - 1] + 1) ++first;
    int const gap = static_cast<int>(p.back()) - (count - 1);
    bool fits = true;
    for (int i = 0; i < count; ++i) fits = fits && p[i] == i + (i < first ? 0 : gap);
    CHECK(fits);
    ++seen[{gap == 0 ? 0 : first, gap}];
  }
  // Lengths 1 .. 4 of the first run times gaps 0 .. 3, equally often; with gap 0 the length cannot be seen.
  REQUIRE(seen.size() == 13);
  CHECK((seen[{0, 0}]) == Catch::Approx(draws / 4).epsilon(0.05));
  for (int first = 1; first <= 4; ++first)
    for (int gap = 1; gap <= 3; ++gap) CHECK((seen[{first, gap}]) == Catch::Approx(draws / 16).epsilon(0.12));
  CHECK_THROWS_WITH(tasks::draw_skip(stream, 0, 9, 8, std::vector<double>(9).data()),
                    "cannot draw 9 distinct positions of 8");
}
