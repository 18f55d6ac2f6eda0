// A task that places a token past the end that it declares.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct PastReach : ByLengths {
  static constexpr char const* length_means = "symbols";
  static auto schema() { return task_schema<PastReach>(); }
  static std::vector<Example> examples() { return {{{{"lengths", std::vector<double>{3, 5}}}, {}}}; }
  int vocabulary() const { return 4; }
  int row_length(int length) const { return length + 1; }
  int reach(int length) const { return 2 * length - 2; }
  void fill(Draw& draw, int length, Row& row) const {
    for (int i = 0; i < length; ++i) row.stand(2 * i), row.say(1 + draw.below(3));
    row.answer(row.tokens.back());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::PastReach, "past_reach", "a test")
