// A key and its value somewhere in random symbols, beside other pairs; the key is asked for at the end.
//
//   begin x_1 ... mark k v ... mark k' v' ... x_n ask k [v]
//
// Source: Hsieh et al., "RULER: What's the Real Context Size of Your Long-Context Language Models?", arXiv:2404.06654,
// section 3.1 (multi-key), in symbols instead of English.
#include <common/task.hpp>

#include <algorithm>

namespace sextant::plugins {
struct Needle : ByLengths {
  int alphabet = 32, keys = 32, values = 32, distractors = 3;
  static constexpr char const* summary = "a key and its value somewhere in random symbols, beside other pairs";
  static constexpr char const* formula = "begin x_1 ... mark k v ... mark k' v' ... x_n ask k [v]";
  static constexpr char const* length_means = "random symbols";
  static constexpr bool by_depth = true;
  static constexpr int mark = first_symbol;

  static auto schema() {
    return task_schema<Needle>()
        .option("alphabet", &Needle::alphabet, "different symbols of the text", at_least(2))
        .option("keys", &Needle::keys, "different keys", at_least(1))
        .option("values", &Needle::values, "different values", at_least(2))
        .option("distractors", &Needle::distractors, "pairs that are not asked for", at_least(0));
  }
  static std::vector<Example> examples() {
    return {{{{"lengths", std::vector<double>{4, 64}}}, {}},
            {{{"lengths", std::vector<double>{4, 64}}, {"distractors", std::int64_t{0}}}, {}}};
  }
  int vocabulary() const { return mark + 1 + alphabet + keys + values; }
  int row_length(int length) const { return length + 3 * (distractors + 1) + 4; }
  void check(int) const {
    expect(distractors < keys, distractors,
           " distractors and the needle need as many keys, expected fewer distractors than ", keys);
  }
  void fill(Draw& draw, int length, Row& row) const {
    int const text = mark + 1, key = text + alphabet, value = key + keys;
    auto const pair_keys = draw.distinct(distractors + 1, keys);  // the needle's first
    auto const pair_values = draw_string(draw, distractors + 1, values);
    std::vector<int> places = {draw.place(length + 1)};
    for (int n = 0; n < distractors; ++n) places.push_back(draw.below(length + 1));
    row.say(begin_token);
    for (int i = 0; i <= length; ++i) {
      for (std::size_t n = 0; n < places.size(); ++n)
        if (places[n] == i) row.say(mark), row.say(key + pair_keys[n]), row.say(value + pair_values[n]);
      if (i < length) row.say(text + draw.below(alphabet));
    }
    row.say(ask_token);
    row.say(key + pair_keys[0]);
    row.answer(value + pair_values[0]);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Needle, "needle", "arXiv:2404.06654")
