// A string, to be copied.
//
//   begin x_1 ... x_n ask x_1 ... x_n
//
// Source: Kazemnejad et al. 2023, arXiv:2305.19466.
#include <common/task.hpp>

namespace sextant::plugins {
struct Copy : OfString {
  static constexpr char const* summary = "a string, to be copied";
  static constexpr char const* formula = "begin x_1 ... x_n ask x_1 ... x_n";

  static auto schema() { return string_schema<Copy>(); }
  static std::vector<Example> examples() { return string_examples(); }
  void fill(Draw& draw, int length, Row& row) const {
    auto const string = draw_string(draw, length, alphabet);
    put(row, string, string);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Copy, "copy", "arXiv:2305.19466")
