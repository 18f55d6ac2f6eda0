#include <sextant/base/file.hpp>
#include <sextant/spec/reference.hpp>

#include <catch2/catch_test_macros.hpp>
#include <cstdlib>

namespace sextant {
TEST_CASE("reference: docs/spec.md holds what the schema says", "[spec][docs]") {
  std::string const page = read_file(fs::path(std::getenv("SEXTANT_SOURCE")) / "docs/spec.md");
  std::string const begin = "<!-- written by `sextant describe spec` -->\n\n", end = "\n<!-- end -->\n";
  auto const from = page.find(begin), to = page.find(end);
  REQUIRE(from != std::string::npos);
  REQUIRE(to != std::string::npos);
  CHECK(page.substr(from + begin.size(), to - from - begin.size()) == spec::spec_reference());
}
}  // namespace sextant
