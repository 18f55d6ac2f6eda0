#include <sextant/base/error.hpp>
#include <sextant/spec/fault.hpp>

namespace sextant::spec {
namespace {
// Where byte `offset` of a scalar stands in the source: folding and quotes took line breaks, indentation and marks away,
// everything else is there in order.
Place inside(Node const& scalar, std::size_t offset, std::string const& source) {
  Place place = scalar.place;
  std::size_t at = 0;
  for (int line = 1; line < place.line && at < source.size(); ++line) at = source.find('\n', at) + 1;
  at += static_cast<std::size_t>(place.column - 1);
  auto const step = [&] {
    place.column = source[at] == '\n' ? 1 : place.column + 1;
    place.line += source[at] == '\n';
    ++at;
  };
  if (at < source.size() && (source[at] == '>' || source[at] == '|'))
    while (at < source.size() && source[at] != '\n') step();
  auto const blank = [](char c) { return c == ' ' || c == '\n' || c == '\r'; };
  for (std::size_t k = 0; k <= offset && k < scalar.text.size(); ++k) {
    if (blank(scalar.text[k])) continue;
    if (k > 0 && at < source.size() && source[at] != scalar.text[k]) step();
    while (at < source.size() && source[at] != scalar.text[k]) step();
    if (k == offset) break;
  }
  if (offset >= scalar.text.size() && at < source.size()) step();
  return place;
}
}  // namespace

void refuse(Node const& node, std::string const& path, claims::Fault const& fault, std::string const& source) {
  if (node.place.line > 0) fail(inside(node, fault.at, source).text(), ": ", path, ": ", fault.what());
  fail(node.place.text(), ": ", path, ": at character ", fault.at + 1, ": ", fault.what());
}

}  // namespace sextant::spec
