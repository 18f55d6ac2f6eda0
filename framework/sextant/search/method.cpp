#include <sextant/base/error.hpp>
#include <sextant/search/method.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace sextant::search {
namespace {
double rank_of(double objective) {
  return std::isfinite(objective) ? objective : std::numeric_limits<double>::infinity();
}

template <class Point>
bool better(Trial<Point> const& a, Trial<Point> const& b) {
  return rank_of(a.objective) < rank_of(b.objective);
}

/// The trials so far, and what no new one may repeat.
template <class Point>
class Book {
 public:
  Book(int budget, Objective<Point> const& objective) : budget_(budget), objective_(objective) {}

  bool full() const { return written() >= budget_; }
  int written() const { return static_cast<int>(trace_.trials.size() + page_.size()); }
  bool fresh(Point const& point) const { return !known_.contains(point); }
  void add(Point point, std::string origin, int generation) {
    if (full()) return;
    known_.insert(point);
    page_.push_back({std::move(point), std::move(origin), generation, 0});
  }
  /// make() until it gives a point that is new.
  template <class Make>
  Point fresh_one(Make const& make) const {
    constexpr int most = 10000;
    for (int n = 0; n < most; ++n)
      if (Point const point = make(); fresh(point)) return point;
    fail("search: no new point in ", most, " draws after ", written(),
         ": the space is used up, expected a smaller budget or a smaller step");
  }
  /// Evaluates what was added since the last time; returns it.
  std::vector<Trial<Point>> turn() {
    auto const values = objective_(page_);
    expect(values.size() == page_.size(), "search: ", values.size(), " values of ", page_.size(), " points");
    for (std::size_t n = 0; n < page_.size(); ++n) page_[n].objective = values[n];
    auto out = std::move(page_);
    page_.clear();
    trace_.trials.insert(trace_.trials.end(), out.begin(), out.end());
    return out;
  }
  Trace<Point> close() && { return std::move(trace_); }

 private:
  int budget_;
  Objective<Point> const& objective_;
  std::set<Point> known_;
  std::vector<Trial<Point>> page_;
  Trace<Point> trace_;
};

void add_starts(Book<Genome>& book, std::vector<Start> const& starts) {
  for (auto const& start : starts)
    if (book.fresh(start.genome)) book.add(start.genome, start.name, 0);
}

Genome bred(std::vector<Trial<Genome>> const& parents, Settings const& settings, Space const& space,
            Book<Genome> const& book, Dice& dice, std::string& origin) {
  int const count = static_cast<int>(parents.size());
  int first = dice.below(count), second = count > 1 ? dice.below(count - 1) : first;
  if (second >= first && count > 1) ++second;
  if (first > second) std::swap(first, second);
  auto const& one = parents[static_cast<std::size_t>(first)].point;
  Genome child;
  origin = "crossover";
  if (count > 1 && crossed(
                       one, parents[static_cast<std::size_t>(second)].point, settings.tries, dice,
                       [&](Genome const& g) { return book.fresh(g); }, child))
    return child;
  origin = "mutation";
  return book.fresh_one([&] { return mutated(one, space, settings.chance, dice); });
}
}  // namespace

void Settings::check(std::size_t starts) const {
  expect(population >= static_cast<int>(starts), "search: the population is ", population, ", expected at least ",
         starts, ", the lists it starts with");
  expect(budget >= population, "search: the budget is ", budget, " evaluations, expected at least the population, ",
         population);
  expect(parents >= 2 && parents <= population, "search: there are ", parents,
         " parents, expected 2 to the population, ", population);
  expect(mutations >= 0 && crossovers >= 0 && mutations + crossovers > 0, "search: a generation has ", mutations,
         " mutations and ", crossovers, " crossovers, expected some");
  expect(chance > 0 && chance <= 1, "search: a gene mutates with probability ", chance, ", expected above 0 to 1");
}

template <class Point>
Trial<Point> const& Trace<Point>::best() const {
  expect(!trials.empty(), "search: nothing was evaluated");
  return *std::min_element(trials.begin(), trials.end(), better<Point>);
}

template <class Point>
std::vector<double> Trace<Point>::best_so_far() const {
  std::vector<double> out;
  double best = std::numeric_limits<double>::infinity();
  for (auto const& trial : trials) out.push_back(best = std::min(best, rank_of(trial.objective)));
  return out;
}

template struct Trace<Genome>;
template struct Trace<YarnPoint>;

Trace<Genome> evolve(Space const& space, std::vector<Start> const& starts, Settings const& settings,
                     Objective<Genome> const& objective) {
  settings.check(starts.size());
  Dice dice(settings.seed, "search/evolution");
  Book<Genome> book(settings.budget, objective);
  add_starts(book, starts);
  for (std::size_t n = 0; book.written() < settings.population; ++n)
    book.add(book.fresh_one([&] { return mutated(starts[n % starts.size()].genome, space, settings.chance, dice); }),
             "mutation", 0);
  auto parents = book.turn();
  for (int generation = 1; !book.full(); ++generation) {
    std::stable_sort(parents.begin(), parents.end(), better<Genome>);
    parents.resize(std::min(parents.size(), static_cast<std::size_t>(settings.parents)));
    for (int n = 0; n < settings.mutations && !book.full(); ++n) {
      auto const& parent = parents[static_cast<std::size_t>(dice.below(int(parents.size())))].point;
      book.add(book.fresh_one([&] { return mutated(parent, space, settings.chance, dice); }), "mutation", generation);
    }
    for (int n = 0; n < settings.crossovers && !book.full(); ++n) {
      std::string origin;
      auto child = bred(parents, settings, space, book, dice, origin);
      book.add(std::move(child), origin, generation);
    }
    auto const children = book.turn();
    parents.insert(parents.end(), children.begin(), children.end());
  }
  return std::move(book).close();
}

Trace<Genome> draw_at_random(Space const& space, std::vector<Start> const& starts, Settings const& settings,
                             Objective<Genome> const& objective) {
  settings.check(starts.size());
  Dice dice(settings.seed, "search/random");
  Book<Genome> book(settings.budget, objective);
  add_starts(book, starts);
  while (!book.full()) book.add(book.fresh_one([&] { return drawn(space, dice); }), "draw", 0);
  book.turn();
  return std::move(book).close();
}

Trace<YarnPoint> tune_yarn(YarnPoint const& released, Settings const& settings, Objective<YarnPoint> const& objective) {
  settings.check(1);
  Dice dice(settings.seed, "search/yarn");
  Book<YarnPoint> book(settings.budget, objective);
  book.add(released, "yarn", 0);
  auto const between = [&](double low, double high) { return low * std::pow(high / low, dice.unit()); };
  while (!book.full())
    book.add(book.fresh_one([&] {
      double const by = std::max(1.0, released.factor * between(std::sqrt(0.5), std::sqrt(2.0)));
      double const fast = between(4, 128);
      return YarnPoint{by, fast, between(0.25, 4)};
    }),
             "draw", 0);
  book.turn();
  return std::move(book).close();
}

}  // namespace sextant::search
