#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/check/verify.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/tasks/corpus.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>
#include <support/complaint.hpp>

#include <unistd.h>

using namespace sextant;
using Catch::Matchers::ContainsSubstring;
using check::Verdict;

namespace {
fs::path data(std::string const& name) { return fs::path(std::getenv("SEXTANT_TEST_DATA")) / name; }

check::VerifyReport verify(fs::path const& numbers, check::VerifyOptions const& options) {
  return check::verify(numbers.string(), encoding::Registry::global(), options);
}

// The tiny model's numbers with one of them changed.
check::VerifyReport with(std::function<void(nlohmann::json&)> const& change) {
  auto json = nlohmann::json::parse(read_file(data("pretrained/tiny_llama.json")));
  change(json);
  fs::path const file = fs::temp_directory_path() / ("sextant_verify_model_" + std::to_string(::getpid()) + ".json");
  write_file_atomically(file, json.dump());
  auto const report = verify(file, {.model = data("pretrained/tiny_llama.gguf")});
  fs::remove(file);
  return report;
}
std::string failures(check::VerifyReport const& report) {
  std::string out;
  for (auto const& c : report.cases)
    if (c.verdict != Verdict::pass) out += (out.empty() ? "" : " ") + c.name;
  return out;
}
}  // namespace

TEST_CASE("verify: an imported model gives the logits, losses and inner values of an independent float64 pass",
          "[check][import]") {
  auto const report =
      verify(data("pretrained/tiny_llama.json"), {.model = data("pretrained/tiny_llama.gguf"), .exact = true});
  INFO(report.table());
  CHECK(report.passed());
  CHECK(report.cases.size() == 12);
}

TEST_CASE("verify: bf16 is held to wider bounds, and to them", "[check][import][bf16]") {
  auto const report =
      verify(data("pretrained/tiny_llama.json"), {.model = data("pretrained/tiny_llama.gguf"), .bf16 = true});
  INFO(report.table());
  CHECK(report.passed());
}

TEST_CASE("verify: a model's number that differs fails its own case", "[check][import]") {
  auto const raise = [](nlohmann::json& number, double by) { number = number.get<double>() + by; };
  CHECK(failures(with([&](auto& j) { raise(j["runs"][2]["top5"][0]["logits"][3], 1e-3); })) == "linear_s4");
  CHECK(failures(with([](auto& j) {
          std::swap(j["runs"][0]["top5"][1]["ids"][0], j["runs"][0]["top5"][1]["ids"][1]);
        })) == "default");
  CHECK(failures(with([&](auto& j) { raise(j["runs"][1]["nll_total"], 0.01); })) == "start_4000");
  CHECK(failures(with([](auto& j) { j["runs"][3]["probes_last_position"]["layer0_head0_k_rotated"][5] = 0.0; })) ==
        "ntk_s4");
  CHECK(failures(with([](auto& j) { j["runs"][4]["params"]["factor"] = 2.0; })) == "yarn_s4");
  CHECK(failures(with([](auto& j) { j["weights_check"][1]["last_row_first_8"][0] = 0.0; })) == "blk.0.attn_q.weight");
  CHECK(failures(with([](auto& j) { j["model"]["config"]["kv_heads"] = 4; })) == "model config");
  CHECK(failures(with([](auto& j) { j["model"]["sha256"] = "0"; })) == "model file");
  auto const unknown = with([](auto& j) { j["runs"][2]["method"] = "conjured"; });
  CHECK(unknown.count(Verdict::missing) == 1);
  CHECK(failures(unknown) == "linear_s4");
}

TEST_CASE("verify: without the model the message says how to come by it", "[check][import][error]") {
  check::VerifyOptions const options{.cache = fs::temp_directory_path() / "no_such_cache"};
  CHECK_THROWS_WITH(verify(data("pretrained/tiny_llama.json"), options),
                    ContainsSubstring("which is not in the model cache; give it as --model FILE"));
}

TEST_CASE("verify: SmolLM2 gives the reference logits and losses in all runs", "[check][import][smollm2]") {
  auto const file = data("smollm2.json");
  auto const digest = nlohmann::json::parse(read_file(file)).at("model").at("sha256").get<std::string>();
  auto const found = pretrained::find_by_digest(tasks::default_cache(), digest);
  if (!found) SKIP("the model is not in the cache; add it: sextant model add smollm2");
  auto const report = verify(file, {.model = *found});
  INFO(report.table());
  CHECK(report.passed());
}
