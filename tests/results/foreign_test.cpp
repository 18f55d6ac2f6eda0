// Files of other programs, and other programs with our files.
#include <sextant/results/file.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "python.hpp"

using namespace sextant::results;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::EndsWith;
using sextant::test::complaint;
using sextant::test::Scratch;

TEST_CASE("a file of h5py reads with its types, attributes and coordinates", "[results][h5py]") {
  Scratch const scratch;
  sextant::test::python("write_foreign.py", scratch / "foreign.h5");
  Group const file = read_file(scratch / "foreign.h5");
  CHECK(file.attribute<std::string>("variable") == "käse");
  CHECK(file.attribute<std::string>("fixed") == "fixed");
  CHECK(file.attribute<int>("int32") == -3);
  CHECK(file.attribute<int>("uint16") == 65535);
  CHECK(file.attribute<double>("float32") == 0.25);
  CHECK(file.attribute<bool>("bool"));
  CHECK(file.attribute<std::vector<std::int64_t>>("list") == std::vector<std::int64_t>{1, 2, 3});
  CHECK(file.attribute<std::vector<double>>("floats") == std::vector<double>{0.5, 1.5});
  CHECK(file.attribute<std::vector<std::string>>("words") == std::vector<std::string>{"a", "bc"});

  Group const& numbers = file.group("numbers");
  CHECK(numbers.values<double>("big_endian") == std::vector<double>{1.5, -2.5});
  CHECK(numbers.values<float>("half") == std::vector<float>{0.5f, 65504.0f});
  CHECK(numbers.values<std::int32_t>("uint16") == std::vector<std::int32_t>{0, 65535});
  CHECK(numbers.values<std::int64_t>("uint32") == std::vector<std::int64_t>{0, 4294967295});
  CHECK(numbers.integers("uint64") == std::vector<std::int64_t>{0, 9223372036854775807});
  CHECK(numbers.values<bool>("bool") == std::vector<bool>{true, false});
  CHECK(numbers.array("scalar", {}).type() == Type::int64);
  std::vector<double> const& chunked = numbers.values<double>("chunked", {2, 3, 4});
  for (std::size_t i = 0; i < 24; ++i) CHECK(chunked[i] == static_cast<double>(i));
  CHECK(numbers.texts("fixed") == std::vector<std::string>{"ab", "c"});
  CHECK(numbers.texts("strings") == std::vector<std::string>{"x", "", "yz"});
  CHECK(numbers.array("loss").axes == std::vector<std::string>{"", "length"});
  CHECK(file.values<float>("odd/alias") == std::vector<float>{0.5f, 65504.0f});
}

TEST_CASE("what a foreign file holds beyond numbers and text is named when asked for", "[results][h5py][errors]") {
  Scratch const scratch;
  sextant::test::python("write_foreign.py", scratch / "foreign.h5");
  Group const file = read_file(scratch / "foreign.h5");
  CHECK_THAT(complaint([&] { file.array("odd/complex"); }),
             EndsWith("foreign.h5:/odd/complex cannot be read: it is a compound"));
  CHECK_THAT(complaint([&] { file.array("odd/dangling"); }),
             EndsWith("/odd/dangling cannot be read: it is a link that leads nowhere"));
  CHECK_THAT(complaint([&] { file.attribute<double>("matrix"); }),
             EndsWith("foreign.h5:/: attribute matrix cannot be read: it is of shape [2, 2]"));
  CHECK_THAT(complaint([&] { file.attribute<double>("empty"); }),
             EndsWith("attribute empty cannot be read: it is empty"));
  CHECK(file.group("odd").unread.contains("too_large"));
}

TEST_CASE("h5ls and h5dump show names, numbers and coordinates", "[results][tools]") {
  if (sextant::test::shell("h5ls --version").first != 0) SKIP("no h5ls: install hdf5-tools");
  Scratch const scratch;
  Group root;
  root.set("schema", "test");
  root["eval"].put("length", std::vector<std::int64_t>{128, 256}, "token", "tokens");
  root["eval"].put("loss", std::vector<double>{1.5, 2.5}, "nat/token", "loss").along({"length"});
  write_file(scratch / "a.h5", root);
  std::string const file = (scratch / "a.h5").string();
  auto const [listed, names] = sextant::test::shell("h5ls -r " + file);
  CHECK(listed == 0);
  CHECK_THAT(names, ContainsSubstring("/eval/length") && ContainsSubstring("/eval/loss"));
  auto const [dumped, content] = sextant::test::shell("h5dump " + file);
  CHECK(dumped == 0);
  CHECK_THAT(content, ContainsSubstring("1.5, 2.5") && ContainsSubstring("nat/token") &&
                          ContainsSubstring("DIMENSION_LIST") && ContainsSubstring("\"test\""));
}
