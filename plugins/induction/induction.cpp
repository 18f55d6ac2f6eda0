// What followed a token the one time that it stood before.
//
//   begin x_1 ... A B ... x_n A [B]          A stands once in the string, at any place but the last
//
// Source: Olsson et al., "In-context Learning and Induction Heads", arXiv:2209.11895.
#include <common/task.hpp>

namespace sextant::plugins {
struct Induction : ByLengths {
  int alphabet = 32;
  static constexpr char const* summary = "what followed a token the one time that it stood before";
  static constexpr char const* formula = "begin x_1 ... A B ... x_n A [B]";
  static constexpr char const* length_means = "symbols of the string";
  static constexpr bool by_depth = true;

  static auto schema() {
    return task_schema<Induction>().option("alphabet", &Induction::alphabet, "different symbols", at_least(3));
  }
  static std::vector<Example> examples() {
    return {{{{"lengths", std::vector<double>{2, 20}}}, {}},
            {{{"lengths", std::vector<double>{6, 20}}, {"alphabet", std::int64_t{3}}}, {}}};
  }
  int vocabulary() const { return first_symbol + alphabet; }
  int row_length(int length) const { return length + 3; }
  void check(int length) const {
    expect(length >= 2, "length ", length, " leaves no room for a pair, expected 2 or more");
  }
  void fill(Draw& draw, int length, Row& row) const {
    int const trigger = draw.below(alphabet), place = draw.place(length - 1);
    std::vector<int> string;
    for (int i = 0; i < length; ++i)  // any symbol but the trigger
      string.push_back(i == place ? trigger : (trigger + 1 + draw.below(alphabet - 1)) % alphabet);
    row.say(begin_token);
    say_all(row, string);
    row.say(first_symbol + trigger);
    row.answer(first_symbol + string[static_cast<std::size_t>(place) + 1]);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Induction, "induction", "arXiv:2209.11895")
