// Variables that are set from values and from one another; the value of one of them is asked for.
//
//   begin x_1 = v  x_2 = x_1  y_1 = w  x_3 = x_2 ... ask x_3 [v]          chains interleaved at random
//
// Source: Hsieh et al., "RULER: What's the Real Context Size of Your Long-Context Language Models?", arXiv:2404.06654,
// section 3.2, in symbols instead of English; one variable is asked for, not all of a value.
#include <common/task.hpp>

namespace sextant::plugins {
struct VariableTracking : ByLengths {
  int names = 256, values = 32, chains = 2;
  static constexpr char const* summary = "assignments to be followed back to a value";
  static constexpr char const* formula = "begin x_1 v  x_2 x_1  y_1 w  x_3 x_2 ... ask x_3 [v]";
  static constexpr char const* length_means = "assignments";

  static auto schema() {
    return task_schema<VariableTracking>()
        .option("names", &VariableTracking::names, "different variables", at_least(2))
        .option("values", &VariableTracking::values, "different values", at_least(2))
        .option("chains", &VariableTracking::chains, "values that are handed on", at_least(1));
  }
  static std::vector<Example> examples() {
    return {{{{"lengths", std::vector<double>{2, 16}}}, {}},
            {{{"lengths", std::vector<double>{3, 16}}, {"chains", std::int64_t{3}}, {"names", std::int64_t{16}}}, {}}};
  }
  int vocabulary() const { return first_symbol + names + values; }
  int row_length(int length) const { return 2 * length + 4; }
  void check(int length) const {
    expect(length >= chains, length, " assignments do not set ", chains, " chains, expected as many at least");
    expect(length <= names, length, " assignments need as many variables, expected at most ", names);
  }
  void fill(Draw& draw, int length, Row& row) const {
    auto const name = draw.distinct(length, names);
    auto const value = draw.distinct(chains <= values ? chains : values, values);
    std::vector<int> last(static_cast<std::size_t>(chains), -1), chain;  // last: the variable that a chain ends with
    row.say(begin_token);
    for (int i = 0; i < length; ++i) {
      int const c = i < chains ? i : draw.below(chains);
      auto const at = static_cast<std::size_t>(c);
      row.say(first_symbol + name[static_cast<std::size_t>(i)]);
      row.say(last[at] < 0 ? first_symbol + names + value[at % value.size()] : first_symbol + last[at]);
      last[at] = name[static_cast<std::size_t>(i)];
      chain.push_back(c);
    }
    auto const asked = static_cast<std::size_t>(draw.below(length));
    row.say(ask_token);
    row.say(first_symbol + name[asked]);
    row.answer(first_symbol + names + value[static_cast<std::size_t>(chain[asked]) % value.size()]);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::VariableTracking, "variable_tracking", "arXiv:2404.06654")
