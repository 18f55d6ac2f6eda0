// Faults of quantities and tests as messages of the document that holds them.
#pragma once
#include <sextant/claims/expression.hpp>
#include <sextant/spec/node.hpp>

namespace sextant::spec {

/// Throws Error: what is wrong with the text of `node`, at line and column of the word. `source` is the whole document.
[[noreturn]] void refuse(Node const& node, std::string const& path, claims::Fault const& fault,
                         std::string const& source);

}  // namespace sextant::spec
