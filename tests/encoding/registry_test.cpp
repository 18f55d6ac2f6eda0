// Finding, loading and refusing plugins.
#include "support/complaint.hpp"

#include <sextant/base/file.hpp>
#include <sextant/encoding/encoding.hpp>
#include <sextant/encoding/plugin_abi.hpp>
#include <sextant/encoding/registry.hpp>

#include <catch2/catch_all.hpp>

#include <unistd.h>
#include <cstring>
#include <fstream>
#include <optional>

using namespace sextant;
using namespace sextant::encoding;
using Catch::Matchers::ContainsSubstring;
using test::complaint;

namespace {
class Folder {
 public:
  explicit Folder(std::string const& name)
      : path_(fs::temp_directory_path() / text("sextant-plugins-", ::getpid(), "-", name)) {
    fs::create_directories(path_);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path operator/(std::string const& name) const { return path_ / name; }
  fs::path const& path() const { return path_; }

 private:
  fs::path path_;
};

fs::path shipped(std::string const& name) { return Registry::global().file_of(Role::encoding, name); }

/// Copies a plugin with bytes changed: the text `from` becomes `to`, `after` bytes further on.
void patch(fs::path const& out, std::string const& from, std::string const& to, std::size_t after = 0) {
  std::string bytes = read_file(shipped("alibi"));
  auto at = bytes.find(from);
  REQUIRE(at != std::string::npos);
  for (; at != std::string::npos; at = bytes.find(from, at + 1)) std::memcpy(&bytes[at + after], to.data(), to.size());
  std::ofstream(out, std::ios::binary) << bytes;
}
std::string const magic("sextant-plugin\0", 15);
}  // namespace

TEST_CASE("registry: a shipped plugin's file is the same wherever it was built: it names no folder",
          "[encoding][registry]") {
  for (char const* name : {"alibi", "rope", "path"}) {
    std::string const bytes = read_file(shipped(name)), build = shipped(name).parent_path().parent_path().string();
    INFO(name << " names " << build);
    CHECK(bytes.find(build) == std::string::npos);
  }
}

TEST_CASE("registry: an unknown name is refused with the nearest, for encodings and scalings apart",
          "[encoding][registry]") {
  auto const& registry = Registry::global();
  CHECK_THAT(complaint([&] { registry.describe(Role::encoding, "ropee"); }),
             ContainsSubstring("there is no encoding ropee; did you mean rope?") && ContainsSubstring("alibi"));
  CHECK_THAT(complaint([&] { registry.describe(Role::scaling, "rope"); }),
             ContainsSubstring("there is no scaling rope"));
  CHECK_FALSE(registry.has(Role::scaling, "rope"));
  CHECK_THAT(complaint([&] { Registry().describe(Role::encoding, "rope"); }), ContainsSubstring("SEXTANT_PLUGIN_PATH"));
}

TEST_CASE("registry: a misspelt option, a wrong value and an absent one name the option and what it takes",
          "[encoding][registry][R17]") {
  auto const& registry = Registry::global();
  CHECK_THAT(
      complaint([&] {
        registry.make_encoding({"alibi", {{"train_slope", true}}, {}});
      }),
      ContainsSubstring("alibi has no option train_slope; did you mean train_slopes (true or false, default false)?"));
  CHECK_THAT(complaint([&] {
               registry.make_encoding({"alibi", {{"slope_scale", -0.5}}, {}});
             }),
             ContainsSubstring("alibi.slope_scale is -0.5, expected a number > 0"));
  CHECK_THAT(complaint([&] {
               registry.make_encoding({"nope", {{"base", 2.0}}, {}});
             }),
             ContainsSubstring("it takes none"));
  CHECK_THAT(complaint([&] {
               registry.make_scaling({"linear", {}, {}});
             }),
             ContainsSubstring("linear needs factor") && ContainsSubstring("target length / trained length"));
  CHECK_THAT(complaint([&] {
               registry.make_scaling({"linear", {{"factor", 0.125}}, {}});
             }),
             ContainsSubstring("linear.factor is 0.125, expected a number >= 1"));
  CHECK_THAT(complaint([&] {
               registry.make_encoding({"rope", {}, {{"alibi", {}, {}}}});
             }),
             ContainsSubstring("rope takes no parts"));
  CHECK_THAT(complaint([&] {
               registry.make_encoding({"direct_sum", {{"shares", std::vector<double>{1}}}, {}});
             }),
             ContainsSubstring("direct_sum needs parts"));
  CHECK_THAT(
      complaint([&] {
        registry.make_encoding({"direct_sum", {{"shares", std::vector<double>{1}}}, {{"rope", {{"bas", 3.0}}, {}}}});
      }),
      ContainsSubstring("did you mean base"));
}

TEST_CASE("registry: 8, 8.0 resolve to the same choice, with every default filled in", "[encoding][registry][R23]") {
  auto const& registry = Registry::global();
  auto const a =
      registry.complete(Role::scaling, {"yarn", {{"factor", std::int64_t{8}}, {"original_length", 4096.0}}, {}});
  auto const b =
      registry.complete(Role::scaling, {"yarn", {{"factor", 8.0}, {"original_length", std::int64_t{4096}}}, {}});
  CHECK(a.options == b.options);
  CHECK(a.options.size() == registry.describe(Role::scaling, "yarn").options.size());
  CHECK(a.options.at("beta_fast") == Value(32.0));
}

TEST_CASE("registry: broken files are refused with path and reason, and never hide the others",
          "[encoding][registry][R58]") {
  Folder const folder("broken");
  fs::copy_file(shipped("alibi"), folder / "good.so");
  std::ofstream(folder / "a_text.so") << std::string(4096, 't');
  patch(folder / "b_newer.so", magic, std::string("\x63\0\0\0", 4), 16);
  patch(folder / "c_compiler.so", magic, std::string("clang 99"), 20);
  patch(folder / "d_kokkos.so", magic, std::string("\x01\0\0\0", 4), 52);
  patch(folder / "e_not_ours.so", "sextant_plugin_entry", "sextant_plugin_entrx");
  patch(folder / "f_symbol.so", "_ZTIN7sextant8encoding15FormulaEncodingE", "_ZTIN7sextant8encoding15FormulaEncodinhE");
  std::ofstream(folder / "notes.txt") << "not looked at\n";

  Registry registry;
  registry.load_folder(folder.path());
  CHECK(registry.names(Role::encoding) == std::vector<std::string>{"alibi"});
  std::map<std::string, std::string> reasons;
  for (auto const& item : registry.loaded()) reasons[item.file.filename().string()] = item.error;
  REQUIRE(reasons.size() == 7);
  CHECK(reasons["good.so"].empty());
  for (auto const& [file, reason] : reasons)
    if (file != "good.so") CHECK_THAT(reason, ContainsSubstring((folder / file).string()));
  CHECK_THAT(reasons["a_text.so"],
             ContainsSubstring("the loader refused it") && ContainsSubstring("invalid ELF header"));
  CHECK_THAT(reasons["b_newer.so"], ContainsSubstring("speaks plugin API 99, this sextant speaks ") &&
                                        ContainsSubstring("rebuild the plugin against the installed headers"));
  CHECK_THAT(reasons["c_compiler.so"],
             ContainsSubstring("was built with compiler clang 99, this sextant with " SEXTANT_COMPILER));
  CHECK_THAT(reasons["d_kokkos.so"], ContainsSubstring("was built with Kokkos 1, this sextant with"));
  CHECK_THAT(reasons["e_not_ours.so"], ContainsSubstring("not a Sextant plugin"));
  CHECK_THAT(reasons["f_symbol.so"], ContainsSubstring("undefined symbol"));
}

TEST_CASE("registry: a path that does not exist and a name that is taken are refused by name",
          "[encoding][registry][R58]") {
  Registry registry;
  CHECK_THAT(complaint([&] { registry.load_file("/nowhere/at/all.so"); }),
             ContainsSubstring("/nowhere/at/all.so: no such plugin file"));
  registry.load_file(shipped("alibi"));
  CHECK_THAT(complaint([&] { registry.load_file(shipped("alibi")); }),
             ContainsSubstring("encoding alibi is already loaded from " + shipped("alibi").string()));
  registry.load_folder("/nowhere/at/all");
  CHECK_THAT(registry.loaded().back().error, ContainsSubstring("cannot list"));
}

TEST_CASE("registry: encodings and the texts of their errors outlive the registry they came from",
          "[encoding][registry][R59]") {
  std::shared_ptr<Encoding const> alibi;
  std::optional<Error> caught;
  {
    Registry registry;
    registry.load_file(shipped("alibi"));
    registry.load_file(shipped("rope"));
    alibi = registry.make_encoding({"alibi", {}, {}});
    auto const rope = registry.make_encoding({"rope", {{"share", 0.3}}, {}});
    try {
      rope->check({.heads = 1, .kv_heads = 1, .head_dim = 64});
    } catch (Error const& error) {  // thrown inside the plugin
      caught = error;
    }
  }
  Shape const shape{.heads = 8, .kv_heads = 8, .head_dim = 8};
  auto const weights = alibi->initial_weights(shape, Stream(0, "none"));
  CHECK(alibi->bias_at(shape, weights.data(), {0, 8}, 5, 1, nullptr, nullptr) == -2);
  CHECK(alibi->description().name == "alibi");
  REQUIRE(caught.has_value());
  CHECK_THAT(caught->what(), ContainsSubstring("19.2"));
}
