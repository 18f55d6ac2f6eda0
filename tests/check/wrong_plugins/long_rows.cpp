// A task whose rows are longer than it says.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct LongRows : ByLengths {
  static constexpr char const* length_means = "symbols";
  static auto schema() { return task_schema<LongRows>(); }
  static std::vector<Example> examples() { return {{{{"lengths", std::vector<double>{2, 6}}}, {}}}; }
  int vocabulary() const { return 4; }
  int row_length(int length) const { return length; }
  void fill(Draw& draw, int length, Row& row) const {
    for (int i = 0; i < length; ++i) row.say(1 + draw.below(3));
    row.answer(row.tokens.front());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LongRows, "long_rows", "a test")
