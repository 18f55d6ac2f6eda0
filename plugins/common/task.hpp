// What tasks of this folder share: the tokens that are no symbols, and rows of a string, a question and its answer.
#pragma once
#include <sextant/plugin.hpp>

namespace sextant::plugins {

/// Token 0 is padding; symbols begin at 3.
enum Special : int { begin_token = 1, ask_token = 2, first_symbol = 3 };

/// `length` symbols drawn from `alphabet`, each 0 .. alphabet - 1.
inline std::vector<int> draw_string(Draw& draw, int length, int alphabet) {
  std::vector<int> out;
  for (int i = 0; i < length; ++i) out.push_back(draw.below(alphabet));
  return out;
}
inline void say_all(Row& row, std::vector<int> const& symbols) {
  for (int const symbol : symbols) row.say(first_symbol + symbol);
}
inline void answer_all(Row& row, std::vector<int> const& symbols) {
  for (int const symbol : symbols) row.answer(first_symbol + symbol);
}

/// A string over an alphabet, and its image: begin, the string, ask, the image.
struct OfString : ByLengths {
  int alphabet = 32;
  static constexpr char const* length_means = "symbols of the string";
  int vocabulary() const { return first_symbol + alphabet; }
  int row_length(int length) const { return 2 * length + 2; }
  void put(Row& row, std::vector<int> const& string, std::vector<int> const& image) const {
    row.say(begin_token);
    say_all(row, string);
    row.say(ask_token);
    answer_all(row, image);
  }
};
template <class P>
Schema<P> string_schema() {
  return task_schema<P>().option("alphabet", static_cast<int P::*>(&P::alphabet), "different symbols", at_least(2));
}
inline std::vector<Example> string_examples() {
  return {{{{"lengths", std::vector<double>{3, 9}}, {"alphabet", std::int64_t{2}}}, {}},
          {{{"lengths", std::vector<double>{8, 32}}}, {}}};
}

}  // namespace sextant::plugins
