// search and extend as a user runs them: on a trained arm of a study, and on a folder as transformers saves it.
#include <sextant/results/file.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <cstdlib>
#include <run/tiny_study.hpp>
#include <sextant/base/json.hpp>
#include <support/data_file.hpp>
#include <support/hf_folder.hpp>
#include <support/holds.hpp>

using namespace sextant;
using test::holds;
using test::sextant_program;

namespace search_test {
namespace {
std::string data(std::string const& name) { return test::data_file("pretrained/" + name); }
/// Prose of which every word was seen, as many bytes as a tiny model needs.
std::string prose(int sentences) {
  std::string out;
  for (int n = 0; n < sentences; ++n)
    out += sextant::text("the river of light ", n * n % 97, " under the stone and wind. ");
  return out;
}
}  // namespace

TEST_CASE("cli: search on a trained arm of a study finds factors at least as good as YaRN's, and goes on where it was",
          "[cli][search]") {
  test::TempFolder const folder;
  auto const spec = test::write_tiny_study(folder, 40);
  std::string const study = (folder / "study").string(), found = (folder / "found").string();
  auto const trained = sextant_program({"run", spec.string(), "-o", study, "--quiet", "--only", "rope+alibi"});
  INFO(trained.output);
  REQUIRE(trained.status == 0);
  std::vector<std::string> const command = {"search",      study, "--arm",      "rope+alibi", "--to",         "64",
                                            "--budget",    "12",  "-o",         found,        "--population", "6",
                                            "--documents", "3",   "--held-out", "2",          "--quiet"};
  auto const ran = sextant_program(command);
  INFO(ran.output);
  REQUIRE(ran.status == 0);
  CHECK(holds(ran.output, "Search objective (loss at 64 tokens of the search documents)"));
  CHECK(holds(ran.output, "Held out: Loss by length"));
  auto const search = results::read_file(fs::path(found) / "study.h5").group("search");
  auto const lowest = [&](char const* method) { return search.numbers(std::string(method) + "/best").back(); };
  CHECK(search.numbers("evolution/best").size() == 12);
  CHECK(lowest("evolution") <= search.numbers("yarn-tuned/objective")[0] * (1 + 1e-6));
  for (std::size_t n = 0; n < 3; ++n) CHECK(lowest("evolution") <= search.numbers("evolution/objective")[n]);
  CHECK(fs::exists(fs::path(found) / "report.html"));
  CHECK(holds(ran.output, "winner.yaml: not written: 2 encodings act in the model"));

  auto const again = sextant_program(command);
  REQUIRE(again.status == 0);
  auto const same = results::read_file(fs::path(found) / "study.h5").group("search");
  for (char const* method : {"evolution", "random", "yarn-tuned"})
    CHECK(same.numbers(std::string(method) + "/objective") == search.numbers(std::string(method) + "/objective"));

  write_file_atomically(folder / "claims.yaml",
                        "claims:\n  list:\n    - id: held-out\n      test: lm_loss.mean @ 64 {scaling=evolution} < "
                        "lm_loss.mean @ 64 {scaling=yarn}\n");
  auto const judged = sextant_program({"check", found, "--claims", (folder / "claims.yaml").string()});
  INFO(judged.output);
  CHECK(judged.status == 0);
  CHECK(holds(judged.output, "held-out"));
  CHECK(holds(judged.output, "2 documents"));

  std::vector<std::string> lists = command;  // three evaluations are the three lists: each winner is one of them again
  lists[7] = lists[11] = "3";
  lists[9] = (folder / "lists").string();
  auto const again_a_list = sextant_program(lists);
  INFO(again_a_list.output);
  CHECK(again_a_list.status == 0);

  std::vector<std::string> odd = lists;  // a factor that no power of two is, and a folder that holds another search
  odd[5] = "52";
  auto const taken = sextant_program(odd);
  INFO(taken.output);
  CHECK(taken.status == 2);
  CHECK(holds(taken.output, "holds another study, search-"));
  odd[9] = (folder / "odd").string();
  auto const elsewhere = sextant_program(odd);
  INFO(elsewhere.output);
  CHECK(elsewhere.status == 0);

  auto const other = sextant_program({"search", study, "--arm", "rope"});
  CHECK(other.status == 2);
  CHECK(holds(other.output, "search: the study has no arm rope"));
  auto const untrained = sextant_program({"search", study, "--arm", "fox"});
  CHECK(untrained.status == 2);
  CHECK(holds(untrained.output, "is not trained yet; run the study first"));
  CHECK(holds(sextant_program({"search", study}).output, "expected --arm, one of fox, rope+alibi"));
}

TEST_CASE("cli: a folder with config, weights and tokenizer is shown, tokenised, stretched, searched and imported",
          "[cli][folder][search]") {
  test::TempFolder const folder;
  auto const file = pretrained::open_source(data("tiny_llama.gguf"), encoding::Registry::global());
  auto const model = (folder / "model").string();
  test::write_hf_folder(model, file, encoding::Registry::global());
  write_file_atomically(folder / "a.txt", prose(60));
  write_file_atomically(folder / "b.txt", prose(70));
  std::string const a = (folder / "a.txt").string(), b = (folder / "b.txt").string();
  auto const run = [](std::vector<std::string> const& arguments) {
    auto const ran = sextant_program(arguments);
    INFO(ran.output);
    REQUIRE(ran.status == 0);
    return ran.output;
  };
  CHECK(holds(run({"model", "show", model}), "268 tokens"));
  auto const ids = run({"tokenize", model, "--text", a, "--json"});
  CHECK(ids == run({"tokenize", data("tiny_llama.gguf"), "--text", a, "--json"}));
  run({"import", model, "-o", (folder / "model.safetensors").string()});
  CHECK(ids == run({"tokenize", (folder / "model.safetensors").string(), "--text", a, "--json"}));
  CHECK(holds(run({"doctor", model}), "config.json"));
  auto const stretched = [&](std::string const& from, std::string const& name) {
    auto out = run({"extend", from, "--text", a, "--with", "linear", "--to", "128", "--tail", "16", "--depths", "0",
                    "--rows", "0", "--quiet", "--json", "-o", (folder / name).string()});
    return nlohmann::json::parse(out.substr(out.find('['), out.rfind(']') + 1 - out.find('[')));
  };
  CHECK(stretched(model, "one") == stretched(data("tiny_llama.gguf"), "two"));

  // Another scaling goes on in a folder that is named, and keeps the earlier study; another length is another study.
  std::vector<std::string> extend = {"extend",
                                     model,
                                     "--text",
                                     a,
                                     "--with",
                                     "ntk",
                                     "--to",
                                     "128",
                                     "--tail",
                                     "16",
                                     "--depths",
                                     "0",
                                     "--rows",
                                     "0",
                                     "--quiet",
                                     "-o",
                                     (folder / "one").string()};
  auto const kept = [&] {
    std::vector<std::string> out;
    for (auto const& entry : fs::directory_iterator(folder / "one"))
      if (entry.path().extension() == ".h5")
        out.push_back(results::read_file(entry.path()).attribute<std::string>("study", ""));
    std::sort(out.begin(), out.end());
    return out;
  };
  std::string const name = kept().front().substr(0, kept().front().find("-to-"));
  CHECK(kept() == std::vector{name + "-to-128-linear-x2"});
  CHECK(holds(run(extend), "the earlier study file shows other measurements"));
  CHECK(kept() == std::vector{name + "-to-128-linear-x2", name + "-to-128-ntk-x2"});
  run(extend);
  CHECK(kept().size() == 2);
  extend[7] = "120";
  CHECK(holds(sextant_program(extend).output, "holds another study, " + name + "-to-128-ntk-x2"));
  extend.resize(extend.size() - 2);
  fs::path const before = fs::current_path();
  fs::current_path(folder.path());
  run(extend);
  run({"search", model, "--text", a, b, "--held-out", "1", "--to", "128", "--budget", "4", "--population", "4",
       "--seed", "7", "--quiet"});
  fs::current_path(before);
  CHECK(fs::exists(folder / "results" / (name + "-to-120-ntk-x1.875") / "study.h5"));
  CHECK(fs::exists(folder / "results" / ("search" + name.substr(6) + "-to-128-seed7") / "study.h5"));
  auto const searched = run({"search", model, "--text", a, b, "--held-out", "1", "--to", "128", "--budget", "4",
                             "--population", "4", "--quiet", "-o", (folder / "found").string()});
  CHECK(holds(searched, "evolution"));
  auto const config = read_file(folder.path() / "found" / "winner.config.json");
  CHECK(holds(config, "longrope"));
  CHECK(holds(read_file(folder.path() / "found" / "winner.gguf.txt"), "llama.rope.scaling.type = longrope"));
  CHECK(holds(
      run({"convert", "--from", "gguf", "--to", "sextant", (folder.path() / "found" / "winner.gguf.txt").string()}),
      "use: longrope"));
  CHECK(holds(sextant_program({"search", model, "--text", a, a, "--to", "128"}).output,
              "a.txt is the text of a.txt again"));
  CHECK(
      holds(sextant_program({"extend", model, "--text", a, "--with", " "}).output, "--with has an arm without a name"));
  auto const taken = sextant_program({"extend", model, "--text", a, "--to", "128", "--tail", "16", "--depths", "0",
                                      "--rows", "0", "-o", (folder / "found").string()});
  INFO(taken.output);
  CHECK(taken.status == 2);
  CHECK(holds(taken.output, "found: holds another study, search-"));
  auto const silent = sextant_program({"extend", data("tiny_mistral"), "--text", a});
  CHECK(silent.status == 2);
  CHECK(holds(silent.output, "`extend` reads text, and the folder has no tokenizer.json"));
}
}  // namespace search_test
