// A task whose answer does not follow from its question.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct TwoAnswers : ByLengths {
  static constexpr char const* length_means = "symbols";
  static auto schema() { return task_schema<TwoAnswers>(); }
  static std::vector<Example> examples() { return {{{{"lengths", std::vector<double>{1, 3}}}, {}}}; }
  int vocabulary() const { return 4; }
  int row_length(int length) const { return length + 1; }
  void fill(Draw& draw, int length, Row& row) const {
    for (int i = 0; i < length; ++i) row.say(1 + draw.below(2));
    row.answer(2 + draw.below(2));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::TwoAnswers, "two_answers", "a test")
