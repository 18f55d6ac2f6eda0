// A string, to be written backwards.
//
//   begin x_1 ... x_n ask x_n ... x_1
//
// Source: Kazemnejad et al. 2023, arXiv:2305.19466.
#include <common/task.hpp>

#include <algorithm>

namespace sextant::plugins {
struct Reverse : OfString {
  static constexpr char const* summary = "a string, to be written backwards";
  static constexpr char const* formula = "begin x_1 ... x_n ask x_n ... x_1";

  static auto schema() { return string_schema<Reverse>(); }
  static std::vector<Example> examples() { return string_examples(); }
  void fill(Draw& draw, int length, Row& row) const {
    auto const string = draw_string(draw, length, alphabet);
    auto image = string;
    std::reverse(image.begin(), image.end());
    put(row, string, image);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Reverse, "reverse", "arXiv:2305.19466")
