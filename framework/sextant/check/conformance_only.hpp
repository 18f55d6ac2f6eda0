// Which checks of a table are asked for.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/check/conformance.hpp>

#include <algorithm>

namespace sextant::check {

inline bool wants(ConformanceSettings const& settings, std::string const& check) {
  auto const& only = settings.only;
  return only.empty() || std::find(only.begin(), only.end(), check) != only.end();
}

/// Throws Error where others than the `known` are asked for.
inline void expect_known(ConformanceSettings const& settings, std::vector<std::string> const& known) {
  for (auto const& wanted : settings.only)
    expect(std::find(known.begin(), known.end(), wanted) != known.end(), "there is no check ", wanted,
           did_you_mean(wanted, known));
}

}  // namespace sextant::check
