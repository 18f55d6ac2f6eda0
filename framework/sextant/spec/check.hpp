// What one field alone cannot tell: whether the values of a spec fit together.
#pragma once
#include <sextant/spec/schema.hpp>

namespace sextant::spec {

/// Settles what follows from several fields (train.rows) and throws Error where they contradict each other.
void check_document(Document& document, Node const& root);

/// Study names and plain file names: letters, digits, - and _.
bool is_slug(std::string const& text);

}  // namespace sextant::spec
