#include <sextant/base/file.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/doctor/files.hpp>
#include <sextant/doctor/model_file.hpp>

#include <catch2/catch_all.hpp>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <sextant/base/json.hpp>

#include "pretrained/gguf_bytes.hpp"
#include "support/complaint.hpp"
#include "support/temp_folder.hpp"

using namespace sextant;
using namespace sextant::doctor;

namespace {
encoding::Registry const& plugins() { return encoding::Registry::global(); }
fs::path file(std::string const& name) { return fs::path(std::getenv("SEXTANT_TEST_DATA")) / name; }
Diagnosis look(std::string const& name, Circumstances const& circumstances = {}) {
  return diagnose(file(name), circumstances, plugins());
}
Finding const* find(Diagnosis const& diagnosis, std::string const& check) {
  for (auto const& finding : diagnosis.findings)
    if (finding.check == check) return &finding;
  return nullptr;
}
double number(Finding const& finding, std::string const& name) {
  for (auto const& [key, value] : finding.numbers)
    if (key == name) return value;
  FAIL("no number " << name);
  return 0;
}
std::vector<double> ladder(double base, int width) {
  std::vector<double> out;
  for (int p = 0; p < width / 2; ++p) out.push_back(std::pow(base, -2.0 * p / width));
  return out;
}
}  // namespace

TEST_CASE("doctor: each planted fault is named with its place, its numbers and what to do", "[doctor][planted]") {
  struct Planted {
    char const *file, *check, *place, *evidence;
  };
  Planted const planted[] = {
      {"doctor/base_too_small.json", "base", "base_too_small.json", "base 10000"},
      {"doctor/base_is_table_size.json", "base-is-length", "base_is_table_size.json", "base 2048 equals the length"},
      {"doctor/phase.json", "phase", "phase.json", "angles in fp32"},
      {"doctor/rounded_angle.yaml", "phase", "rounded_angle.yaml", "this arm's angles in bf16"},
      {"doctor/streaming.json", "streaming", "streaming.json", "a key cached at position 4095"},
      {"doctor/neighbour.yaml", "neighbour", "neighbour.yaml:5:13", "in head 0 of 4"},
      {"doctor/bias_budget.yaml", "bias-budget", "bias_budget.yaml:5:13", "of 1024 trained tokens"},
      {"doctor/table.yaml", "table", "table.yaml:5:13", "a table of 256 positions, and rows reach 1024"}};
  for (auto const& one : planted) {
    INFO(one.file);
    auto const diagnosis = look(one.file);
    CHECK_FALSE(diagnosis.clean());
    auto const* finding = find(diagnosis, one.check);
    REQUIRE(finding);
    INFO(finding->place << " " << finding->evidence);
    CHECK(finding->severity == Severity::fault);
    CHECK(finding->place.find(one.place) != std::string::npos);
    CHECK(finding->evidence.find(one.evidence) != std::string::npos);
    CHECK(finding->why.size() > 20);
    CHECK(finding->remedy.size() > 20);
    CHECK_FALSE(finding->numbers.empty());
  }
}

TEST_CASE("doctor: clean specs and models have no fault", "[doctor][clean]") {
  for (char const* name : {"doctor/clean.yaml", "configs/smollm2-135m.json", "configs/qwen2.5-7b-yarn.json",
                           "configs/gemma-3-1b-v5.json", "configs/gpt-oss-20b.json"}) {
    auto const diagnosis = look(name);
    INFO(diagnosis_text(diagnosis));
    CHECK(diagnosis.clean());
    CHECK_FALSE(diagnosis.examined.empty());
  }
  CHECK(find(look("configs/smollm2-135m.json"), "base")->severity == Severity::note);
  CHECK(look("doctor/clean.yaml").findings.empty());
}

TEST_CASE("doctor: like keys score below unlike ones from the distance that a plain loop finds", "[doctor][base]") {
  for (auto const& [base, width] : {std::pair{1e4, 64}, {2048.0, 64}, {1e5, 128}, {500.0, 32}}) {
    auto const frequencies = ladder(base, width);
    double expected = 20001;
    for (double d = 0; d <= 20000; ++d) {
      double sum = 0;
      for (double f : frequencies) sum += std::cos(d * f);
      if (sum < 0) {
        expected = d;
        break;
      }
    }
    CHECK(first_negative(frequencies, 20000) == expected);
  }
}

TEST_CASE("doctor: the bounds of the base are those of the paper's table 2, to its coarseness",
          "[doctor][base][paper]") {
  // arXiv:2405.14591: context length and lower bound of the base, heads of 128 channels
  for (auto const& [length, base] : {std::pair{1024.0, 4.3e3},
                                     {2048.0, 1.6e4},
                                     {4096.0, 2.7e4},
                                     {8192.0, 8.4e4},
                                     {16384.0, 3.1e5},
                                     {32768.0, 6.4e5}}) {
    INFO(length);
    double const found = first_negative(ladder(base, 128), 4 * length);
    CHECK(found > 0.7 * length);
    CHECK(found < 1.4 * length);
    CHECK(first_negative(ladder(base / 4, 128), 4 * length) < 0.7 * length);
  }
}

TEST_CASE("doctor: a scaling that reaches the length takes the fault away", "[doctor][base]") {
  test::TempFolder const folder;
  auto const with = [&](std::string const& scaling) {
    write_file_atomically(
        folder / "config.json", R"({"head_dim": 128, "max_position_embeddings": 131072, "rope_theta": 500000.0,
      "rope_scaling": )" + scaling + "}");
    return diagnose(folder / "config.json", {}, plugins());
  };
  auto const plain = with("null");
  REQUIRE(find(plain, "base"));
  auto const scaled = with(R"({"rope_type": "linear", "factor": 16})");
  CHECK_FALSE(find(scaled, "base"));
}

TEST_CASE("doctor: the numbers that angles are formed in decide on the phase", "[doctor][phase]") {
  CHECK_FALSE(find(look("configs/smollm2-135m.json"), "phase"));
  auto const rough = look("configs/smollm2-135m.json", {.angles = inspect::Format::bf16});
  CHECK(number(*find(rough, "phase"), "worst") > 1);  // an angle in bf16 is destroyed at once
  CHECK(number(*find(rough, "phase"), "from_position") < 300);
  auto const far = look("doctor/phase.json");  // R03: 0.043 rad at a million tokens in float32, for a base of 500000
  CHECK(number(*find(far, "phase"), "worst") == Catch::Approx(0.04).margin(0.03));
  CHECK_FALSE(find(look("doctor/phase.json", {.angles = inspect::Format::fp64}), "phase"));
}

TEST_CASE("doctor: the angle of a cached key under dynamic scaling is that of the two bases", "[doctor][streaming]") {
  auto const diagnosis = look("doctor/streaming.json");
  double worst = 0;
  for (int p = 0; p < 64; ++p) {  // base (4 * 16384 / 4096 - 3)^(128 / 126) times larger
    double const raised = 1e5 * std::pow(13.0, 128.0 / 126);
    worst = std::max(worst, 4095 * std::abs(std::pow(raised, -2.0 * p / 128) - std::pow(1e5, -2.0 * p / 128)));
  }
  CHECK(number(*find(diagnosis, "streaming"), "angle") == Catch::Approx(worst).epsilon(1e-9));
  CHECK_FALSE(find(look("configs/qwen2.5-7b-yarn.json"), "streaming"));
}

TEST_CASE("doctor: the neighbour's weight is that of softmax over the token and its neighbour", "[doctor][bias]") {
  auto const diagnosis = look("doctor/neighbour.yaml");  // slopes 16 x (1/4, 1/16, 1/64, 1/256)
  CHECK(number(*find(diagnosis, "neighbour"), "weight") == Catch::Approx(1 / (1 + std::exp(4.0))).epsilon(1e-9));
  CHECK(number(*find(diagnosis, "neighbour"), "heads") == 1);
  auto const budget = look("doctor/bias_budget.yaml");  // shallowest slope 8 / 256: 3 logits at 96 tokens
  double const distance = number(*find(budget, "bias-budget"), "distance");
  CHECK(distance >= 96);
  CHECK(distance < 128);
  CHECK_FALSE(find(look("doctor/bias_budget.yaml", {.spread = 10}), "bias-budget"));
}

TEST_CASE("doctor: few seeds for many arms are noted, with the place of the seeds", "[doctor][seeds]") {
  test::TempFolder const folder;
  std::string spec = read_file(file("doctor/clean.yaml"));
  spec.replace(spec.find("[1, 2, 3]"), 9, "[1]");
  spec += "vary:\n  - key: position.encoding\n    stage: train\n    values: [alibi, nope]\n";
  write_file_atomically(folder / "spec.yaml", spec);
  auto const diagnosis = diagnose(folder / "spec.yaml", {}, plugins());
  auto const* finding = find(diagnosis, "seeds");
  REQUIRE(finding);
  CHECK(finding->severity == Severity::note);
  CHECK(finding->evidence == "2 arms are compared with 1 seed each");
  CHECK(finding->place.ends_with("spec.yaml:12:10"));
  CHECK(diagnosis.clean());
}

namespace {
// A llama file of one layer and no weights worth having.
std::string model_file(std::uint64_t query_rows, std::uint32_t freqs_type, float factor = 1) {
  test::Bytes out;
  out.head(2, 6);
  out.text("general.architecture").u32(8).text("llama");
  for (auto const& [key, value] : {std::pair{"llama.context_length", 512u},
                                   {"llama.embedding_length", 64u},
                                   {"llama.attention.head_count", 2u},
                                   {"llama.rope.dimension_count", 32u}})
    out.text(key).u32(4).u32(value);
  out.text("llama.rope.freq_base").u32(6).put(10000.0f);
  out.tensor("blk.0.attn_q.weight", {64, query_rows}, 0, 0);
  out.tensor("rope_freqs.weight", {16}, freqs_type, query_rows * 64 * 4);
  out.pad();
  out.content.resize(out.content.size() + query_rows * 64 * 4, '\0');
  for (int pair = 0; pair < 16; ++pair)
    if (freqs_type == 0)
      out.put(factor);
    else
      out.put(std::uint16_t{0x3C00});  // 1 in half precision
  out.content.resize(out.content.size() + 64, '\0');
  return out.content;
}
Diagnosis of_model(std::string const& content, Circumstances const& circumstances = {}) {
  test::TemporaryFile const model(content, "doctor.gguf");
  return diagnose(model.path(), circumstances, plugins());
}
}  // namespace

TEST_CASE("doctor: tables in small numbers and weights that contradict the keys of a model are named",
          "[doctor][model]") {
  auto const clean = of_model(model_file(64, 0));
  INFO(diagnosis_text(clean));
  CHECK(clean.kind == "model");
  CHECK(clean.clean());
  auto const halves = of_model(model_file(64, 1));
  REQUIRE(find(halves, "table-numbers"));
  CHECK(find(halves, "table-numbers")->evidence.find("stored as F16") != std::string::npos);
  auto const wrong = of_model(model_file(96, 0));
  REQUIRE(find(wrong, "mismatch"));
  CHECK(find(wrong, "mismatch")->place.ends_with("blk.0.attn_q.weight"));
  CHECK(find(wrong, "mismatch")->evidence.find("is [96, 64], and the keys say 2 heads of 32 channels") !=
        std::string::npos);
}

TEST_CASE("doctor: a model is held against the config.json that it was made from", "[doctor][model]") {
  test::TempFolder const folder;
  auto const against = [&](std::string const& theta) {
    write_file_atomically(folder / "config.json",
                          R"({"head_dim": 32, "max_position_embeddings": 512, "rope_theta": )" + theta + "}");
    return of_model(model_file(64, 0), {.config = (folder / "config.json").string()});
  };
  CHECK(against("10000.0").clean());
  auto const scaled = of_model(model_file(64, 0, 4), {.config = (folder / "config.json").string()});
  REQUIRE(find(scaled, "mismatch"));  // the factors of rope_freqs.weight are applied
  auto const other = against("500000.0");
  REQUIRE(find(other, "mismatch"));
  CHECK(find(other, "mismatch")->evidence.find("turns by other frequencies") != std::string::npos);
}

TEST_CASE("doctor: files that it cannot read are refused with their name", "[doctor][reject]") {
  using test::complaint;
  CHECK(complaint([] { look("doctor/nothing.yaml"); }).find("nothing.yaml") != std::string::npos);
  CHECK(complaint([] { look("doctor/phase.json", {.config = "x.json"}); }).find("--config goes with a GGUF model") !=
        std::string::npos);
  CHECK(complaint([] { look("encodings.h5"); }).find("encodings.h5") != std::string::npos);
}
