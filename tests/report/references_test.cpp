#include <sextant/base/error.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/report/references.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>
#include <sextant/base/json.hpp>

namespace sextant {
namespace {
using Catch::Matchers::ContainsSubstring;

TEST_CASE("references: every source that a registered plugin states has its entries, and nothing of it is left over",
          "[report][cite]") {
  auto const& registry = encoding::Registry::global();
  int plugins = 0;
  for (auto const role : encoding::all_roles)
    for (auto const& name : registry.names(role)) {
      auto const& source = registry.describe(role, name).source;
      INFO(name << ": " << source);
      auto const resolved = report::resolve(source);
      CHECK_FALSE(resolved.found.empty());
      CHECK(resolved.rest.empty());
      ++plugins;
    }
  CHECK(plugins > 0);
}

TEST_CASE("references: keys and identifiers are told apart, and entries have what a bibliography needs",
          "[report][cite]") {
  std::set<std::string> keys, ids;
  for (auto const& reference : report::references()) {
    INFO(reference.key);
    CHECK(keys.insert(reference.key).second);
    for (auto const& id : reference.ids) CHECK(ids.insert(id).second);
    for (char const* field : {"author", "title", "year"}) CHECK_THAT(reference.bibtex, ContainsSubstring(field));
    CHECK(std::count(reference.bibtex.begin(), reference.bibtex.end(), '{') ==
          std::count(reference.bibtex.begin(), reference.bibtex.end(), '}'));
    CHECK(reference.bibtex.find("sources") == std::string::npos);
  }
  // arXiv numbers are year and month: no paper can be older than its number.
  for (auto const& id : ids)
    if (id.starts_with("arXiv:")) CHECK((std::stoi(id.substr(8, 2)) >= 1 && std::stoi(id.substr(8, 2)) <= 12));
}

TEST_CASE("references: a source may name several, and a number is not found inside a longer one", "[report][cite]") {
  auto const two = report::resolve("kexue.fm/archives/8823, arXiv:2202.12172");
  CHECK(two.found.size() == 2);
  CHECK(two.rest.empty());
  CHECK(report::resolve("arXiv:2309.000712").found.empty());
  CHECK(report::resolve("Peng et al., YaRN, arXiv:2309.00071").found.at(0)->key == "peng2023yarn");
  CHECK(report::resolve("my notebook").rest == "my notebook");
}

TEST_CASE("references: a bibliography has every entry once with who uses it, and says what it does not know",
          "[report][cite]") {
  std::vector<report::Cited> const cited{
      {"ntk", "arXiv:2309.00071"}, {"yarn", "arXiv:2309.00071"}, {"mine", "a notebook"}};
  std::string const bib = report::bibliography(cited);
  CHECK_THAT(bib, ContainsSubstring("% ntk, yarn\n@misc{peng2023yarn,"));
  CHECK(bib.find("peng2023yarn") == bib.rfind("peng2023yarn"));
  CHECK_THAT(bib, ContainsSubstring("% mine: no entry for a notebook"));
  auto const json = nlohmann::json::parse(report::bibliography_json(cited));
  CHECK(json.size() == 2);
  CHECK(json[0]["used_by"] == nlohmann::json({"ntk", "yarn"}));
  CHECK(json[1]["source"] == "a notebook");
}

TEST_CASE("references: an entry that is cut short or cannot be found by anything is refused", "[report][cite]") {
  CHECK_THROWS_AS(report::read_references("@misc{a,\n  title = {x},\n"), Error);
  CHECK_THROWS_AS(report::read_references("@misc{a,\n  title = {x}\n}\n"), Error);
  CHECK_THROWS_AS(report::read_references("@misc{a,\n  eprint = {1},\n@misc{b,\n}\n"), Error);
  CHECK(report::read_references("% words\n@misc{a,\n  eprint = {1}\n}\n").at(0).ids.at(0) == "arXiv:1");
}
}  // namespace
}  // namespace sextant
