// The gallery: what it says of studies, and that the one of the repository is made of the studies that stand beside it.
#include "markup.hpp"
#include "study_file.hpp"

#include <sextant/report/gallery.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cctype>
#include <cmath>
#include <map>
#include <set>

#include "support/process.hpp"

using namespace sextant;
using Catch::Matchers::ContainsSubstring;

namespace {
constexpr char const* mend = "mend with: rm -rf docs/gallery && sextant gallery experiments -o docs/gallery";

/// Every file below a folder, by its path from there.
std::map<std::string, std::string> files_of(fs::path const& folder) {
  std::map<std::string, std::string> out;
  if (!fs::exists(folder)) return out;
  for (auto const& entry : fs::recursive_directory_iterator(folder))
    if (entry.is_regular_file())
      out[entry.path().lexically_relative(folder).generic_string()] = read_file(entry.path());
  return out;
}

/// The number that a text goes on with, and how far another machine's rounding may move it: one and a half of its last
/// printed decimal, where it has any.
struct Printed {
  double value = 0, slack = 0;
  std::size_t size = 0;
};
Printed printed_at(std::string const& page, std::size_t at) {
  auto const digit = [&](std::size_t i) {
    return i < page.size() && std::isdigit(static_cast<unsigned char>(page[i]));
  };
  Printed out;
  std::size_t end = at;
  while (digit(end)) ++end;
  if (end == at || end - at > 15) return out;  // no number, or a hash
  int decimals = 0;
  if (end < page.size() && page[end] == '.' && digit(end + 1))
    for (++end; digit(end); ++end) ++decimals;
  out.size = end - at;
  out.value = std::stod(page.substr(at, out.size));
  if (decimals > 0) out.slack = std::max(1.5 * std::pow(10.0, -decimals), 1e-9 * out.value);
  return out;
}

/// Equal to the letter, and in numbers to the rounding of their last digit: processors sum in different orders.
bool same_page(std::string const& a, std::string const& b) {
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    Printed const x = printed_at(a, i), y = printed_at(b, j);
    if (x.size > 0 && y.size > 0) {
      if (std::abs(x.value - y.value) > std::max(x.slack, y.slack)) return false;
      i += x.size, j += y.size;
    } else if (a[i++] != b[j++]) {
      return false;
    }
  }
  return i == a.size() && j == b.size();
}

/// The study files of a folder of experiments, in a folder of the same shape.
int copy_studies(fs::path const& experiments, fs::path const& to) {
  int count = 0;
  for (auto const& entry : fs::directory_iterator(experiments)) {
    if (!fs::exists(entry.path() / "study.h5")) continue;
    fs::create_directories(to / entry.path().filename());
    fs::copy_file(entry.path() / "study.h5", to / entry.path().filename() / "study.h5");
    ++count;
  }
  return count;
}

/// What is wrong with ROOT/docs/gallery, a line each: files that ROOT/experiments/*/study.h5 do not give, that they give and
/// that are missing, or that differ. The gallery is made again elsewhere, by the program.
std::vector<std::string> faults_of_gallery(fs::path const& root) {
  test::TempFolder const again;
  std::map<std::string, std::string> made;
  if (copy_studies(root / "experiments", again / "experiments") > 0) {
    std::string const out = (again / "docs/gallery").string();
    auto const ended = test::sextant_program({"gallery", (again / "experiments").string(), "-o", out});
    INFO(ended.output);
    REQUIRE(ended.status == 0);
    made = files_of(out);
  }
  auto const kept = files_of(root / "docs/gallery");
  std::vector<std::string> out;
  for (auto const& [name, content] : made) {
    auto const at = kept.find(name);
    if (at == kept.end())
      out.push_back(text("docs/gallery/", name, " is missing; ", mend));
    else if (!same_page(at->second, content))
      out.push_back(text("docs/gallery/", name, " is not what experiments/*/study.h5 give; ", mend));
  }
  for (auto const& item : kept)
    if (!made.contains(item.first))
      out.push_back(text("docs/gallery/", item.first, " comes from no experiments/*/study.h5; ", mend));
  return out;
}

/// A repository with studies of these names in it, and their gallery.
void write_root(fs::path const& root, std::vector<std::string> const& names) {
  for (auto const& name : names) {
    fs::create_directories(root / "experiments" / name);
    results::write_file(root / "experiments" / name / "study.h5", test::study_file(name));
  }
  REQUIRE(test::sextant_program({"gallery", (root / "experiments").string(), "-o", (root / "docs/gallery").string()})
              .status == 0);
}

std::vector<std::string> lines_of(std::string const& text) {
  std::vector<std::string> out;
  for (auto const line : report::lines_of(text)) out.emplace_back(line);
  return out;
}
}  // namespace

TEST_CASE("gallery: docs/gallery is what experiments/*/study.h5 give", "[report][gallery]") {
  fs::path const root = std::getenv("SEXTANT_SOURCE");
  auto const faults = faults_of_gallery(root);
  for (auto const& fault : faults) UNSCOPED_INFO(fault);
  CHECK(faults.empty());
  if (faults.empty() && !fs::exists(root / "docs/gallery"))
    WARN("no experiment has a study.h5 yet: there is nothing to show, and no docs/gallery");
}

TEST_CASE("gallery: a missing, a stale and an altered page are named with what mends them", "[report][gallery]") {
  test::TempFolder const folder;
  fs::path const root = folder.path(), shown = root / "docs/gallery";
  fs::create_directories(root / "experiments/planned");  // a spec alone has no page
  CHECK(faults_of_gallery(root).empty());
  write_root(root, {"one", "two"});
  REQUIRE(faults_of_gallery(root).empty());

  CHECK(same_page("loss 1.2345, x 12.3", "loss 1.2346, x 12.4"));
  CHECK_FALSE(same_page("loss 1.2345", "loss 1.2347"));
  CHECK_FALSE(same_page("of 12 seeds", "of 13 seeds"));
  CHECK_FALSE(same_page("loss 1.2", "loss 1.2 nat"));
  write_file_atomically(shown / "one.html", read_file(shown / "one.html") + " ");
  fs::remove(shown / "two.svg");
  write_file_atomically(shown / "three.html", "left over");
  CHECK(faults_of_gallery(root) ==
        std::vector<std::string>{text("docs/gallery/one.html is not what experiments/*/study.h5 give; ", mend),
                                 text("docs/gallery/two.svg is missing; ", mend),
                                 text("docs/gallery/three.html comes from no experiments/*/study.h5; ", mend)});
  write_root(root, {});
  fs::remove(shown / "three.html");
  REQUIRE(faults_of_gallery(root).empty());
  fs::remove_all(root / "experiments/two");  // a page without a study, and an index that tells of it
  auto const faults = faults_of_gallery(root);
  REQUIRE(faults.size() == 4);
  CHECK_THAT(faults[0], ContainsSubstring("README.md is not what"));
  CHECK_THAT(faults[1], ContainsSubstring("index.html is not what"));
  CHECK_THAT(faults[2], ContainsSubstring("two.html comes from no"));
  fs::remove_all(shown);
  CHECK(faults_of_gallery(root).size() == 4);  // a study without a page
}

TEST_CASE("gallery: no place of the machine and no moment of writing is in it", "[report][gallery]") {
  test::TempFolder const folder;
  fs::path const root = folder.path();
  write_root(root, {"one"});
  for (auto const& [name, content] : files_of(root / "docs/gallery")) {
    INFO(name);
    CHECK_THAT(content, !ContainsSubstring(root.string()) && !ContainsSubstring("/home/somebody"));
  }
  auto const page = read_file(root / "docs/gallery/one.html");
  CHECK_THAT(page, ContainsSubstring("../../experiments/one/study.h5"));
  CHECK_THAT(page, ContainsSubstring("sextant run --set=data.corpus=a.txt") && ContainsSubstring("rope.so"));
}

TEST_CASE("gallery: numbers of a study's page are those of its file, read without the report", "[report][gallery]") {
  test::TempFolder const folder;
  fs::path const root = folder.path();
  write_root(root, {"one"});
  auto const file = results::read_file(root / "experiments/one/study.h5");
  std::map<std::pair<std::string, std::int64_t>, double> mean;  // of two seeds
  auto const& columns = file.group("summary/results");
  auto const values = columns.numbers("value");
  for (std::size_t n = 0; n < values.size(); ++n)
    mean[{columns.texts("encoding")[n], columns.integers("length")[n]}] += values[n] / 2;
  REQUIRE(mean.size() == 4);

  auto const markup = test::parse_markup(read_file(root / "docs/gallery/one.html"), true);
  CHECK(markup.faults == std::vector<std::string>{});
  std::vector<std::string> tables, csv;
  for (auto const& element : markup.elements) {
    if (element.name == "tr") tables.push_back(element.text);
    if (element.name == "pre" && element.text.starts_with("study,")) csv = lines_of(element.text);
  }
  for (std::string const encoding : {"rope", "alibi"}) {
    auto const row =
        std::find_if(tables.begin(), tables.end(), [&](auto const& text) { return text.starts_with(encoding); });
    REQUIRE(row != tables.end());
    for (std::int64_t const length : {256, 1024}) {
      double const value = mean[{encoding, length}];
      CHECK_THAT(*row, ContainsSubstring(fmt::format("{:.3f}", value)));
      bool found = false;
      for (auto const& line : csv) {
        if (line.find(fmt::format(",{},none,lm_loss,mean,loss,{},", encoding, length)) == std::string::npos) continue;
        std::vector<std::string> cells;
        for (std::size_t from = 0; from <= line.size();) {
          std::size_t const to = std::min(line.find(',', from), line.size());
          cells.push_back(line.substr(from, to - from));
          from = to + 1;
        }
        found = true;
        CHECK(std::abs(std::stod(cells.at(10)) - value) < 1e-15 * 8);
      }
      CHECK(found);
    }
  }
  // Verdicts and effects, as their columns have them.
  auto const& claims = file.group("summary/claims");
  auto const effects = claims.numbers("effect");
  auto const items = markup.with_class("claim");
  REQUIRE(items.size() == effects.size());
  for (std::size_t n = 0; n < effects.size(); ++n) {
    CHECK_THAT(items[n].text, ContainsSubstring(claims.texts("verdict")[n]));
    CHECK_THAT(items[n].text, ContainsSubstring(fmt::format("{:.3f}", std::abs(effects[n]))));
  }
  // Cells of the maps: exact_by_depth is [length, depth]; at 1024 and 25 %, seeds give 0.25 and 0.75.
  auto const passkeys = report::make_maps(report::load_study(root / "experiments/one/study.h5"), "needle_grid");
  REQUIRE(passkeys.groups.size() == 2);
  CHECK(passkeys.groups[0].panels[0].value == std::vector<double>{1, 0.5, 0.5, 0});
  CHECK(passkeys.groups[0].panels[0].words == std::vector<std::string>{"100", "50", "50", "0"});
}

TEST_CASE("gallery: a study's name may hold any character; its files, ids and links do not", "[report][gallery]") {
  report::StudyView study;
  study.name = "extend a/b 8k";
  auto const files = report::gallery({{study, ""}});
  CHECK(files.contains("extend-a-b-8k.html"));
  auto const markup = test::parse_markup(files.at("index.html"), true);
  CHECK(markup.named("figure").at(0).attributes.at("id") == "study-extend-a-b-8k");
  study.name = "extend a b 8k";  // the same file
  CHECK_THROWS_WITH(report::gallery({{study, ""}, {{.name = "extend-a-b-8k"}, ""}}),
                    ContainsSubstring("expected a name of its own"));
}

TEST_CASE("gallery: claims stand in the order of their sources, the sixth before the sixteenth, those without last",
          "[report][gallery]") {
  test::TempFolder const folder;
  fs::path const root = folder.path();
  write_root(root, {"b", "a"});
  auto const markup = test::parse_markup(read_file(root / "docs/gallery/index.html"), true);
  CHECK(markup.faults == std::vector<std::string>{});
  std::vector<std::string> order;
  for (auto const& element : markup.elements)
    if ((element.name == "h3" && !element.text.starts_with("Made-up")) || element.has_class("claim"))
      order.push_back(element.name == "h3" ? element.text : element.attributes.at("id"));
  CHECK(order == std::vector<std::string>{"000-6 (line 61)", "a-early", "b-early", "000-16 (line 9)", "a-late",
                                          "a-twin", "b-late", "b-twin", "Of the studies themselves", "a-a-own",
                                          "b-b-own"});
  auto const jumps = markup.with_class("jumps");
  REQUIRE(jumps.size() == 1);
  CHECK(jumps[0].text ==
        "000-6 (line 61)of 2, 2 fail000-16 (line 9)of 4, 2 hold, 2 failOf the studies themselvesof 2, 2 hold");
  auto const readme = read_file(root / "docs/gallery/README.md");
  CHECK(readme.find("| 000-6 (line 61) | It says early | fails |") <
        readme.find("| 000-16 (line 9) | It says late | holds |"));
  CHECK(readme.find("| 000-16 (line 9) |") < readme.find("It says a-own"));
}
