// Whether a string of bits has an odd number of ones.
//
//   begin b_1 ... b_n ask (b_1 + ... + b_n mod 2)
//
// Source: Kazemnejad et al., "The Impact of Positional Encoding on Length Generalization in Transformers", arXiv:2305.19466.
#include <common/task.hpp>

#include <numeric>

namespace sextant::plugins {
struct Parity : ByLengths {
  static constexpr char const* summary = "whether a string of bits has an odd number of ones";
  static constexpr char const* formula = "begin b_1 ... b_n ask (b_1 + ... + b_n mod 2)";
  static constexpr char const* length_means = "bits";

  static auto schema() { return task_schema<Parity>(); }
  static std::vector<Example> examples() { return {{{{"lengths", std::vector<double>{4, 20}}}, {}}}; }
  int vocabulary() const { return first_symbol + 2; }
  int row_length(int length) const { return length + 3; }
  void fill(Draw& draw, int length, Row& row) const {
    auto const bits = draw_string(draw, length, 2);
    row.say(begin_token);
    say_all(row, bits);
    row.say(ask_token);
    row.answer(first_symbol + std::accumulate(bits.begin(), bits.end(), 0) % 2);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Parity, "parity", "arXiv:2305.19466")
