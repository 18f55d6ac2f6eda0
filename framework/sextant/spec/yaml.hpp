// YAML text -> Node. The only file that includes yaml-cpp is this header's .cpp.
#pragma once
#include <sextant/spec/node.hpp>

#include <string>

namespace sextant::spec {

/// Reads one document. Beyond YAML's own rules, refused with place and key path: a key given twice (both lines are
/// named), tabs in the indentation, anchors, aliases and tags, several documents, an empty text.
Node parse_yaml(std::string const& text, std::string const& source);

}  // namespace sextant::spec
