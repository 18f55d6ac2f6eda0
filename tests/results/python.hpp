// A python3 that has h5py, to read what we write and to write what we read.
#pragma once
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>

#include "scratch.hpp"

namespace sextant::test {

/// Exit status and what a shell command prints.
inline std::pair<int, std::string> shell(std::string const& command) {
  std::string out;
  FILE* const pipe = ::popen((command + " 2>&1").c_str(), "r");
  REQUIRE(pipe);
  char block[4096];
  for (std::size_t got; (got = std::fread(block, 1, sizeof block, pipe)) > 0;) out.append(block, got);
  return {::pclose(pipe), out};
}

/// Runs tests/results/<script> with one argument and returns what it prints. Skips the test when no python3 has h5py,
/// fails it when the script does.
inline std::string python(std::string const& script, fs::path const& argument) {
  for (char const* const candidate : {"python3", "/usr/bin/python3"}) {
    if (shell(text(candidate, " -c 'import h5py'")).first != 0) continue;
    fs::path const file = fs::path(std::getenv("SEXTANT_SOURCE")) / "tests/results" / script;
    auto const [status, out] = shell(text(candidate, " '", file.string(), "' '", argument.string(), "'"));
    INFO(out);
    REQUIRE(status == 0);
    return out;
  }
  SKIP("no python3 with h5py: install python3-h5py");
  return "";
}

}  // namespace sextant::test
