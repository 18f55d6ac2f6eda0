// A string, its symbols to be put in order.
//
//   begin x_1 ... x_n ask the same symbols, smallest first
//
// Source: Kazemnejad et al. 2023, arXiv:2305.19466.
#include <common/task.hpp>

#include <algorithm>

namespace sextant::plugins {
struct Sort : OfString {
  static constexpr char const* summary = "a string, its symbols to be put in order";
  static constexpr char const* formula = "begin x_1 ... x_n ask the same symbols, smallest first";

  static auto schema() { return string_schema<Sort>(); }
  static std::vector<Example> examples() { return string_examples(); }
  void fill(Draw& draw, int length, Row& row) const {
    auto const string = draw_string(draw, length, alphabet);
    auto image = string;
    std::sort(image.begin(), image.end());
    put(row, string, image);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Sort, "sort", "arXiv:2305.19466")
