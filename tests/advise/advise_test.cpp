#include <sextant/advise/advise.hpp>
#include <sextant/base/file.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/yaml.hpp>

#include <algorithm>
#include <catch2/catch_all.hpp>
#include <cstdlib>
#include <regex>
#include <sextant/base/json.hpp>

#include "support/complaint.hpp"

using namespace sextant;
using namespace sextant::advise;

namespace {
encoding::Registry const& plugins() { return encoding::Registry::global(); }
Advice asked(Wish const& wish) { return advise::advise(wish, plugins()); }
std::string first(Wish const& wish) {
  auto const advice = asked(wish);
  return advice.recommended.empty() ? "" : advice.recommended.front().id;
}
bool among(std::vector<Rule> const& rules, std::string const& id) {
  return std::any_of(rules.begin(), rules.end(), [&](Rule const& rule) { return rule.id == id; });
}
}  // namespace

TEST_CASE("advise: known situations get the recommendation of the paper that covers them", "[advise]") {
  CHECK(first({.trained = 8192, .target = 131072, .budget = 0.02}) == "yarn");
  CHECK(first({.trained = 8192, .target = 8192}) == "within");
  CHECK(first({.trained = 8192, .target = 4096, .budget = 0.5}) == "within");
  CHECK(first({.trained = 4096, .target = 8192}) == "dynamic-yarn");
  CHECK(first({.trained = 4096, .target = 32768}) == "longrope-untuned");
  CHECK(first({.trained = 4096, .target = 65536}) == "dual-chunk");
  CHECK(first({.trained = 4096, .target = 2097152, .budget = 0.01}) == "longrope");
  CHECK(first({.trained = 4096, .target = 1000000, .task = Task::stream}) == "stream");
  CHECK(first({.trained = 40, .target = 500, .task = Task::algorithmic, .from_scratch = true}) ==
        "scratch-algorithmic");
  CHECK(first({.trained = 256, .target = 2048, .task = Task::lm, .from_scratch = true}) == "scratch-alibi");
  auto const retrieval = asked({.trained = 4096, .target = 131072, .budget = 0.0025, .task = Task::retrieval});
  CHECK(among(retrieval.recommended, "continued-retrieval"));
  CHECK(among(retrieval.cautions, "measure-retrieval"));
  CHECK(among(asked({.trained = 256, .target = 1024}).cautions, "untuned-linear"));
  CHECK_FALSE(among(asked({.trained = 256, .target = 1024, .budget = 0.01}).cautions, "untuned-linear"));
}

TEST_CASE("advise: what nothing covers is said to be unknown", "[advise]") {
  auto const far = asked({.trained = 4096, .target = 4096 * 100});
  CHECK_FALSE(far.answers());
  REQUIRE(far.unknown.size() == 1);
  CHECK(far.unknown[0].find("how to reach 100 times the trained length with 0 % of the training tokens") == 0);
  CHECK_FALSE(asked({.trained = 4096, .target = 4096 * 1000, .budget = 1}).answers());
  CHECK_FALSE(asked({.trained = 512, .target = 512 * 64, .task = Task::retrieval, .from_scratch = true}).answers());
}

TEST_CASE("advise: demands that contradict each other are named with the numbers", "[advise]") {
  Wish wish{.trained = 8192, .target = 131072, .budget = 0.02, .task = Task::retrieval, .memory = 8.0 * (1ull << 30)};
  wish.cache = {.layers = 32, .kv_heads = 8, .head_width = 128, .number_bytes = 2};
  // 2 x 32 x 8 x 128 x 2 bytes a token: 128 KiB, so 16 GiB at 131072 tokens
  CHECK(cache_bytes(wish.cache, 131072) == 16.0 * (1ull << 30));
  auto const advice = asked(wish);
  CHECK_FALSE(advice.answers());
  REQUIRE(advice.contradictions.size() == 1);
  CHECK(advice.contradictions[0].find("16384 MiB") != std::string::npos);
  CHECK(advice.contradictions[0].find("they hold 65536 tokens") != std::string::npos);
  CHECK(advice.contradictions[0].find("retrieval from anywhere needs all of them") != std::string::npos);
  wish.memory = 17.0 * (1ull << 30);
  CHECK(asked(wish).answers());
  wish.memory = 8.0 * (1ull << 30), wish.task = Task::stream;
  CHECK(asked(wish).answers());
}

TEST_CASE("advise: wishes that make no sense are refused", "[advise][reject]") {
  using test::complaint;
  auto const message = [](Wish const& wish) { return complaint([&] { asked(wish); }); };
  CHECK(message({.trained = 0, .target = 8}).find("--trained is 0") != std::string::npos);
  CHECK(message({.trained = 8, .target = 8.5}).find("--to is 8.5") != std::string::npos);
  CHECK(message({.trained = 8, .target = 16, .budget = 1.5}).find("--budget is 150 %") != std::string::npos);
  CHECK(message({.trained = 8, .target = 16, .memory = 1e9}).find("needs --layers") != std::string::npos);
  CHECK(message({.trained = 8, .target = 16, .base = 1e4}).find("--base needs --head-width") != std::string::npos);
  CHECK(
      message({.trained = 8192, .target = 16777217, .base = 1e4, .head_width = 64}) ==
      "advise: --to is 16777217 beside --base, whose frequencies are examined up to 16777216 tokens; expected at most "
      "that, or no --base");
  CHECK_NOTHROW(asked({.trained = 8192, .target = 16777216, .base = 1e9, .head_width = 64}));
  CHECK(complaint([] { task_of("retreival"); }).find("did you mean retrieval") != std::string::npos);
}

TEST_CASE("advise: every rule cites a paper or a study that is there, and says what a spec would say",
          "[advise][rules]") {
  spec::Catalogue const catalogue(plugins());
  std::regex const paper("arXiv:[0-9]{4}\\.[0-9]{5}.*, (abstract|sections? [0-9]).*"),
      study("study: (experiments/[a-z0-9_-]+).*");
  for (auto const& rule : rules()) {
    INFO(rule.id);
    std::smatch found;
    std::string const citation = rule.citation;
    bool const of_study = std::regex_match(citation, found, study);
    CHECK((of_study || std::regex_match(citation, paper)));
    if (of_study) CHECK(fs::exists(fs::path(std::getenv("SEXTANT_SOURCE")) / found[1].str() / "README.md"));
    CHECK(std::string(rule.reason).size() > 30);
    CHECK(std::string(rule.what).size() > 3);
    std::string const position = filled(rule.position, 4);
    if (position.empty() || position.find("...") != std::string::npos) continue;
    auto const node = spec::parse_yaml(position, "rule");
    spec::Reading reading{catalogue, {}};
    auto const& entry = node.entries.at(0);
    auto const role = entry.key == "scaling" ? encoding::Role::scaling : encoding::Role::encoding;
    CHECK_NOTHROW(spec::read_choices(entry.value, role, entry.key, reading));
  }
}

TEST_CASE("advise: evidence is computed for the base that is given", "[advise]") {
  auto const advice = asked({.trained = 4096, .target = 16384, .budget = 0.01, .base = 10000, .head_width = 128});
  REQUIRE(advice.evidence.size() == 4);
  CHECK(advice.evidence[0].scaling == "none");
  // pairs with 4095 base^(-2p/128) / 2 pi >= 1
  CHECK(advice.evidence[0].completed == 46);
  CHECK(advice.evidence[0].pairs == 64);
  CHECK(advice.evidence[0].unseen > 0.1);
  CHECK(advice.evidence[1].unseen < 1e-3);  // linear: every angle lies where training was
  CHECK(advice.evidence[3].scaling == "yarn x4");
  CHECK(advice.evidence[3].unseen < advice.evidence[0].unseen);
  CHECK_FALSE(among(advice.cautions, "base-bound"));
  auto const page = advice_json(advice);
  CHECK(page["recommended"][0]["id"] == "yarn");
  CHECK(page["recommended"][0]["position"] == "scaling: {use: yarn, factor: 4}");
}
