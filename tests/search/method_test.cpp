// The ways of searching, on objectives that cost nothing.
#include <sextant/base/error.hpp>
#include <sextant/search/method.hpp>

#include <catch2/catch_all.hpp>

#include <cmath>
#include <set>

using namespace sextant;
using namespace sextant::search;
using Catch::Matchers::ContainsSubstring;

namespace {
/// Spaces of all sizes, by number.
Space space_of(std::uint64_t number) {
  Dice dice(number, "test/space");
  Space out;
  out.pairs = 1 + dice.below(40);
  out.most = 1.5 + 60 * dice.unit();
  out.step = dice.chance(0.5) ? 0.01 : 0.25;
  out.kept = {0, 1, 4, 16};
  out.magnitudes = {1, 1.07, 1.2};
  return out;
}

std::vector<Start> starts_of(Space const& space) {
  std::vector<Start> out{{"linear", {}}, {"ntk", {}}, {"yarn", {}}};
  double const s = space.most / 1.25;
  for (int i = 0; i < space.pairs; ++i) {
    double const share = space.pairs > 1 ? double(i) / (space.pairs - 1) : 1;
    out[0].genome.factors.push_back(s);
    out[1].genome.factors.push_back(std::pow(s, share));
    out[2].genome.factors.push_back(1 + (s - 1) * std::min(1.0, std::max(0.0, 2 * share - 0.5)));
  }
  out[2].genome.magnitude = 1.07;
  return out;
}

Space const usual{.pairs = 16, .most = 5, .step = 0.01, .kept = {0, 1, 4}, .magnitudes = {1, 1.07}};

/// Squared distance of logarithms to a list that is no start and that draws seldom resemble: ten pairs as trained, six by 3.
double distance(Genome const& genome) {
  double sum = 0.1 * std::abs(genome.kept - 4) + 10 * std::abs(genome.magnitude - 1.07);
  for (std::size_t i = 0; i < genome.factors.size(); ++i)
    sum += std::pow(std::log(genome.factors[i]) - std::log(i < 10 ? 1.0 : 3.0), 2);
  return sum;
}

template <class Point, class Value>
Objective<Point> counted(int& count, Value const& value) {
  return [&count, value](std::vector<Trial<Point>> const& page) {
    std::vector<double> out;
    for (auto const& trial : page) out.push_back(value(trial.point)), ++count;
    return out;
  };
}

bool listed(auto const& list, auto value) { return std::find(list.begin(), list.end(), value) != list.end(); }
}  // namespace

TEST_CASE("search: every move keeps factors rising from 1 to the most, and the other genes in their lists",
          "[search][property]") {
  for (std::uint64_t number = 0; number < 60; ++number) {
    auto const space = space_of(number);
    auto const starts = starts_of(space);
    Dice dice(number, "test/moves");
    std::vector<Genome> pool;
    for (auto const& start : starts) pool.push_back(start.genome);
    INFO("space " << number << " of " << space.pairs << " pairs to " << space.most << " by " << space.step);
    for (int n = 0; n < 60; ++n) {
      auto const& one = pool[std::size_t(dice.below(int(pool.size())))];
      auto const& other = pool[std::size_t(dice.below(int(pool.size())))];
      Genome child;
      if (!crossed(
              one, other, 5, dice, [](Genome const&) { return true; }, child))
        child = drawn(space, dice);
      pool.push_back(mutated(child, space, 0.3, dice));
      pool.push_back(drawn(space, dice));
      for (auto const& genome : {child, pool.back(), pool[pool.size() - 2]}) {
        REQUIRE(monotone(genome));
        REQUIRE(genome.factors.back() <= std::max(space.most, starts[0].genome.factors.back()) + 1e-12);
        REQUIRE(listed(space.kept, genome.kept));
        REQUIRE(listed(space.magnitudes, genome.magnitude));
      }
    }
  }
}

TEST_CASE("search: a mutation with probability 1 changes factors to steps from the neighbour below", "[search]") {
  Dice dice(3, "test/steps");
  auto const genome = mutated(starts_of(usual)[1].genome, usual, 1, dice);
  double before = 1;
  for (double const factor : genome.factors) {
    double const steps = (factor - before) / usual.step;
    CHECK(steps == Catch::Approx(std::round(steps)).margin(1e-6));
    before = factor;
  }
}

TEST_CASE("search: budgets are spent to the last evaluation, on points that all differ", "[search][property]") {
  auto const starts = starts_of(usual);
  for (int const budget : {5, 16, 17, 23, 24, 64, 101})
    for (int const population : {3, 5, 16}) {
      if (population > budget) continue;
      Settings const s{.budget = budget, .population = population, .parents = 3, .mutations = 3, .crossovers = 4};
      INFO("budget " << budget << ", population " << population);
      int count = 0;
      for (auto const& trace : {evolve(usual, starts, s, counted<Genome>(count, distance)),
                                draw_at_random(usual, starts, s, counted<Genome>(count, distance))}) {
        std::set<Genome> points;
        for (auto const& trial : trace.trials) points.insert(trial.point);
        CHECK(points.size() == std::size_t(budget));
        CHECK(trace.best_so_far().size() == std::size_t(budget));
      }
      auto const yarn = tune_yarn({4, 32, 1}, s, counted<YarnPoint>(count, [](auto const& p) { return p.beta_fast; }));
      CHECK(yarn.trials.size() == std::size_t(budget));
      CHECK(yarn.trials.front().point == YarnPoint{4, 32, 1});
      for (auto const& trial : yarn.trials) {
        CHECK(trial.point.beta_fast >= trial.point.beta_slow);
        CHECK(trial.point.factor >= 1);
      }
      CHECK(count == 3 * budget);
    }
}

TEST_CASE("search: the winner is never worse than the lists it starts with, whatever is minimised",
          "[search][property]") {
  auto const starts = starts_of(usual);
  for (std::uint64_t number = 0; number < 40; ++number) {
    Stream const noise(number, "test/noise");
    // A value without sense or shape, and some that are not finite.
    auto const value = [&](Genome const& genome) {
      double sum = genome.kept + 31 * genome.magnitude;
      for (double const factor : genome.factors) sum = 17 * sum + factor;
      double const u = noise.uniform(std::uint64_t(std::fmod(std::abs(sum) * 1e3, 1e9)));
      return u < 0.1 ? std::nan("") : u;
    };
    Settings s{.budget = 30, .population = 6, .parents = 3, .mutations = 2, .crossovers = 2};
    s.seed = number;
    int count = 0;
    for (auto const& trace : {evolve(usual, starts, s, counted<Genome>(count, value)),
                              draw_at_random(usual, starts, s, counted<Genome>(count, value))})
      for (auto const& start : starts) {
        double const own = value(start.genome);
        CHECK((std::isnan(own) || trace.best().objective <= own));
        CHECK(std::isfinite(trace.best().objective));
      }
  }
}

TEST_CASE("search: evolution comes nearer to a planted list than random draws, with as many evaluations", "[search]") {
  auto const starts = starts_of(usual);
  for (std::uint64_t const seed : {1, 2, 3, 4, 5}) {
    Settings s{.budget = 300};
    s.seed = seed;
    int count = 0;
    auto const bred = evolve(usual, starts, s, counted<Genome>(count, distance)).best();
    auto const random = draw_at_random(usual, starts, s, counted<Genome>(count, distance)).best();
    double best_start = 1e9;
    for (auto const& start : starts) best_start = std::min(best_start, distance(start.genome));
    INFO("seed " << seed << ": starts " << best_start << ", random " << random.objective << ", evolution "
                 << bred.objective);
    CHECK(bred.objective < 0.5 * best_start);
    CHECK(bred.objective < random.objective);
    CHECK(bred.point.kept == 4);
    CHECK(bred.point.magnitude == 1.07);
  }
}

TEST_CASE("search: the same seed takes the same way, another one another, and a larger budget only goes further",
          "[search]") {
  auto const starts = starts_of(usual);
  auto const points = [&](int budget, std::uint64_t seed) {
    Settings s{.budget = budget, .population = 8, .parents = 4, .mutations = 3, .crossovers = 3};
    s.seed = seed;
    int count = 0;
    std::vector<Genome> out;
    for (auto const& trial : evolve(usual, starts, s, counted<Genome>(count, distance)).trials)
      out.push_back(trial.point);
    return out;
  };
  auto const whole = points(60, 7), part = points(31, 7);
  CHECK(points(60, 7) == whole);
  CHECK(points(60, 8) != whole);
  CHECK(std::equal(part.begin(), part.end(), whole.begin()));
}

TEST_CASE("search: numbers that do not go together are refused", "[search][reject]") {
  auto const starts = starts_of(usual);
  int count = 0;
  auto const with = [&](Settings const& s) { evolve(usual, starts, s, counted<Genome>(count, distance)); };
  CHECK_THROWS_WITH(with({.budget = 15}), "search: the budget is 15 evaluations, expected at least the population, 16");
  CHECK_THROWS_WITH(with({.budget = 64, .population = 2, .parents = 2}),
                    "search: the population is 2, expected at least 3, the lists it starts with");
  CHECK_THROWS_WITH(with({.parents = 17}), ContainsSubstring("17 parents, expected 2 to the population, 16"));
  CHECK_THROWS_WITH(with({.mutations = 0, .crossovers = 0}), ContainsSubstring("expected some"));
  CHECK_THROWS_WITH(with({.chance = 0}), ContainsSubstring("probability 0"));
  CHECK(count == 0);
  Space tiny{.pairs = 1, .most = 1.25, .step = 0.25, .kept = {0}, .magnitudes = {1}};
  CHECK_THROWS_WITH(evolve(tiny, {{"linear", {{1}, 0, 1}}}, {.budget = 4, .population = 2, .parents = 2},
                           counted<Genome>(count, distance)),
                    ContainsSubstring("the space is used up"));
}
