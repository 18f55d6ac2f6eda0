#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>

#include "support/data_file.hpp"
#include "support/holds.hpp"
#include "support/process.hpp"
#include "support/temp_folder.hpp"

using namespace sextant;
using nlohmann::json;
using test::data_file;
using test::holds;
using test::sextant_program;

TEST_CASE("doctor: a fault ends with status 1 and is told, a clean file with 0", "[cli][doctor]") {
  auto const ill = sextant_program({"doctor", data_file("doctor/base_is_table_size.json")});
  INFO(ill.output);
  CHECK(ill.status == 1);
  CHECK(holds(ill.output, "fault base-is-length"));
  CHECK(holds(ill.output, "  do      give the base its own value"));
  auto const well = sextant_program({"doctor", data_file("doctor/clean.yaml"), "--json"});
  CHECK(well.status == 0);
  json const page = json::parse(well.output);
  CHECK(page["clean"] == true);
  CHECK(page["findings"].empty());
  CHECK(page["checks"].size() >= 7);
}

TEST_CASE("doctor: what it cannot read ends with status 2", "[cli][doctor][reject]") {
  CHECK(sextant_program({"doctor", data_file("doctor/nothing.json")}).status == 2);
  auto const out = sextant_program({"doctor", data_file("doctor/phase.json"), "--angles", "fp63"});
  CHECK(out.status == 2);
  CHECK(holds(out.output, "did you mean fp64"));
}

TEST_CASE("validate: prints what the doctor finds in a spec as notes", "[cli][doctor]") {
  test::TempFolder const folder;
  write_file_atomically(folder / "text.txt", std::string(20000, 'a'));
  auto const out = sextant_program(
      {"validate", data_file("doctor/neighbour.yaml"), "--set", "data.corpus=" + (folder / "text.txt").string()});
  INFO(out.output);
  CHECK(holds(out.output, "neighbour.yaml:5:13: neighbour: the bias leaves the token before"));
}

TEST_CASE("advise: a recommendation ends with 0, not knowing with 1, nonsense with 2", "[cli][advise]") {
  auto const known = sextant_program({"advise", "--trained", "8192", "--to", "131072", "--budget", "2%"});
  INFO(known.output);
  CHECK(known.status == 0);
  CHECK(holds(known.output, "recommended: YaRN with a short tuning"));
  CHECK(holds(known.output, "scaling: {use: yarn, factor: 16}"));
  CHECK(holds(known.output, "source     arXiv:2309.00071"));
  auto const unknown = sextant_program({"advise", "--trained", "4096", "--to", "409600", "--json"});
  CHECK(unknown.status == 1);
  CHECK(json::parse(unknown.output)["answers"] == false);
  for (auto const& wrong : std::vector<std::vector<std::string>>{
           {"--to", "x"}, {"--to", "9", "--budget", "x%"}, {"--to", "9", "--memory", "8 apples"}}) {
    std::vector<std::string> arguments = {"advise", "--trained", "8"};
    arguments.insert(arguments.end(), wrong.begin(), wrong.end());
    CHECK(sextant_program(arguments).status == 2);
  }
}
