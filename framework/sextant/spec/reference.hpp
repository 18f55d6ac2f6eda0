// The format of a spec in words, from the tables that read it: `sextant describe spec` and docs/spec.md cannot go stale.
#pragma once
#include <string>

namespace sextant::spec {

/// Markdown: a table of keys for every block, with kind, range, unit, default and meaning.
std::string spec_reference();

}  // namespace sextant::spec
