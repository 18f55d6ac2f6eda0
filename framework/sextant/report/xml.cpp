#include <sextant/report/text.hpp>
#include <sextant/report/xml.hpp>

namespace sextant::report {

void Xml::open(std::string const& name, Attributes const& attributes) {
  out_ += "<" + name;
  for (auto const& [key, value] : attributes)
    if (!key.empty()) out_ += " " + key + "=\"" + escape_xml(value) + "\"";
}

Xml::Scope Xml::element(std::string const& name, Attributes const& attributes) {
  open(name, attributes);
  out_ += ">";
  return Scope(*this, name);
}

void Xml::text(std::string const& name, Attributes const& attributes, std::string_view content) {
  auto const scope = element(name, attributes);
  text(content);
}

void Xml::leaf(std::string const& name, Attributes const& attributes) {
  open(name, attributes);
  out_ += "/>";
}

void Xml::void_element(std::string const& name, Attributes const& attributes) {
  open(name, attributes);
  out_ += ">";
}

void Xml::text(std::string_view content) { out_ += escape_xml(content); }

}  // namespace sextant::report
