// Tasks as a user gets them, by name: their answers against what the tokens say, and no test example among those of training.
#include <sextant/base/error.hpp>
#include <sextant/tasks/passkey.hpp>
#include <sextant/tasks/task_rows.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <map>
#include <set>

using namespace sextant;
using namespace sextant::tasks;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace task_test {
namespace {
constexpr int begin = 1, ask = 2, first = 3;  // docs/tasks.md

std::shared_ptr<encoding::Task const> task_of(std::string const& name, double shortest, double longest,
                                              encoding::Options options = {}) {
  options["lengths"] = std::vector<double>{shortest, longest};
  return encoding::Registry::global().make_task({name, options, {}});
}

/// A row taken apart: what stands before the question, the question's tokens, and the answer's.
struct Parts {
  std::vector<int> told, asked, answer;
};
Parts parts_of(encoding::Row const& row) {
  Parts out;
  bool question = false;
  REQUIRE(row.tokens.front() == begin);
  for (std::size_t i = 1; i < row.tokens.size(); ++i) {
    if (row.tokens[i] == ask)
      question = true;
    else
      (row.scored[i] ? out.answer : question ? out.asked : out.told).push_back(row.tokens[i]);
  }
  return out;
}
template <class Check>
void each_example(encoding::Task const& task, Check check) {
  TaskRows const rows(std::shared_ptr<encoding::Task const>(&task, [](auto const*) {}));
  for (std::uint64_t n = 0; n < 200; ++n) check(rows.training(5, n));
}
int number_of(std::vector<int> const& digits) {  // most significant first
  int out = 0;
  for (int const digit : digits) out = 10 * out + digit - first;
  return out;
}
}  // namespace

TEST_CASE("tasks: copy, reverse and sort answer with the image of the string", "[tasks]") {
  each_example(*task_of("copy", 1, 12), [](auto const& row) { CHECK(parts_of(row).answer == parts_of(row).told); });
  each_example(*task_of("reverse", 1, 12), [](auto const& row) {
    auto parts = parts_of(row);
    CHECK(parts.answer == std::vector<int>(parts.told.rbegin(), parts.told.rend()));
  });
  each_example(*task_of("sort", 1, 12), [](auto const& row) {
    auto parts = parts_of(row);
    CHECK(std::is_sorted(parts.answer.begin(), parts.answer.end()));
    CHECK(std::is_permutation(parts.answer.begin(), parts.answer.end(), parts.told.begin(), parts.told.end()));
  });
}

TEST_CASE("tasks: parity counts the ones, and addition adds in either order of digits", "[tasks]") {
  each_example(*task_of("parity", 2, 12), [](auto const& row) {
    auto const parts = parts_of(row);
    CHECK(parts.answer ==
          std::vector<int>{first + static_cast<int>(std::count(parts.told.begin(), parts.told.end(), first + 1) % 2)});
  });
  for (std::string const order : {"most_first", "least_first"})
    each_example(*task_of("addition", 1, 6, {{"order", order}}), [&](auto const& row) {
      auto parts = parts_of(row);
      auto const plus = std::find(parts.told.begin(), parts.told.end(), first + 10);
      std::vector<int> a(parts.told.begin(), plus), b(plus + 1, parts.told.end());
      CHECK(a.size() == b.size());
      CHECK(parts.answer.size() == a.size() + 1);
      if (order == "least_first")
        for (auto* number : {&a, &b, &parts.answer}) std::reverse(number->begin(), number->end());
      CHECK(number_of(a) + number_of(b) == number_of(parts.answer));
    });
}

TEST_CASE("tasks: induction answers with what followed the trigger, which stood once", "[tasks]") {
  each_example(*task_of("induction", 2, 12, {{"alphabet", std::int64_t{5}}}), [](encoding::Row const& row) {
    auto const count = row.tokens.size();
    int const trigger = row.tokens[count - 2];
    auto const end = row.tokens.end() - 2, at = std::find(row.tokens.begin(), end, trigger);
    CHECK(std::count(row.tokens.begin(), end, trigger) == 1);
    CHECK(at + 1 != end);
    CHECK(row.tokens.back() == *(at + 1));
    CHECK(std::count(row.scored.begin(), row.scored.end(), 1) == 1);
  });
}

TEST_CASE("tasks: mqar asks for every key once and answers with its value", "[tasks]") {
  each_example(*task_of("mqar", 1, 9), [](auto const& row) {
    auto const parts = parts_of(row);
    std::map<int, int> value;
    for (std::size_t i = 0; i < parts.told.size(); i += 2) value[parts.told[i]] = parts.told[i + 1];
    CHECK(value.size() * 2 == parts.told.size());
    CHECK(std::set<int>(parts.asked.begin(), parts.asked.end()).size() == value.size());
    for (std::size_t i = 0; i < parts.asked.size(); ++i) CHECK(value.at(parts.asked[i]) == parts.answer[i]);
  });
}

TEST_CASE("tasks: passkey and needle answer with what stood behind the mark, at the depth that was given", "[tasks]") {
  auto const passkey = task_of("passkey", 10, 40);
  each_example(*passkey, [](auto const& row) {
    auto const parts = parts_of(row);
    auto const mark = std::find(parts.told.begin(), parts.told.end(), first + 10);
    REQUIRE(mark != parts.told.end());
    CHECK(std::vector<int>(mark + 1, mark + 6) == parts.answer);
  });
  each_example(*task_of("needle", 10, 40), [](auto const& row) {
    auto const parts = parts_of(row);
    int found = 0;
    for (std::size_t i = 0; i + 2 < parts.told.size(); ++i)
      if (parts.told[i] == first && parts.told[i + 1] == parts.asked.at(0)) {
        ++found;
        CHECK(parts.told[i + 2] == parts.answer.at(0));
      }
    CHECK(found == 1);
    CHECK(std::count(parts.told.begin(), parts.told.end(), first) == 4);  // three distractors
  });
  for (double const depth : {0.0, 0.5, 1.0}) {
    auto const row = TaskRows(passkey).test(32, 7, depth);
    auto const mark = std::find(row.tokens.begin(), row.tokens.end(), first + 10) - row.tokens.begin();
    CHECK(mark - 1 == std::min<std::ptrdiff_t>(32, static_cast<std::ptrdiff_t>(depth * 33)));  // begin stands before
  }
}

TEST_CASE("tasks: variable_tracking's answer is the value at the end of the chain", "[tasks]") {
  each_example(*task_of("variable_tracking", 3, 12, {{"chains", std::int64_t{3}}}), [](auto const& row) {
    auto const parts = parts_of(row);
    std::map<int, int> source;
    for (std::size_t i = 0; i < parts.told.size(); i += 2) source[parts.told[i]] = parts.told[i + 1];
    int at = parts.asked.at(0);
    while (source.contains(at)) at = source.at(at);
    CHECK(at == parts.answer.at(0));
  });
}

TEST_CASE(
    "tasks: grid asks so many cells a line of those that are related to an earlier one, and answers with its symbol",
    "[tasks][grid]") {
  constexpr int blank = 3, symbol = 4, alphabet = 16, answer = symbol + alphabet;
  struct Case {
    std::string relation;
    int canvas, steps, asked;
  };
  for (Case const& of :
       {Case{"above", 0, 1, 99}, {"above", 11, 2, 1}, {"knight", 8, 1, 2}, {"column", 8, 1, 1}, {"row", 0, 1, 2}}) {
    INFO(of.relation);
    encoding::Options options{
        {"relation", of.relation}, {"steps", std::int64_t{of.steps}}, {"asked", std::int64_t{of.asked}}};
    if (of.canvas > 0) options["canvas"] = std::int64_t{of.canvas};
    auto const task = task_of("grid", 3, 7, options);
    std::set<std::size_t> sides;
    each_example(*task, [&](encoding::Row const& row) {
      auto const& [relation, canvas, steps, asked] = of;
      // What the positions alone say: cells by number, and answers by the number that they share with their cell.
      REQUIRE(row.positions.size() == row.tokens.size());
      std::vector<std::pair<int, int>> cells;  // position, symbol or -1
      std::map<int, int> answered;
      for (std::size_t i = 0; i < row.tokens.size(); ++i) {
        int const at = static_cast<int>(row.positions[i]), token = row.tokens[i];
        CHECK((row.scored[i] == 1) == (token >= answer));
        if (token >= answer) {
          CHECK(cells.back().first == at);  // right behind its cell
          answered[at] = token - answer;
        } else {
          cells.push_back({at, token == blank ? -1 : token - symbol});
        }
      }
      int const side = static_cast<int>(std::lround(std::sqrt(static_cast<double>(cells.size())))),
                width = canvas > 0 ? canvas : side;
      sides.insert(cells.size());
      std::map<std::pair<int, int>, int> plane;
      for (auto const& [at, value] : cells) plane[{at % width, at / width}] = value;
      REQUIRE(plane.size() == static_cast<std::size_t>(side * side));
      CHECK(plane.rbegin()->first == std::pair{side - 1, side - 1});
      std::map<int, int> able, asked_of;  // by line
      for (auto const& [point, value] : plane) {
        auto const [x, y] = point;
        int wanted = -1;
        auto const look = [&](int column, int line) {
          auto const found = plane.find({column, line});
          if (found != plane.end() && found->second >= 0) wanted = found->second;
        };
        if (relation == "above") look(x, y - steps);
        if (relation == "knight") look(x + 1, y - 2);
        for (int n = 0; relation == "column" && n < y; ++n) look(x, n);
        for (int n = 0; relation == "row" && n < x; ++n) look(n, y);
        if (relation == "column") CHECK((value >= 0) == (y == 0));
        able[y] += wanted >= 0;
        if (auto const found = answered.find(y * width + x); found != answered.end()) {
          CHECK(found->second == wanted);
          ++asked_of[y];
        }
      }
      for (auto const& [line, count] : able) CHECK(asked_of[line] == std::min(asked, count));
      CHECK(answered.size() > 0);
      CHECK(row.positions.back() < task->reach(side));
    });
    CHECK(sides.size() == 5);
  }
}

TEST_CASE("tasks: a grid that has nothing to ask, or is wider than its canvas, is refused with what would do",
          "[tasks][grid]") {
  auto const refusal = [](int side, encoding::Options options) {
    try {
      task_of("grid", side, side, options)->row_length(side);
      return std::string("nothing");
    } catch (Error const& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(refusal(2, {{"steps", std::int64_t{2}}}), ContainsSubstring("has nothing to ask, expected at least 3"));
  CHECK_THAT(refusal(2, {{"relation", "knight"}}), ContainsSubstring("has nothing to ask, expected at least 3"));
  CHECK_THAT(refusal(9, {{"canvas", std::int64_t{8}}}),
             ContainsSubstring("a side of 9 cells does not fit in a canvas of 8; expected a wider canvas"));
  CHECK_THAT(refusal(9, {{"relation", "row"}, {"steps", std::int64_t{2}}}),
             ContainsSubstring("grid.steps is for relation above"));
  CHECK_THAT(refusal(9, {{"relation", "collumn"}}), ContainsSubstring("column"));
  CHECK(refusal(8, {{"canvas", std::int64_t{8}}}) == "nothing");
}

TEST_CASE("tasks: placed tokens keep their positions in a batch, padding stands at the last, and a part is refused",
          "[tasks]") {
  View2<double> const positions("positions", 2, 5);
  encoding::Row row;
  row.stand(7), row.say(1), row.answer(2);
  row.stand(3), row.say(1);
  CHECK(row.positions == std::vector<double>{7, 7, 3});
  put_positions(row, 1, positions);
  for (int i = 0; i < 5; ++i) {
    CHECK(positions(1, i) == (i < 2 ? 7 : 3));
    CHECK(positions(0, i) == 0);
  }
  encoding::Row part;
  part.say(1), part.stand(2), part.say(1);
  CHECK_THROWS_MATCHES(put_positions(part, 0, positions), Error,
                       MessageMatches(ContainsSubstring("an example of 2 tokens places 1 of them, expected all")));
}

TEST_CASE("tasks: no test example is ever drawn in training, although the strings are few", "[tasks]") {
  TaskRows const rows(task_of("copy", 3, 6, {{"alphabet", std::int64_t{2}}}));  // 120 strings in all
  std::set<std::vector<std::int32_t>> trained, tested;
  for (std::uint64_t seed = 0; seed < 3; ++seed)
    for (std::uint64_t n = 0; n < 2000; ++n) trained.insert(rows.training(seed, n).tokens);
  for (int length = 4; length <= 6; ++length)
    for (std::uint64_t n = 0; n < 300; ++n) tested.insert(rows.test(length, n).tokens);
  CHECK(trained.size() > 80);
  CHECK(tested.size() > 5);
  for (auto const& row : tested) CHECK_FALSE(trained.contains(row));
  for (auto const& row : trained) CHECK(row.size() <= 14);
}

TEST_CASE("tasks: training lengths are uniform, rows a function of seed and number, and tests those of every seed",
          "[tasks]") {
  TaskRows const rows(task_of("copy", 8, 11));
  std::map<std::size_t, int> lengths;
  for (std::uint64_t n = 0; n < 4000; ++n) ++lengths[(rows.training(3, n).tokens.size() - 2) / 2];
  REQUIRE(lengths.size() == 4);
  for (auto const& [length, count] : lengths) CHECK(std::abs(count - 1000) < 4 * std::sqrt(4000 * 0.25 * 0.75));
  CHECK(rows.training(3, 17).tokens == rows.training(3, 17).tokens);
  CHECK(rows.training(3, 17).tokens != rows.training(4, 17).tokens);
  CHECK(rows.test(9, 2).tokens == rows.test(9, 2).tokens);
}

TEST_CASE("tasks: where no example is left for tests the message says what to change", "[tasks]") {
  TaskRows const rows(task_of("parity", 1, 4));
  bool refused = false;
  try {
    rows.test(1, 0);  // two strings of one bit: whether one is set aside is up to the hash
  } catch (Error const& error) {
    refused = true;
    CHECK_THAT(error.what(), ContainsSubstring("parity of length 1: none of 1000 examples is set aside for tests"));
  }
  bool const some = belongs_to_tests({{1, 3, 2, 3}, {0, 0, 0, 1}}) || belongs_to_tests({{1, 4, 2, 4}, {0, 0, 0, 1}});
  CHECK(refused != some);
}

TEST_CASE("tasks: a row in a batch is predicted at its answer alone, and padded", "[tasks]") {
  View2<std::int32_t> const tokens("tokens", 2, 6), targets("targets", 2, 6);
  put_row({{1, 4, 2, 4}, {0, 0, 0, 1}}, 1, tokens, targets);
  for (int i = 0; i < 6; ++i) {
    CHECK(tokens(1, i) == (std::vector<int>{1, 4, 2, 4, 0, 0})[static_cast<std::size_t>(i)]);
    CHECK(targets(1, i) == (i == 2 ? 4 : -1));
    CHECK(tokens(0, i) == 0);
  }
  CHECK_THROWS_MATCHES(put_row({std::vector<std::int32_t>(7, 1), std::vector<std::uint8_t>(7)}, 0, tokens, targets),
                       Error, MessageMatches(ContainsSubstring("an example of 7 tokens does not fit in a row of 6")));
}

TEST_CASE("tasks: options are checked as those of encodings are", "[tasks]") {
  auto const refusal = [](std::string const& name, double a, double b, encoding::Options options = {}) {
    try {
      task_of(name, a, b, options)->row_length(static_cast<int>(b));
      return std::string("nothing");
    } catch (Error const& error) {
      return std::string(error.what());
    }
  };
  CHECK_THAT(refusal("copi", 1, 2), ContainsSubstring("there is no task copi; did you mean copy?"));
  CHECK_THAT(refusal("copy", 8, 4), ContainsSubstring("lengths are [8, 4], expected two whole numbers"));
  CHECK_THAT(refusal("copy", 1, 2, {{"alphabt", std::int64_t{3}}}), ContainsSubstring("did you mean alphabet"));
  CHECK_THAT(refusal("mqar", 1, 300), ContainsSubstring("300 pairs need as many keys, expected at most 256"));
}

TEST_CASE("passkey: the words stand at their depth, the question and the answer at the end", "[tasks]") {
  std::vector<std::int32_t> const hay{10, 11, 12, 13}, told{1, 2}, asked{3}, answer{4, 5};
  CHECK(hide(hay, 0, told, asked, answer) == std::vector<std::int32_t>{1, 2, 10, 11, 12, 13, 3, 4, 5});
  CHECK(hide(hay, 0.5, told, asked, answer) == std::vector<std::int32_t>{10, 11, 1, 2, 12, 13, 3, 4, 5});
  CHECK(hide(hay, 1, told, asked, answer) == std::vector<std::int32_t>{10, 11, 12, 13, 1, 2, 3, 4, 5});
  CHECK_THAT(passkey_told(48213), ContainsSubstring("48213"));
  CHECK(passkey_answer(48213) == " 48213");
}
}  // namespace task_test
