// Multi-query associative recall: every key is asked for once, in random order.
//
//   begin k_1 v_1 ... k_n v_n ask k_p(1) [v_p(1)] ... k_p(n) [v_p(n)]
//
// Source: Arora et al., "Zoology: Measuring and Improving Recall in Efficient Language Models", arXiv:2312.04927.
#include <common/task.hpp>

namespace sextant::plugins {
struct Mqar : ByLengths {
  int keys = 256, values = 32;
  static constexpr char const* summary = "pairs of key and value, then every key asked for once";
  static constexpr char const* formula = "begin k_1 v_1 ... k_n v_n ask k_p(1) [v_p(1)] ...";
  static constexpr char const* length_means = "pairs";

  static auto schema() {
    return task_schema<Mqar>()
        .option("keys", &Mqar::keys, "different keys", at_least(2))
        .option("values", &Mqar::values, "different values", at_least(2));
  }
  static std::vector<Example> examples() {
    return {{{{"lengths", std::vector<double>{1, 16}}}, {}},
            {{{"lengths", std::vector<double>{2, 8}}, {"keys", std::int64_t{8}}, {"values", std::int64_t{2}}}, {}}};
  }
  int vocabulary() const { return first_symbol + keys + values; }
  int row_length(int length) const { return 4 * length + 2; }
  void check(int length) const { expect(length <= keys, length, " pairs need as many keys, expected at most ", keys); }
  void fill(Draw& draw, int length, Row& row) const {
    auto const key = draw.distinct(length, keys), value = draw_string(draw, length, values);
    row.say(begin_token);
    for (std::size_t n = 0; n < key.size(); ++n) {
      row.say(first_symbol + key[n]);
      row.say(first_symbol + keys + value[n]);
    }
    row.say(ask_token);
    for (int const n : draw.distinct(length, length)) {
      row.say(first_symbol + key[static_cast<std::size_t>(n)]);
      row.answer(first_symbol + keys + value[static_cast<std::size_t>(n)]);
    }
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Mqar, "mqar", "arXiv:2312.04927")
