// A made-up study file as `sextant export` writes one, for tests that read what was written. Every number is invented.
#pragma once
#include <sextant/results/tree.hpp>

#include <string>

namespace sextant::test {

/// Two arms, two seeds, two lengths, a passkey by depth, attention by head, and claims with sources out of order.
results::Group study_file(std::string const& name);

}  // namespace sextant::test
