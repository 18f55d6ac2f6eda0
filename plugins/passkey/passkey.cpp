// A key of some digits, told once within filler that repeats one pattern, and asked for at the end.
//
//   begin f_1 ... f_m mark d_1 ... d_k f_m+1 ... f_n ask [d_1 ... d_k]
//
// Source: Mohtashami and Jaggi, "Landmark Attention", arXiv:2305.16300, section 4.2, in symbols instead of English.
#include <common/task.hpp>

namespace sextant::plugins {
struct Passkey : ByLengths {
  int digits = 5, pattern = 16;
  static constexpr char const* summary = "digits told once within filler that repeats, asked for at the end";
  static constexpr char const* formula = "begin f_1 ... f_m mark d_1 ... d_k f_m+1 ... f_n ask [d_1 ... d_k]";
  static constexpr char const* length_means = "tokens of filler";
  static constexpr bool by_depth = true;
  static constexpr int mark = first_symbol + 10, filler = mark + 1;

  static auto schema() {
    return task_schema<Passkey>()
        .option("digits", &Passkey::digits, "of the key", at_least(1))
        .option("pattern", &Passkey::pattern, "tokens after which the filler repeats", at_least(1));
  }
  static std::vector<Example> examples() { return {{{{"lengths", std::vector<double>{4, 64}}}, {}}}; }
  int vocabulary() const { return filler + pattern; }
  int row_length(int length) const { return length + 2 * digits + 3; }
  void fill(Draw& draw, int length, Row& row) const {
    int const place = draw.place(length + 1);
    auto const key = draw_string(draw, digits, 10);
    row.say(begin_token);
    for (int i = 0; i <= length; ++i) {
      if (i == place) {
        row.say(mark);
        say_all(row, key);
      }
      if (i < length) row.say(filler + i % pattern);
    }
    row.say(ask_token);
    answer_all(row, key);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Passkey, "passkey", "arXiv:2305.16300")
