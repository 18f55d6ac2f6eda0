#include "made_up_world.hpp"

#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/plan/plan.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <regex>

namespace sextant {
namespace {

std::vector<fs::path> wrong_specs() {
  std::vector<fs::path> files;
  for (auto const& entry : fs::directory_iterator(fs::path(std::getenv("SEXTANT_SOURCE")) / "tests/reject"))
    if (entry.path().extension() == ".yaml") files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  return files;
}

// "# args: --set key=value" or "# args: --tier name" on the first line.
spec::Overrides overrides_of(std::string const& text) {
  spec::Overrides overrides;
  std::smatch found;
  if (std::regex_search(text, found, std::regex("^# args: --set (.*)")))
    overrides.sets.push_back(found[1]);
  else if (std::regex_search(text, found, std::regex("^# args: --tier (.*)")))
    overrides.tier = found[1];
  return overrides;
}

/// The message in a .txt file, "{encodings}" and "{scalings}" standing for the names of all that are loaded.
std::string message_in(fs::path const& file) {
  std::string text = read_file(file);
  if (text.ends_with('\n')) text.pop_back();
  for (auto const& [word, role] :
       {std::pair{"{encodings}", encoding::Role::encoding}, {"{scalings}", encoding::Role::scaling}})
    if (auto const at = text.find(word); at != std::string::npos)
      text.replace(at, std::string(word).size(), join(encoding::Registry::global().names(role)));
  return text;
}

// What a user is told who plans this spec; "" when nothing is wrong with it.
std::string refusal(fs::path const& file) {
  std::string const text = read_file(file);
  try {
    auto const spec = spec::read_spec(text, file.filename().string(), overrides_of(text), encoding::Registry::global());
    auto const plan = plan::make_plan(spec, test::world_with_plugins());
    plan::expect_fits(plan, [](std::string const&) { return false; });
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("reject: every wrong spec is refused with exactly the message beside it", "[spec][plan][R21][R48]") {
  auto const files = wrong_specs();
  CHECK(files.size() >= 90);
  for (auto const& file : files) {
    INFO(file.filename().string());
    CHECK(refusal(file) == message_in(fs::path(file).replace_extension(".txt")));
  }
}

TEST_CASE("reject: a refusal begins with file, line and column, or with the argument, and says what was expected",
          "[spec][plan]") {
  std::regex const place("^(\\w+\\.yaml:[1-9]\\d*:[1-9]\\d*: |--(set|tier) )");
  std::regex const allowed("expected|did you mean|known:|it belongs at|needs|not YAML");
  for (auto const& file : wrong_specs()) {
    std::string const message = refusal(file);
    INFO(file.filename().string() << ": " << message);
    CHECK(std::regex_search(message, place));
    CHECK(std::regex_search(message, allowed));
  }
}
}  // namespace
}  // namespace sextant
