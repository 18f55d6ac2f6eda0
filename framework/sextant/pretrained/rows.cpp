#include <sextant/base/error.hpp>
#include <sextant/pretrained/rows.hpp>

#include <algorithm>

namespace sextant::pretrained {

void neighbours_to_halves(std::vector<float>& values, std::size_t width, int head_dim, int rotary_dim) {
  std::size_t const head = static_cast<std::size_t>(head_dim) * width;
  expect(rotary_dim % 2 == 0 && rotary_dim <= head_dim && values.size() % head == 0, "import: ", values.size(),
         " values are no heads of ", head_dim, " rows of ", width, " with ", rotary_dim, " channels that turn");
  std::vector<float> turned(static_cast<std::size_t>(rotary_dim) * width);
  for (auto at = values.begin(); at != values.end(); at += static_cast<std::ptrdiff_t>(head)) {
    for (int row = 0; row < rotary_dim; ++row)
      std::copy_n(at + static_cast<std::ptrdiff_t>(row * width), width,
                  turned.begin() + static_cast<std::ptrdiff_t>((row / 2 + row % 2 * (rotary_dim / 2)) * width));
    std::copy(turned.begin(), turned.end(), at);
  }
}

}  // namespace sextant::pretrained
