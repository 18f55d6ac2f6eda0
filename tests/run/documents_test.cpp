#include <catch2/catch_test_macros.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>
#include <sextant/tasks/corpus.hpp>

#include "tiny_study.hpp"

using namespace sextant;

namespace documents_test {
namespace {

std::vector<double> values_of(fs::path const& study) {
  std::vector<double> values;
  for (auto const& row : results::table(results::read_group(study / "study.h5", "summary/results")))
    values.push_back(row.value);
  return values;
}

void run(std::vector<std::string> command, fs::path const& out) {
  command.insert(command.end(), {"--set", "train.seeds=[0]", "-o", out.string()});
  auto const ran = test::sextant_program(command);
  INFO(ran.output);
  REQUIRE(ran.status == 0);
}

}  // namespace

TEST_CASE("run: documents held out whole are a text of the others that ends with them", "[run][documents]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  fs::create_directories(folder / "books");
  std::string const words = test::made_up_text(4000);
  for (int i = 0; i < 12; ++i)
    write_file_atomically(folder / text("books/", i, ".txt"), words.substr(i * 1500, 1000 + 40 * i));
  auto const books = tasks::load_corpus((folder / "books").string(), folder.path());
  auto const division = tasks::divide(books.documents, 0.75, 0.25);
  std::string reordered;
  std::size_t train = 0;
  for (auto const* part : {&division.train, &division.test}) {
    train = part == &division.test ? reordered.size() : 0;
    for (auto const& d : *part)
      reordered.append(books.bytes.begin() + d.offset, books.bytes.begin() + d.offset + d.length);
  }
  write_file_atomically(folder / "reordered.txt", reordered);
  auto const share = [&](std::size_t bytes) {
    return text(static_cast<double>(bytes) / static_cast<double>(reordered.size()));
  };
  run({"run", spec, "--set", text("data.corpus=", (folder / "books").string()), "--set", "data.split.cut=documents",
       "--set", "data.split.train=0.75", "--set", "data.split.test=0.25"},
      folder / "whole");
  run({"run", spec, "--set", text("data.corpus=", (folder / "reordered.txt").string()), "--set",
       text("data.split.train=", share(train)), "--set", text("data.split.test=", share(reordered.size() - train))},
      folder / "cut");
  auto const whole = values_of(folder / "whole");
  CHECK(!whole.empty());
  CHECK(whole == values_of(folder / "cut"));
}

TEST_CASE("plan: a corpus of one document cannot hold any out, and says where the spec asked for it",
          "[run][documents]") {
  test::TempFolder const folder;
  std::string const spec = test::write_tiny_study(folder, 5).string();
  auto const refused = test::sextant_program({"plan", spec, "--set", "data.split.cut=documents"});
  CHECK(refused.status == 2);
  CHECK(refused.output.find("whole documents cannot be held out of 1 document") != std::string::npos);
  CHECK(refused.output.find("data.corpus") != std::string::npos);
}
}  // namespace documents_test
