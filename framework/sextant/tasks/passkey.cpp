#include <sextant/base/error.hpp>
#include <sextant/tasks/passkey.hpp>

#include <cmath>

namespace sextant::tasks {

std::string passkey_told(int key) {
  return text("\nThe pass key is ", key, ". Remember it. ", key, " is the pass key.\n");
}
std::string passkey_asked() { return "\nWhat is the pass key? The pass key is"; }
std::string passkey_answer(int key) { return text(" ", key); }

std::vector<std::int32_t> hide(std::span<std::int32_t const> hay, double depth, std::vector<std::int32_t> const& told,
                               std::vector<std::int32_t> const& asked, std::vector<std::int32_t> const& answer) {
  auto const before = static_cast<std::size_t>(std::llround(depth * static_cast<double>(hay.size())));
  std::vector<std::int32_t> out(hay.begin(), hay.begin() + static_cast<std::ptrdiff_t>(before));
  out.insert(out.end(), told.begin(), told.end());
  out.insert(out.end(), hay.begin() + static_cast<std::ptrdiff_t>(before), hay.end());
  out.insert(out.end(), asked.begin(), asked.end());
  out.insert(out.end(), answer.begin(), answer.end());
  return out;
}

}  // namespace sextant::tasks
