#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/check/verify.hpp>
#include <sextant/results/file.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>

#include <unistd.h>
#include <cstdlib>
#include <set>

using namespace sextant;
using check::Verdict;

namespace verify_test {
namespace {
std::string data(std::string const& name) { return std::string(std::getenv("SEXTANT_TEST_DATA")) + "/" + name; }

/// A folder of its own that goes away with the test.
struct Scratch {
  fs::path folder = fs::temp_directory_path() / text("sextant-verify-", ::getpid());
  Scratch() { fs::create_directories(folder); }
  ~Scratch() { fs::remove_all(folder); }
  std::string operator/(std::string const& name) const { return (folder / name).string(); }
};

std::set<std::string> methods_with(check::VerifyReport const& report, Verdict verdict) {
  std::set<std::string> out;
  for (auto const& c : report.cases)
    if (c.verdict == verdict) out.insert(c.method);
  return out;
}

std::string message_of(std::string const& path) {
  try {
    check::verify(path);
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}

nlohmann::json scaling_file() { return nlohmann::json::parse(read_file(data("scaling.json"))); }
}  // namespace

TEST_CASE("verify: every scaling case agrees with the reference", "[check][reference]") {
  auto const report = check::verify(data("scaling.json"));
  INFO(report.table(true));
  CHECK(report.passed());
  CHECK(report.cases.size() == 62);
  CHECK(methods_with(report, Verdict::pass).size() == 10);
}

TEST_CASE("verify: every rotation case agrees with the reference", "[check][reference]") {
  auto const report = check::verify(data("rotation.h5"));
  INFO(report.table(true));
  CHECK(report.passed());
  CHECK(report.cases.size() == 15);
}

TEST_CASE("verify: a method that does not exist is a failure, not a pass", "[check]") {
  Scratch const scratch;
  auto file = scaling_file();
  file["cases"] = nlohmann::json::array({file["cases"][0], file["cases"][1]});
  file["cases"][1]["method"] = "dynamic_linear";
  write_file_atomically(scratch / "missing.json", file.dump());
  auto const report = check::verify(scratch / "missing.json");
  CHECK(report.count(Verdict::pass) == 1);
  CHECK(methods_with(report, Verdict::missing) == std::set<std::string>{"dynamic_linear"});
  CHECK_FALSE(report.passed());
}

TEST_CASE("verify: the length that a case gives decides the regime", "[check][R20]") {
  Scratch const scratch;
  auto file = scaling_file();
  auto cases = nlohmann::json::array();
  for (auto const& c : file["cases"])
    if (c["name"] == "longrope_len4097" || c["name"] == "dynamic_len4096") cases.push_back(c);
  REQUIRE(cases.size() == 2);
  for (auto& c : cases) c["params"]["seq_len"] = 1000;
  file["cases"] = cases;
  write_file_atomically(scratch / "shorter.json", file.dump());
  CHECK(check::verify(scratch / "shorter.json").count(Verdict::fail) == 2);
}

TEST_CASE("verify: every encoding case whose method exists agrees in outputs and gradients", "[check][reference]") {
  auto const report = check::verify(data("encodings.h5"));
  INFO(report.table(true));
  CHECK(report.count(Verdict::fail) == 0);
  CHECK(methods_with(report, Verdict::pass).size() == 43);
  CHECK(report.count(Verdict::pass) == 89);
}

TEST_CASE("verify: settings that the reference file lacks agree with formulas written out in numpy",
          "[check][reference]") {
  auto const report = check::verify(data("more_encodings.h5"));
  INFO(report.table(true));
  CHECK(report.passed());
  CHECK(report.cases.size() == 18);
}

TEST_CASE("verify: a number that is off in the twelfth digit fails, and the table names it", "[check]") {
  Scratch const scratch;
  auto file = scaling_file();
  file["cases"] = nlohmann::json::array({file["cases"][0], file["cases"][1]});
  double& off = file["cases"][1]["inv_freq"][5].get_ref<double&>();
  off *= 1 + 4e-12;
  write_file_atomically(scratch / "off.json", file.dump());
  auto const report = check::verify(scratch / "off.json");
  REQUIRE(report.cases.size() == 2);
  CHECK(report.cases[0].verdict == Verdict::pass);
  CHECK(report.cases[1].verdict == Verdict::fail);
  CHECK(report.cases[1].what == "float64 inv_freq");
  CHECK(report.cases[1].error == Catch::Approx(4e-12).epsilon(0.01));
  CHECK(report.cases[1].tolerance == Catch::Approx(1e-12));
  CHECK_THAT(report.table(), Catch::Matchers::ContainsSubstring("FAIL"));
  auto const json = nlohmann::json::parse(report.json());
  CHECK(json["passed"] == false);
  CHECK(json["counts"]["fail"] == 1);
  CHECK(json["cases"][1]["name"] == report.cases[1].name);
}

TEST_CASE("verify: one gradient off by a ten-millionth fails its case", "[check]") {
  Scratch const scratch;
  auto const whole = results::read_file(data("encodings.h5"));
  results::Group file;
  file.set("format", "sextant-encodings-1");
  file["alibi"] = whole.group("alibi_4heads");
  REQUIRE(check::VerifyReport(check::verify([&] {
            results::write_file(scratch / "good.h5", file);
            return scratch / "good.h5";
          }()))
              .passed());
  std::get<std::vector<double>>(file["alibi/grad"].arrays["slopes"].values)[2] += 1e-7;
  results::write_file(scratch / "off.h5", file);
  auto const report = check::verify(scratch / "off.h5");
  INFO(report.table());
  CHECK(report.cases[0].verdict == Verdict::fail);
  CHECK(report.cases[0].what == "float64 grad/slopes");
}

TEST_CASE("verify: absent keys and nulls take the documented defaults", "[check]") {
  Scratch const scratch;
  auto file = scaling_file();
  auto cases = nlohmann::json::array();
  for (auto const& c : file["cases"])
    if (c["name"] == "yarn_d128_L4096_s16" || c["name"] == "default_d128_theta1e4") cases.push_back(c);
  REQUIRE(cases.size() == 2);
  for (auto& c : cases) {
    c["params"].erase("rope_theta");  // 10000
    c["params"]["partial_rotary_factor"] = nullptr;
    c["params"]["attention_factor"] = nullptr;
    c["params"]["beta_fast"] = nullptr;
  }
  cases[1]["params"].erase("factor");  // max_position_embeddings / original
  file["cases"] = cases;
  write_file_atomically(scratch / "nulls.json", file.dump());
  auto const report = check::verify(scratch / "nulls.json");
  INFO(report.table());
  CHECK(report.passed());
}

TEST_CASE("verify: a case with a rule that nobody applies fails rather than pass by luck", "[check]") {
  Scratch const scratch;
  auto file = scaling_file();
  file["cases"] = nlohmann::json::array({file["cases"][0]});
  file["cases"][0]["params"]["rope_thetta"] = 5.0;
  write_file_atomically(scratch / "unknown.json", file.dump());
  auto const report = check::verify(scratch / "unknown.json");
  CHECK(report.cases[0].verdict == Verdict::fail);
  CHECK_THAT(report.cases[0].note, Catch::Matchers::ContainsSubstring("did you mean rope_theta"));
}

TEST_CASE("verify: files it cannot use are refused with their name and what was expected", "[check][R17]") {
  Scratch const scratch;
  auto const refused = [&](std::string const& content, std::string const& words) {
    write_file_atomically(scratch / "bad", content);
    std::string const message = message_of(scratch / "bad");
    INFO(message);
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(words));
    CHECK_THAT(message, Catch::Matchers::ContainsSubstring(scratch / "bad"));
  };
  refused("", "is empty");
  refused("{", "neither HDF5 nor JSON");
  refused("[1, 2]", "has no format");
  refused(R"({"format": "sextant-other"})", "expected one of sextant-scaling");
  refused(R"({"format": "sextant-scaling", "version": 2, "cases": []})", "version is 2, expected 1");
  refused(R"({"format": "sextant-scaling", "cases": []})", "cases is absent, empty");
  refused(R"({"format": "sextant-smollm2"})", "is not as docs/verify.md describes the format sextant-smollm2");
  refused("\x89HDF\r\n\x1a\nnot really", "");
  CHECK_THAT(message_of(scratch / "absent.json"), Catch::Matchers::ContainsSubstring("absent.json"));
  results::Group other;
  other.set("format", "something");
  results::write_file(scratch / "other.h5", other);
  CHECK_THAT(message_of(scratch / "other.h5"), Catch::Matchers::ContainsSubstring("format is something"));
}
}  // namespace verify_test
