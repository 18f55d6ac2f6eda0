// Tuning of extend against a plain loop of optimiser steps, and through the program against itself cut short.
#include <sextant/extend/tune.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/results/compare.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>

#include <set>

#include "support/data_file.hpp"
#include "support/process.hpp"

using namespace sextant;
using namespace sextant::extend;
using test::sextant_program;

namespace tune_test {
namespace {
std::string tiny_llama() { return test::data_file("pretrained/tiny_llama.gguf"); }

/// Document k is nothing but token k, and one is too short for a row.
Tuning one_token_documents() {
  Tuning out{.steps = 6, .length = 24, .rows = 5, .rate = 1e-3, .warmup = 2, .seed = 3};
  for (int k = 0; k < 8; ++k)
    out.documents.push_back({text("document ", k), text("sha of ", k),
                             std::vector<std::int32_t>(static_cast<std::size_t>(k == 7 ? 24 : 25 + 30 * k), k)});
  return out;
}

Subject subject() {
  model::ModelConfig config;
  config.vocabulary = 31;
  config.layers = 2, config.width = 16, config.heads = 2, config.kv_heads = 1, config.head_dim = 8;
  config.mlp_width = 12;
  Subject out;
  out.name = "tiny", out.sha256 = "tiny";
  out.position = {{{"rope", {}, {}}}, {}, 8};
  encoding::Shape const shape{.heads = 2, .kv_heads = 1, .head_dim = 8, .model_dim = 16};
  out.network = std::make_shared<run::Network>(
      config, std::make_shared<encoding::Position const>(out.position, encoding::Registry::global(), shape), 5);
  out.description.family = "sextant";
  return out;
}
std::vector<float> numbers(View1<float> const& x) {
  Kokkos::fence();
  return {x.data(), x.data() + x.size()};
}

/// A corpus of documents of words, long enough for 128 tokens and a row.
fs::path write_corpus(test::TempFolder const& folder) {
  char const* const words[] = {"wind ", "stone ", "river ", "of ", "the ", "and ", "light ", "under "};
  fs::create_directories(folder / "corpus");
  for (int n = 0; n < 6; ++n) {
    Stream const stream(static_cast<std::uint64_t>(n), "words");
    std::string all;
    for (int i = 0; i < 120; ++i) all += words[stream.below(8, static_cast<std::uint64_t>(i))];
    write_file_atomically(folder / "corpus" / text("d", n, ".txt"), all);
  }
  return folder / "corpus";
}
std::vector<std::string> command(test::TempFolder const& folder, std::string const& out, std::string const& tokens) {
  return {"extend",       tiny_llama(),
          "--corpus",     write_corpus(folder).string(),
          "--documents",  "2",
          "--tail",       "16",
          "--with",       "none,linear,yarn",
          "--to",         "128",
          "--lengths",    "64",
          "--depths",     "0",
          "--rows",       "0",
          "--tune",       tokens,
          "--tune-batch", "2",
          "--tune-rate",  "1e-3",
          "--tune-save",  "3",
          "-o",           (folder / out).string()};
}
}  // namespace

TEST_CASE("extend: rows to tune on are pieces of one document each, every piece as likely", "[extend][tune]") {
  auto const tuning = one_token_documents();
  std::vector<double> count(8, 0.0);
  int const steps = 4000;
  for (int step = 0; step < steps; ++step) {
    auto const rows = draw_rows(tuning, step);
    REQUIRE(rows.extent_int(1) == 25);
    for (int r = 0; r < 5; ++r) {
      std::set<int> const seen(&rows(r, 0), &rows(r, 0) + 25);
      REQUIRE(seen.size() == 1);
      count[static_cast<std::size_t>(*seen.begin())] += 1;
    }
  }
  CHECK(count[7] == 0);
  double const pieces = 7 + 30 * 21;  // document k has 1 + 30 k
  for (int k = 0; k < 7; ++k) {
    double const expected = 5.0 * steps * (1 + 30 * k) / pieces;
    CHECK(std::abs(count[static_cast<std::size_t>(k)] - expected) < 5 * std::sqrt(expected) + 1);
  }
}

TEST_CASE("extend: a tuned model is the one that as many plain steps from the same weights make", "[extend][tune]") {
  auto const model = subject();
  auto const tuning = one_token_documents();
  Settings const settings{.lengths = {8, 24}, .tail = 4, .depths = 0, .rows = 0};
  auto const& registry = encoding::Registry::global();
  auto const before = numbers(model.network->parameters());
  auto const arms = make_arms(model, {{}, {{"linear", {{"factor", 3.0}}, {}}}}, settings, registry, &tuning);
  REQUIRE(arms.size() == 4);
  CHECK(arms[1].label == "none tuned");
  CHECK(arms[3].label == "linear x3 tuned");
  std::vector<Document> const documents{{"text", "sha", std::vector<std::int32_t>(40, 3)}};
  test::TempFolder const folder;
  results::Store const store(folder.path());
  Work const work{model, documents, arms, settings, registry, &tuning, &store};
  carry_out(Exec(), stages_of(work), store, true);
  CHECK(numbers(model.network->parameters()) == before);  // the model itself stays as it was
  for (auto const& arm : {arms[1], arms[3]}) {
    auto const position =
        std::make_shared<encoding::Position const>(arm.position, registry, model.network->position().shape(), 24);
    run::Network plain(model.network->config(), position, 5);
    model::TrainConfig config;
    config.schedule = {.rate = 1e-3, .warmup = 2, .steps = 6, .floor = 1};
    config.decay = 0;
    config.pass.tokens_at_once = 24;
    model::Trainer<float> trainer(plain, config);
    for (int step = 0; step < 6; ++step) trainer.step(Exec(), model::next_token_batch(Exec(), draw_rows(tuning, step)));
    CHECK(numbers(weights_of(work, arm)->parameters()) == numbers(plain.parameters()));
    CHECK(numbers(plain.parameters()) != before);
  }
  CHECK(numbers(weights_of(work, arms[1])->parameters()) != numbers(weights_of(work, arms[3])->parameters()));
  auto const again = pretrained::open_source(weights_file(store, arms[3]), registry);
  CHECK(again.description.context_length == 24);
  CHECK(again.description.position.scalings.at(0).use == "linear");
}

TEST_CASE("extend: what cannot be tuned is refused with its reason", "[extend][tune]") {
  auto const model = subject();
  auto tuning = one_token_documents();
  tuning.length = 300;
  CHECK_THROWS_WITH(tuning.check(model), Catch::Matchers::ContainsSubstring(
                                             "rows of 301 tokens, and the longest of 8 documents to train on has 205"));
  tuning = one_token_documents();
  tuning.rate = 0;
  CHECK_THROWS_WITH(tuning.check(model), Catch::Matchers::ContainsSubstring("the rate is 0"));
}

TEST_CASE("extend: --tune prints before and after, trains on no document that is measured, and leaves models",
          "[extend][tune][cli]") {
  test::TempFolder const folder;
  auto const run = sextant_program(command(folder, "out", "3000"));
  INFO(run.output);
  REQUIRE(run.status == 0);
  CHECK(run.output.find("What tuning did: loss before and after") != std::string::npos);
  CHECK(run.output.find("linear x2 tuned: ") != std::string::npos);
  auto const said =
      nlohmann::json::parse(results::read_file(folder / "out" / "study.h5").group("spec").text("resolved"));
  std::set<std::string> names;
  for (auto const& document : said["documents"]) names.insert(document["name"]);
  CHECK(names == std::set<std::string>{"d0.txt", "d1.txt"});
  CHECK(said["tune"]["steps"] == 12);  // 3000 tokens, 2 rows of 128 a step
  CHECK(said["tune"]["documents"].size() == 4);
  for (auto const& document : said["tune"]["documents"]) CHECK_FALSE(names.contains(document["name"]));
  auto at = run.output.find("yarn x2 tuned: ");
  REQUIRE(at != std::string::npos);
  at += 15;
  std::string const file = run.output.substr(at, run.output.find('\n', at) - at);
  auto const shown = sextant_program({"model", "show", file, "--json"});
  INFO(shown.output);
  REQUIRE(shown.status == 0);
  auto const facts = nlohmann::json::parse(shown.output);
  CHECK(facts["context_length"] == 128);
  CHECK(facts["tokenizer"].get<std::string>().find("268 tokens") != std::string::npos);
  std::string const copy = (folder / "copy.safetensors").string();
  CHECK(sextant_program({"import", file, "-o", copy}).status == 0);
  auto const read = sextant_program({"extend", copy, "--corpus", (folder / "corpus").string(), "--documents", "2",
                                     "--tail", "16", "--to", "128", "--lengths", "64", "--depths", "0", "--rows", "0",
                                     "--json", "-o", (folder / "again").string()});
  INFO(read.output);
  REQUIRE(read.status == 0);
  // What the tuned model measures as a model of its own is what it measured as an arm.
  auto const loss = [](fs::path const& study, std::string const& scaling) {
    auto const file_of = results::read_file(study / "study.h5");
    for (auto const& [id, one] : file_of.group("runs").groups)
      if (one.attribute<std::string>("scaling") == scaling) return one.numbers("eval/lm_loss/mean");
    return std::vector<double>();
  };
  auto const as_arm = loss(folder / "out", "yarn x2 tuned"), alone = loss(folder / "again", "none");
  REQUIRE(as_arm.size() == 2);
  CHECK(alone == as_arm);
}

TEST_CASE("extend: killed while it tunes and resumed, a study ends with the same bits as one left alone",
          "[extend][resume][tune]") {
  test::TempFolder const folder;
  auto const began = std::chrono::steady_clock::now();
  REQUIRE(sextant_program(command(folder, "whole", "30000")).status == 0);
  double const seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  int killed = 0;
  Stream const moments(29, "kill");
  for (int n = 0; n < 6; ++n) {
    test::Program program(command(folder, "killed", "30000"));
    std::this_thread::sleep_for(
        std::chrono::duration<double>(seconds * 0.5 * moments.uniform(static_cast<std::uint64_t>(n))));
    program.kill(n % 2 ? SIGKILL : SIGINT);
    killed += program.wait().status != 0;
  }
  CHECK(killed >= 2);
  auto const last = sextant_program(command(folder, "killed", "30000"));
  INFO(last.output);
  REQUIRE(last.status == 0);
  CHECK(results::summary(results::compare_numbers(folder / "whole" / "study.h5", folder / "killed" / "study.h5")) ==
        "");
}
}  // namespace tune_test
