// The pages beside the plugins say what the schemas say.
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/encoding/registry.hpp>

#include <catch2/catch_all.hpp>

#include <cstdlib>

using namespace sextant;
using encoding::Registry;
using encoding::Role;

TEST_CASE("readme: every plugin's page lists each option with its default, and no other", "[encoding][docs]") {
  fs::path const source = std::getenv("SEXTANT_SOURCE");
  int pages = 0;
  for (Role role : encoding::all_roles)
    for (auto const& name : Registry::global().names(role)) {
      std::string const page = read_file(source / "plugins" / name / "README.md");
      ++pages;
      INFO(name);
      auto const& about = Registry::global().describe(role, name);
      CHECK(page.starts_with("# " + name + ": "));
      CHECK_THAT(page, Catch::Matchers::ContainsSubstring("Source: "));
      std::size_t rows = 0;
      for (std::size_t at = page.find("\n| `"); at != std::string::npos; at = page.find("\n| `", at + 1)) ++rows;
      CHECK(rows == about.options.size());
      for (auto const& option : about.options) {
        std::string const fallback = option.fallback ? to_text(*option.fallback) : "";
        std::string const shown = !option.fallback ? "required" : fallback;
        INFO(option.name << " defaults to " << shown);
        CHECK(page.find("| `" + option.name + "` | " + shown + " |") != std::string::npos);
      }
    }
  CHECK(pages >= 14);
}
