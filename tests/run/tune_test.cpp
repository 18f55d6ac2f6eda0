// Training after training, through the program: what is shared, exact resume, models that are read again.
#include <catch2/catch_test_macros.hpp>
#include <sextant/base/json.hpp>
#include <sextant/model/safetensors.hpp>
#include <sextant/results/compare.hpp>
#include <sextant/results/file.hpp>
#include <sextant/results/table.hpp>
#include <sextant/run/text.hpp>

#include <cstring>
#include <map>
#include <set>

#include "support/data_file.hpp"
#include "tiny_study.hpp"

using namespace sextant;
using test::sextant_program;

namespace {
std::string tiny_llama() { return test::data_file("pretrained/tiny_llama.gguf"); }

/// Documents a, b, ... each of its own letter, so that a token tells where it comes from.
std::string write_letters(test::TempFolder const& folder) {
  fs::create_directories(folder / "letters");
  for (char letter = 'a'; letter <= 't'; ++letter)
    write_file_atomically(folder / "letters" / (std::string(1, letter) + ".txt"), std::string(300, letter));
  return (folder / "letters").string();
}

fs::path write_spec(test::TempFolder const& folder, std::string const& text) {
  write_file_atomically(folder / "text.txt", test::made_up_text(4000));
  fs::path const file = folder / "spec.yaml";
  write_file_atomically(file, text);
  return file;
}

std::string const head = R"(sextant: 1
study: tuned
data: {corpus: text.txt, split: {train: 0.8, test: 0.2}}
evaluate:
  - {use: lm_loss, lengths: [16, 32], windows: 4}
)";
std::string const own = head + R"(model: {layers: 1, width: 16, heads: 2, head_width: 8, mlp: {width: 24}}
position: {encoding: rope}
)";

std::string training(std::string const& steps) {
  return "train: {steps: " + steps +
         ", length: 16, batch: 64 tokens, optimiser: {rate: 3e-3}, schedule: {floor: 1}, save: {every: 7}, seeds: [0, "
         "5]}\n";
}

/// Stages of the plan by arm and seed.
std::map<std::string, std::string> stages(std::string const& spec, std::vector<std::string> more = {}) {
  std::vector<std::string> command{"plan", spec, "--json"};
  command.insert(command.end(), more.begin(), more.end());
  auto const plan = sextant_program(command);
  INFO(plan.output);
  REQUIRE(plan.status == 0);
  std::map<std::string, std::string> out;
  auto const json = nlohmann::json::parse(plan.output);
  for (auto const& stage : json["train"])
    out[stage["arm"].get<std::string>() + " " + std::to_string(stage["seed"].get<int>())] = stage["id"];
  return out;
}

fs::path weights(fs::path const& study, std::string const& id) { return study / "stages" / id / "weights.safetensors"; }

/// Largest difference over all parameters of two files.
double furthest(fs::path const& left, fs::path const& right) {
  model::Safetensors const a(left), b(right);
  REQUIRE(a.names() == b.names());
  double most = 0;
  for (auto const& name : a.names()) {
    auto const x = a.find(name).bytes, y = b.find(name).bytes;
    REQUIRE(x.size() == y.size());
    for (std::size_t at = 0; at < x.size(); at += sizeof(float)) {
      float p = 0, q = 0;
      std::memcpy(&p, x.data() + at, sizeof p), std::memcpy(&q, y.data() + at, sizeof q);
      most = std::max(most, std::abs(static_cast<double>(p) - q));
    }
  }
  return most;
}
}  // namespace

TEST_CASE("run: tuning at the trained length is training from those weights with a fresh optimiser", "[run][tune]") {
  test::TempFolder const folder;
  std::string const block = "tune: {amount: 9 steps, optimiser: {rate: 1e-3}, schedule: {floor: 1}}\n";
  std::string const spec = write_spec(folder, own + training("20") + block).string(), out = (folder / "out").string();
  auto const run = sextant_program({"run", spec, "-o", out});
  INFO(run.output);
  REQUIRE(run.status == 0);
  auto const ids = stages(spec, {"-o", out});
  REQUIRE(ids.size() == 4);
  // The same by `model.from`: the weights that training left, trained on from step 0 of the order; what tuning reads begins
  // at step 20, so only a plain run of 0 steps more agrees, and one of as many steps differs.
  std::string const base = weights(out, ids.at("rope / untuned 0")).string();
  std::string const again = head + "model: {from: " + base + "}\n" +
                            "train: {steps: 0, length: 16, batch: 64 tokens, optimiser: {rate: 1e-3}, seeds: [0]}\n";
  fs::path const other = folder / "again.yaml";
  write_file_atomically(other, again);
  REQUIRE(sextant_program({"run", other.string(), "-o", (folder / "again").string()}).status == 0);
  auto const same = stages(other.string());
  CHECK(furthest(weights(folder / "again", same.at("rope 0")), base) == 0);
  CHECK(furthest(weights(out, ids.at("rope 0")), base) > 1e-4);
  // A model whose whole loss is one text that never changes its batches: documents of one letter. There the order cannot
  // matter, and 9 steps of tuning must be 9 steps of training from the same weights, bit for bit.
  std::string const letters = "data.corpus=" + (folder / "one.txt").string();
  write_file_atomically(folder / "one.txt", std::string(4000, 'x'));
  std::string const one = (folder / "one").string(), plain = (folder / "plain").string();
  REQUIRE(sextant_program({"run", spec, "-o", one, "--set", letters}).status == 0);
  auto const tuned = stages(spec, {"--set", letters});
  write_file_atomically(other, head + "model: {from: " + weights(one, tuned.at("rope / untuned 0")).string() + "}\n" +
                                   "train: {steps: 9, length: 16, batch: 64 tokens, optimiser: {rate: 1e-3}, "
                                   "schedule: {floor: 1}, seeds: [0]}\n");
  REQUIRE(sextant_program({"run", other.string(), "-o", plain, "--set", letters}).status == 0);
  auto const from = stages(other.string(), {"--set", letters});
  CHECK(furthest(weights(plain, from.at("rope 0")), weights(one, tuned.at("rope 0"))) == 0);
  CHECK(furthest(weights(plain, from.at("rope 0")), weights(one, tuned.at("rope / untuned 0"))) > 1e-4);
}

TEST_CASE("doctor: a spec that goes on from a model, and its study, are examined with that model's encoding",
          "[run][tune][doctor]") {
  test::TempFolder const folder;
  std::string const spec = write_spec(folder, own + training("2")).string(), out = (folder / "out").string();
  REQUIRE(sextant_program({"run", spec, "-o", out}).status == 0);
  std::string const base = weights(out, stages(spec, {"-o", out}).at("rope 0")).string();
  fs::path const other = folder / "again.yaml";
  write_file_atomically(other,
                        head + "model: {from: " + base + "}\n" +
                            "train: {steps: 0, length: 16, batch: 64 tokens, optimiser: {rate: 1e-3}, seeds: [0]}\n");
  REQUIRE(sextant_program({"run", other.string(), "-o", (folder / "again").string()}).status == 0);
  for (fs::path const& file : {other, folder / "again" / "study.h5"}) {
    auto const found = sextant_program({"doctor", file.string(), "--json"});
    INFO(found.output);
    CHECK(found.status < 2);
    CHECK(found.output.find("\"rope\"") != std::string::npos);
  }
}

TEST_CASE("run: killed while it tunes and resumed, a study ends with the same bits as one left alone",
          "[run][resume][tune]") {
  test::TempFolder const folder;
  std::string const spec =
      write_spec(folder, own + training("10") + R"(tune: {amount: 300 steps, length: 32, save: {every: 7}}
vary:
  - {key: tune.scaling, stage: tune, values: [none, {use: linear, factor: auto}]}
)")
          .string();
  auto const began = std::chrono::steady_clock::now();
  REQUIRE(sextant_program({"run", spec, "-o", (folder / "whole").string()}).status == 0);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  int killed = 0;
  Stream const moments(23, "kill");
  for (int n = 0; n < 8; ++n) {
    test::Program program({"run", spec, "-o", (folder / "killed").string()});
    std::this_thread::sleep_for(
        std::chrono::duration<double>(seconds * 0.4 * moments.uniform(static_cast<std::uint64_t>(n))));
    program.kill(n % 2 ? SIGKILL : SIGINT);
    killed += program.wait().status != 0;
  }
  CHECK(killed >= 3);
  auto const last = sextant_program({"run", spec, "-o", (folder / "killed").string()});
  INFO(last.output);
  REQUIRE(last.status == 0);
  CHECK(results::summary(results::compare_numbers(folder / "whole" / "study.h5", folder / "killed" / "study.h5")) ==
        "");
  for (auto const& [arm, id] : stages(spec))
    CHECK(furthest(weights(folder / "whole", id), weights(folder / "killed", id)) == 0);
}

TEST_CASE("run: --only of a tuned arm trains what it goes on from and nothing else; claims and status know tuned arms",
          "[run][tune]") {
  test::TempFolder const folder;
  std::string const spec = write_spec(folder, own + training("30") + R"(tune: {length: 32}
vary:
  - {key: tune.amount, stage: tune, values: [none, 10 %, 20 %]}
  - {key: tune.scaling, stage: tune, where: {tune.amount: [10 %, 20 %]}, values: [none, {use: linear, factor: auto}]}
claims:
  list:
    - {id: tuned, test: 'lm_loss.mean @ 32 {amount=20 %, scaling=linear} < 9'}
    - {id: plain, test: 'lm_loss.mean @ 32 {amount=none} < 9'}
)")
                               .string();
  std::string const out = (folder / "out").string();
  auto const only = sextant_program({"run", spec, "-o", out, "--only", "rope / amount=20 % / linear"});
  INFO(only.output);
  REQUIRE(only.status == 0);
  auto const ids = stages(spec, {"-o", out});
  REQUIRE(ids.size() == 10);
  CHECK(fs::exists(weights(out, ids.at("rope / amount=none 0"))));
  CHECK(fs::exists(weights(out, ids.at("rope / amount=20 % / linear 5"))));
  CHECK_FALSE(fs::exists(weights(out, ids.at("rope / amount=10 % / linear 0"))));
  auto const rest = sextant_program({"run", spec, "-o", out});
  INFO(rest.output);
  REQUIRE(rest.status == 0);
  CHECK(rest.output.find("of 2, 2 hold") != std::string::npos);
  auto const status = sextant_program({"status", out, "--json"});
  REQUIRE(status.status == 0);
  CHECK(nlohmann::json::parse(status.output)["count"]["done"] == 10 + 10 * 2);
  auto const runs = results::read_group(fs::path(out) / "study.h5", "runs");
  auto const& tuned = *runs.find_group(ids.at("rope / amount=10 % / linear 0"));
  CHECK(tuned.attribute<std::vector<std::string>>("parents", {}) ==
        std::vector<std::string>{ids.at("rope / amount=none 0")});
}

TEST_CASE("run: weights of training and of tuning read as models, byte tokens and all", "[run][tune][import]") {
  test::TempFolder const folder;
  std::string const spec =
      write_spec(folder,
                 own + training("5") + "tune: {amount: 3 steps, length: 32, scaling: {use: yarn, factor: auto}}\n")
          .string();
  std::string const out = (folder / "out").string();
  REQUIRE(sextant_program({"run", spec, "-o", out}).status == 0);
  auto const ids = stages(spec, {"-o", out});
  auto const shown = sextant_program({"model", "show", weights(out, ids.at("rope 0")).string(), "--json"});
  INFO(shown.output);
  REQUIRE(shown.status == 0);
  auto const facts = nlohmann::json::parse(shown.output);
  CHECK(facts["context_length"] == 32);
  CHECK(facts["trained_length"] == 16);
  CHECK(facts["scaling"].get<std::string>().find("factor=2") != std::string::npos);
  CHECK(facts["scaling"].get<std::string>().find("original_length=16") != std::string::npos);
  CHECK(facts["tokenizer"].get<std::string>().find("256 tokens") != std::string::npos);
}

TEST_CASE("run: no token of a held-out document is in what trains, whatever the tokenizer", "[run][tokens]") {
  test::TempFolder const folder;
  spec::Data data{.corpus = write_letters(folder)};
  data.split.train = 0.7, data.split.test = 0.3, data.split.cut = spec::Cut::documents;
  for (std::string const& tokens : {std::string("bytes"), tiny_llama()}) {
    data.tokens = tokens;
    auto const part = run::split_of(run::load_text(data, folder.path()), data);
    std::set<std::int32_t> const train(part.train.begin(), part.train.end()), held(part.test.begin(), part.test.end());
    CHECK(train.size() >= 10);
    CHECK(held.size() >= 6);
    for (auto const id : held) CHECK_FALSE(train.contains(id));
    auto const facts = run::facts_of(data, folder.path());
    CHECK(facts.train == static_cast<std::int64_t>(part.train.size()));
    CHECK(facts.vocabulary == (tokens == "bytes" ? 256 : 268));
  }
}

TEST_CASE("run: a model of others is trained on in its own tokens, and its loss is known by byte",
          "[run][from][tune]") {
  test::TempFolder const folder;
  std::string const spec = write_spec(folder, R"(sextant: 1
study: on
model: {from: )" + tiny_llama() + R"(}
data: {corpus: )" + write_letters(folder) + R"(, split: {train: 0.5, test: 0.5, cut: documents}}
train: {steps: 40, length: 16, batch: 64 tokens, optimiser: {rate: 1e-2}, seeds: [0]}
evaluate:
  - {use: lm_loss, lengths: [16], windows: 64, keep: [mean]}
)")
                               .string();
  std::vector<std::string> const cache{"SEXTANT_CACHE=" + (folder / "cache").string()};
  std::string const out = (folder / "out").string();
  auto const run = sextant_program({"run", spec, "-o", out}, cache);
  INFO(run.output);
  REQUIRE(run.status == 0);
  CHECK(fs::exists(folder / "cache" / "tokens"));
  auto const plan = sextant_program({"plan", spec, "--json"}, cache);
  auto const determined = nlohmann::json::parse(plan.output)["train"][0]["determined_by"];
  CHECK(determined["model"]["from"] == sha256_file(tiny_llama()));
  CHECK(determined["model"]["vocabulary"] == 268);
  CHECK(determined["data"]["tokens"].get<std::string>().size() == 64);
  // Loss per byte is the loss per token over the bytes of a token.
  auto const study = results::read_file(fs::path(out) / "study.h5");
  auto const table = results::table(study.group("summary/results"));
  double per_token = 0, per_byte = 0;
  for (auto const& row : table) {
    (row.region == "mean" ? per_token : per_byte) = row.value;
    CHECK(row.units == (row.region == "mean" ? "nat/token" : "nat/byte"));
  }
  CHECK(per_byte > 0);
  CHECK(per_byte <= per_token * (1 + 1e-12));
  auto const untouched = sextant_program({"run", spec, "-o", out + "0", "--set", "train.steps=0"}, cache);
  INFO(untouched.output);
  REQUIRE(untouched.status == 0);
  auto const before = results::table(results::read_file(fs::path(out + "0") / "study.h5").group("summary/results"));
  CHECK(before.at(0).value != per_token);
  auto const wrong = sextant_program({"validate", spec, "--set", "data.tokens=bytes"}, cache);
  CHECK(wrong.status == 2);
  CHECK(wrong.output.find("expected the tokenizer of the model") != std::string::npos);
}
