// Writes markup that is balanced and escaped by construction, for HTML and SVG alike.
//
//   Xml out;
//   { auto g = out.element("g", {{"class", "axis"}}); out.leaf("path", {{"d", path}}); }   // </g> at the brace
#pragma once
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sextant::report {

/// Attributes in order; values are escaped when written. An empty name is left out, so that one can be conditional.
using Attributes = std::vector<std::pair<std::string, std::string>>;

class Xml {
 public:
  class Scope {
   public:
    Scope(Xml& xml, std::string name) : xml_(&xml), name_(std::move(name)) {}
    Scope(Scope&& other) noexcept : xml_(std::exchange(other.xml_, nullptr)), name_(std::move(other.name_)) {}
    Scope& operator=(Scope&&) = delete;
    ~Scope() {
      if (xml_) xml_->out_ += "</" + name_ + ">";
    }

   private:
    Xml* xml_;
    std::string name_;
  };

  [[nodiscard]] Scope element(std::string const& name, Attributes const& attributes = {});
  /// An element that holds only text, which is escaped.
  void text(std::string const& name, Attributes const& attributes, std::string_view content);
  /// SVG's empty elements, written <name .../>.
  void leaf(std::string const& name, Attributes const& attributes);
  /// HTML's void elements (meta, link, input), written <name ...>.
  void void_element(std::string const& name, Attributes const& attributes);
  void text(std::string_view content);  ///< escaped
  void raw(std::string_view markup) { out_ += markup; }
  void line() { out_ += '\n'; }
  std::string const& str() const& { return out_; }
  std::string str() && { return std::move(out_); }

 private:
  void open(std::string const& name, Attributes const& attributes);
  std::string out_;
};

}  // namespace sextant::report
