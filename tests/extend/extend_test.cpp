// A model that nobody trained, read at up to three times the length it says it was trained at.
#include <sextant/extend/losses.hpp>
#include <sextant/extend/needles.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/extend/tables.hpp>
#include <sextant/report/text.hpp>
#include <sextant/results/compare.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_all.hpp>

#include "support/temp_folder.hpp"

using namespace sextant;
using namespace sextant::extend;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {
constexpr int vocabulary = 31, trained = 8;

encoding::Choice scaling(char const* use, encoding::Value factor) { return {use, {{"factor", factor}}, {}}; }

struct Case {
  Subject subject;
  std::vector<Document> documents;
  Settings settings{.lengths = {6, 8, 16, 24}, .tail = 4, .depths = 0, .rows = 2};
  std::vector<Arm> arms;

  Case() {
    model::ModelConfig config;
    config.vocabulary = vocabulary;
    config.layers = 2, config.width = 16, config.heads = 2, config.kv_heads = 1, config.head_dim = 8;
    config.mlp_width = 12, config.init_std = 0.4;
    encoding::Shape const shape{.heads = 2, .kv_heads = 1, .head_dim = 8, .model_dim = 16};
    subject.position = {{{"rope", {}, {}}}, {}, trained};
    subject.name = "tiny", subject.sha256 = "tiny";
    subject.network = std::make_shared<run::Network>(
        config, std::make_shared<encoding::Position const>(subject.position, encoding::Registry::global(), shape), 5);
    subject.encode = [](std::string_view text) {
      std::vector<std::int32_t> out;
      for (char c : text) out.push_back(static_cast<unsigned char>(c) % vocabulary);
      return out;
    };
    for (int n = 0; n < 3; ++n) {
      Document document{text("text ", n), text("sha of ", n), {}};
      Stream const stream(static_cast<std::uint64_t>(n), "text");
      for (int i = 0; i < 200; ++i)
        document.tokens.push_back(static_cast<std::int32_t>(stream.below(vocabulary, static_cast<std::uint64_t>(i))));
      documents.push_back(document);
    }
    with({{scaling("linear", encoding::Auto{})}, {scaling("dynamic", 3.0)}});
  }
  void with(std::vector<std::vector<encoding::Choice>> const& scalings) {
    arms = make_arms(subject, scalings, settings, encoding::Registry::global());
  }
  Work work() const { return {subject, documents, arms, settings, encoding::Registry::global()}; }
  results::Group study(fs::path const& folder) const {
    auto const all = work();
    auto const stages = stages_of(all);
    results::Store const store(folder);
    carry_out(Exec(), stages, store, true);
    results::Study study{.name = "tiny", .title = "tiny", .runs = runs_of(stages, all)};
    return results::assemble(study, store);
  }
};

/// Loss of the last `tail` of the first `length` tokens, by a pass of its own.
double tail_alone(Case const& c, Arm const& arm, Document const& document, int from, int length, int tail) {
  auto network = seen_by(c.work(), arm, length);
  auto const loss =
      losses(Exec(), network, std::span(document.tokens).subspan(std::size_t(from), std::size_t(length) + 1));
  return statistics::mean(std::span(loss).last(std::size_t(tail)));
}

results::Group const& run_of(results::Group const& study, std::string const& scaling) {
  for (auto const& [id, run] : study.group("runs").groups)
    if (run.attribute<std::string>("scaling") == scaling) return run;
  FAIL("no arm " << scaling);
  throw 0;
}
}  // namespace

TEST_CASE("extend: a factor that is auto reaches the longest length, and none comes first", "[extend]") {
  Case const c;
  REQUIRE(c.arms.size() == 3);
  CHECK(c.arms[0].label == "none");
  CHECK(std::get<double>(c.arms[1].position.scalings[0].options.at("factor")) == 3);
  CHECK_FALSE(c.arms[1].follows_length);
  CHECK(c.arms[2].follows_length);
}

TEST_CASE("extend: losses by length are those of passes of that length alone, for every arm and document",
          "[extend][law]") {
  Case const c;
  test::TempFolder const folder;
  auto const study = c.study(folder.path());
  for (auto const& arm : c.arms) {
    auto const& eval = run_of(study, arm.label).group("eval/lm_loss");
    auto const each = eval.values<double>("tail4_by_window", {4, 3});
    auto const mean_of = eval.values<double>("tail4");
    for (std::size_t n = 0; n < c.settings.lengths.size(); ++n) {
      double sum = 0;
      for (std::size_t d = 0; d < 3; ++d) {
        double const expected = tail_alone(c, arm, c.documents[d], 0, c.settings.lengths[n], 4);
        INFO(arm.label << " at " << c.settings.lengths[n] << ", document " << d);
        CHECK(each[n * 3 + d] == Approx(expected).epsilon(1e-5));
        sum += expected / 3;
      }
      CHECK(mean_of[n] == Approx(sum).epsilon(1e-5));
    }
  }
}

TEST_CASE("extend: the window control reads the same tokens with the trained length alone", "[extend][law]") {
  Case const c;
  test::TempFolder const folder;
  auto const study = c.study(folder.path());
  auto const& eval = run_of(study, "none").group("eval/window_control");
  CHECK(eval.values<std::int64_t>("length") == std::vector<std::int64_t>{16, 24});
  CHECK(eval.values<std::int64_t>("seen") == std::vector<std::int64_t>{8, 8});
  auto const each = eval.values<double>("tail4_by_window", {2, 3});
  for (std::size_t n = 0; n < 2; ++n)
    for (std::size_t d = 0; d < 3; ++d)
      CHECK(each[n * 3 + d] == Approx(tail_alone(c, c.arms[0], c.documents[d], n ? 16 : 8, trained, 4)).epsilon(1e-5));
}

TEST_CASE("extend: a study that was done is not done again, one more arm is, and other text is another study",
          "[extend][resume]") {
  Case c;
  auto const first = stages_of(c.work());
  c.with({{scaling("linear", encoding::Auto{})}, {scaling("dynamic", 3.0)}, {scaling("ntk", 2.0)}});
  auto const more = stages_of(c.work());
  REQUIRE(more.size() > first.size());
  for (std::size_t n = 0; n < first.size(); ++n) CHECK(more[n].id == first[n].id);
  c.documents[1].sha256 = "another";
  auto const other = stages_of(c.work());
  for (std::size_t n = 0; n < first.size(); ++n) CHECK(other[n].id != first[n].id);
}

TEST_CASE("extend: what was kept of a stage that was stopped is used, and the numbers are the same",
          "[extend][resume]") {
  Case const c;
  test::TempFolder const whole, cut;
  c.study(whole.path());
  auto const stages = stages_of(c.work());
  // As a run leaves it that is killed after the first document of the first stage.
  results::Store const store(cut.path());
  auto const kept = fs::path("stages") / stages[0].id / "document_0.h5";
  fs::create_directories((cut.path() / kept).parent_path());
  fs::copy_file(whole.path() / kept, cut.path() / kept);
  c.study(cut.path());
  for (auto const& stage : stages)
    CHECK(results::summary(results::compare_numbers(results::Store(whole.path()).record_file(stage.id),
                                                    store.record_file(stage.id))) == "");
}

TEST_CASE("extend: a passkey stands at its depth, is asked for at the end, and takes the whole length", "[extend]") {
  Case const c;
  auto const told = c.subject.encode("\nThe pass key is 48213. Remember it. 48213 is the pass key.\n");
  auto const answer = c.subject.encode(" 48213");
  for (double depth : {0.0, 0.5, 1.0}) {
    auto const needle = make_needle(c.subject, c.documents[0], 180, depth, 48213);
    REQUIRE(needle.tokens.size() == 181);
    CHECK(needle.answer == static_cast<int>(answer.size()));
    CHECK(std::equal(answer.begin(), answer.end(), needle.tokens.end() - static_cast<std::ptrdiff_t>(answer.size())));
    auto const at = std::search(needle.tokens.begin(), needle.tokens.end(), told.begin(), told.end());
    REQUIRE(at != needle.tokens.end());
    auto const hay = static_cast<double>(181 - told.size() - answer.size() -
                                         c.subject.encode("\nWhat is the pass key? The pass key is").size());
    CHECK(static_cast<double>(at - needle.tokens.begin()) == Approx(depth * hay).margin(1));
  }
  CHECK_THROWS_WITH(make_needle(c.subject, c.documents[0], 60, 0.5, 48213), ContainsSubstring("expected a longer one"));
}

TEST_CASE("extend: tables hold what was measured, and the change against the window is of perplexity", "[extend]") {
  Case c;
  c.settings.lengths = {8, 160};
  c.with({{scaling("linear", encoding::Auto{})}});
  test::TempFolder const folder;
  auto const study = c.study(folder.path());
  auto const tables = tables_of(study);
  std::string all;
  for (auto const& table : tables) all += report::to_csv(table) + "\n";
  INFO(all);
  CHECK(tables.size() == 6);
  auto const loss = [&](char const* arm, char const* probe, std::size_t n) {
    return run_of(study, arm).group(std::string("eval/") + probe).values<double>("tail4")[n];
  };
  double const change = std::exp(loss("linear x20", "lm_loss", 1) - loss("none", "window_control", 0)) - 1;
  CHECK(tables[1].rows.at(1).at(2).text == report::with_sign(100 * change, 1) + " %");
  double const damage = std::exp(loss("linear x20", "lm_loss", 0) - loss("none", "lm_loss", 0)) - 1;
  CHECK(tables[1].rows.at(1).at(1).text == report::with_sign(100 * damage, 1) + " %");
}

TEST_CASE("extend: a grid of passkeys has a mark for every depth, and texts too short for one are refused",
          "[extend]") {
  Case c;
  c.settings.lengths = {110, 160}, c.settings.depths = 3, c.settings.rows = 0;
  c.with({});
  test::TempFolder const folder;
  auto const study = c.study(folder.path());
  auto const& grid = run_of(study, "none").group("eval/needle");
  auto const correct = grid.values<std::int8_t>("correct", {3, 2});
  auto const loss = grid.values<double>("loss", {3, 2});
  for (double one : loss) CHECK((one > 0.5 && one < 12));  // nobody trained it
  auto const tables = tables_of(study);
  std::string marks;
  for (int d = 0; d < 3; ++d) marks += correct[std::size_t(d) * 2 + 1] ? "●" : "○";
  CHECK(tables.back().rows.at(0).at(2).text == marks);
  c.settings.lengths = {60, 160};
  CHECK_THROWS_WITH(c.settings.check(c.subject, c.documents), ContainsSubstring("a passkey takes"));
}

TEST_CASE("extend: arms of one short name are told apart by their options", "[extend]") {
  Case c;
  auto sharper = scaling("yarn", 2.0);
  sharper.options["beta_fast"] = 16.0;
  c.with({{scaling("yarn", 2.0)}, {sharper}, {scaling("linear", 2.0)}});
  auto const& arms = c.arms;
  REQUIRE(arms.size() == 4);
  CHECK(arms[1].label == "yarn {factor: 2}");
  CHECK(arms[2].label == "yarn {beta_fast: 16, factor: 2}");
  CHECK(arms[3].label == "linear x2");
}

TEST_CASE("extend: what does not fit is refused with the numbers", "[extend][reject]") {
  Case c;
  c.settings.lengths = {8, 300};
  CHECK_THROWS_WITH(c.settings.check(c.subject, c.documents),
                    ContainsSubstring("has 200 tokens, expected at least 301"));
  c.settings.lengths = {16, 8};
  CHECK_THROWS_WITH(c.settings.check(c.subject, c.documents), ContainsSubstring("must rise"));
  c.settings.lengths = {8, 16}, c.settings.tail = 9;
  CHECK_THROWS_WITH(c.settings.check(c.subject, c.documents), ContainsSubstring("the tail is 9 tokens"));
  c.settings.tail = 4;
  CHECK_THROWS_WITH(c.settings.check(c.subject, {}), ContainsSubstring("no document of at least 17 tokens"));
  CHECK_THROWS_WITH(c.with({{scaling("linear", 2.0)}, {scaling("linear", 2.0)}}), ContainsSubstring("asked for twice"));
}
