#include <sextant/base/error.hpp>
#include <sextant/encoding/choice_text.hpp>

namespace sextant::encoding {

std::string text_of(Choice const& choice) {
  std::vector<std::string> inside;
  for (auto const& [name, value] : choice.options) inside.push_back(name + ": " + to_text(value));
  std::vector<std::string> parts;
  for (auto const& part : choice.parts) parts.push_back(text_of(part));
  if (!parts.empty()) inside.push_back("parts: [" + join(parts) + "]");
  return inside.empty() ? choice.use : choice.use + " {" + join(inside) + "}";
}

}  // namespace sextant::encoding
