// The search on a model that nobody trained: stages, resuming, winners, what is written and what is refused.
#include <sextant/dialect/ladder.hpp>
#include <sextant/extend/passes.hpp>
#include <sextant/extend/tables.hpp>
#include <sextant/report/load.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>
#include <sextant/search/exports.hpp>
#include <sextant/search/search.hpp>
#include <sextant/search/tables.hpp>
#include <sextant/statistics/sample.hpp>

#include <catch2/catch_all.hpp>
#include <support/complaint.hpp>
#include <support/temp_folder.hpp>

using namespace sextant;
using namespace sextant::search;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;

namespace {
constexpr int vocabulary = 31, trained = 16, target = 64;
encoding::Registry const& plugins() { return encoding::Registry::global(); }

struct Case {
  extend::Subject subject;
  std::vector<extend::Document> documents, held_out;

  explicit Case(encoding::PositionChoice const& position = {{{"rope", {}, {}}}, {}, trained}) {
    model::ModelConfig config;
    config.vocabulary = vocabulary;
    config.layers = 2, config.width = 16, config.heads = 2, config.kv_heads = 1, config.head_dim = 8;
    config.mlp_width = 12, config.init_std = 0.6;
    encoding::Shape const shape{.heads = 2, .kv_heads = 1, .head_dim = 8, .model_dim = 16};
    subject.position = position;
    subject.name = "tiny", subject.sha256 = "tiny";
    subject.network = std::make_shared<run::Network>(
        config, std::make_shared<encoding::Position const>(subject.position, plugins(), shape), 5);
    subject.encode = [](std::string_view text) {
      std::vector<std::int32_t> out;
      for (char const c : text) out.push_back(static_cast<unsigned char>(c) % vocabulary);
      return out;
    };
    for (int n = 0; n < 4; ++n) {
      extend::Document document{text("text ", n), text("sha of ", n), {}};
      Stream const stream(static_cast<std::uint64_t>(n), "text");
      for (int i = 0; i < 300; ++i)
        document.tokens.push_back(static_cast<std::int32_t>(stream.below(vocabulary, static_cast<std::uint64_t>(i))));
      (n < 2 ? documents : held_out).push_back(document);
    }
  }
  Task task() const {
    return {.subject = subject,
            .documents = documents,
            .target = target,
            .tail = 8,
            .settings = {.budget = 14, .population = 6, .parents = 3, .mutations = 2, .crossovers = 2},
            .registry = plugins()};
  }
};

std::vector<double> objectives(std::vector<Course> const& courses) {
  std::vector<double> out;
  for (auto const& course : courses)
    for (auto const& row : course.rows) out.push_back(row.objective);
  return out;
}

/// Mean loss of the last 8 tokens of the target length under a scaling, by passes of its own.
double alone(Case const& c, encoding::Choice const& scaling) {
  std::vector<extend::Arm> const arms{{"one", c.subject.position, false}};
  extend::Settings const settings{.lengths = {target}};
  extend::Work const work{c.subject, c.documents, arms, settings, plugins()};
  auto arm = arms.front();
  arm.position.scalings = {scaling};
  double sum = 0;
  for (auto const& document : c.documents) {
    auto network = extend::seen_by(work, arm, target);
    auto const loss = extend::losses(Exec(), network, std::span(document.tokens).first(target + 1));
    sum += statistics::mean(std::span(loss).last(8)) / double(c.documents.size());
  }
  return sum;
}
}  // namespace

TEST_CASE("search: linear, ntk and yarn are points of the space as they are", "[search][rotation]") {
  Case const c;
  Rotation const rotation(c.subject.position, c.subject.network->position().shape(), target, plugins());
  REQUIRE(rotation.pairs() == 4);
  CHECK(rotation.factor() == 4);
  auto const starts = rotation.starts();
  REQUIRE(starts.size() == 3);
  CHECK(starts[0].genome == Genome{{4, 4, 4, 4}, 0, 1});
  for (int pair = 0; pair < 4; ++pair)
    CHECK(starts[1].genome.factors[std::size_t(pair)] == Approx(std::pow(4.0, 2.0 * pair / 6)).epsilon(1e-13));
  CHECK(starts[1].genome.magnitude == 1);
  CHECK(starts[2].genome.magnitude == Approx(0.1 * std::log(4.0) + 1).epsilon(1e-14));
  for (auto const& start : starts)
    CHECK(alone(c, rotation.scaling_of(start.genome)) ==
          Approx(alone(c, {start.name, {{"factor", 4.0}}, {}})).epsilon(1e-6));
  auto const space = rotation.space(0.01);
  CHECK(space.most == 5);
  CHECK(space.kept == std::vector<int>{0, 1, 2, 4, 8, 12});  // the paper's, within the trained length
  CHECK(space.magnitudes.size() == 3);
  CHECK(space.magnitudes.back() == Approx(std::sqrt(1 + std::log(4.0) / std::log(16.0))).epsilon(1e-14));
}

TEST_CASE("search: an objective is the loss of the documents under that point, and winners are the lowest",
          "[search][law]") {
  Case const c;
  test::TempFolder const folder;
  auto const courses = carry_out(Exec(), c.task(), results::Store(folder.path()), true);
  REQUIRE(courses.size() == 3);
  for (auto const& course : courses) {
    REQUIRE(course.rows.size() == 14);
    for (std::size_t n : {std::size_t(0), std::size_t(5), std::size_t(13)})
      CHECK(course.rows[n].objective == Approx(alone(c, course.rows[n].scaling)).epsilon(1e-6));
    double lowest = 1e9;
    for (auto const& row : course.rows) lowest = std::min(lowest, row.objective);
    CHECK(course.winner().objective == lowest);
    CHECK(course.best_so_far.back() == lowest);
  }
  auto const& bred = courses[0];
  for (std::size_t n = 0; n < 3; ++n) CHECK(bred.winner().objective <= bred.rows[n].objective);
  CHECK(bred.winner().objective <= courses[2].rows[0].objective * (1 + 1e-6));  // YaRN as released
}

TEST_CASE("search: what was evaluated is not evaluated again, and a search that was stopped ends with the same bits",
          "[search][resume]") {
  Case const c;
  test::TempFolder const whole, cut;
  results::Store const first(whole.path()), second(cut.path());
  auto const found = carry_out(Exec(), c.task(), first, true);
  auto const stages = first.list();
  // As a run leaves it that is stopped somewhere: some of its records.
  for (std::size_t n = 0; n < stages.size(); n += 3) {
    fs::create_directories(second.stage_folder(stages[n]));
    fs::copy_file(first.record_file(stages[n]), second.record_file(stages[n]));
  }
  auto const again = carry_out(Exec(), c.task(), second, true);
  CHECK(objectives(again) == objectives(found));
  for (std::size_t k = 0; k < 3; ++k)
    for (std::size_t n = 0; n < 14; ++n) CHECK(again[k].rows[n].genome == found[k].rows[n].genome);
  CHECK(second.list() == stages);
  auto longer = c.task();
  longer.settings.budget = 20;
  auto const more = carry_out(Exec(), longer, second, true);
  for (std::size_t n = 0; n < 14; ++n) CHECK(more[0].rows[n].objective == found[0].rows[n].objective);
}

TEST_CASE("search: passkeys can be the objective", "[search][needle]") {
  Case const c;
  auto task = c.task();
  task.target = 200, task.aim = Aim::needle, task.depths = 2;
  task.settings.budget = 6;
  test::TempFolder const folder;
  results::Store const store(folder.path());
  auto const courses = carry_out(Exec(), task, store, true);
  CHECK(std::isfinite(courses[0].winner().objective));
  auto const each = store.read(store.list().front()).values<double>("search/each");
  CHECK(each.size() == 4);  // two documents at two depths
  CHECK(statistics::mean(each) == store.read(store.list().front()).values<double>("search/objective")[0]);
}

TEST_CASE("search: the study file holds every point, and the report draws its progress and factors",
          "[search][report]") {
  Case const c;
  test::TempFolder const folder;
  results::Store const store(folder.path());
  auto const task = c.task();
  auto const courses = carry_out(Exec(), task, store, true);
  auto const arms = arms_of(task, courses);
  std::vector<std::string> labels;
  for (auto const& arm : arms) labels.push_back(arm.label);
  CHECK(labels == std::vector<std::string>{"none", "linear", "ntk", "yarn", "evolution", "random", "yarn-tuned"});
  extend::Settings const settings{.lengths = {trained, target}, .tail = 8, .rows = 0};
  extend::Work const work{c.subject, c.held_out, arms, settings, plugins()};
  auto const stages = extend::stages_of(work);
  extend::carry_out(Exec(), stages, store, true);
  results::Study study{.name = "search-tiny", .title = "tiny", .runs = extend::runs_of(stages, work)};
  auto file = results::assemble(study, store);
  file["search"] = group_of(task, courses);
  store.publish(file);
  auto const read = results::read_file(store.study_file());
  CHECK(read.group("search/evolution").values<double>("factors", {14, 4}).front() ==
        courses[0].rows[0].genome.factors[0]);
  auto const view = report::load_study(store.study_file());
  REQUIRE(view.search.size() == 3);
  CHECK(view.search[0].method == "evolution");
  CHECK(view.search[0].best == courses[0].best_so_far);
  CHECK(view.search[2].factors == courses[2].winner().genome.factors);
  auto const progress = report::make_plot(view, "search_progress");
  REQUIRE(progress.lines.size() == 3);
  CHECK(progress.lines[1].points.size() == 14);
  CHECK(progress.lines[1].points.back().y == courses[1].winner().objective);
  CHECK(progress.lines[1].points.back().x == 14);
  CHECK(report::make_plot(view, "search_factors").lines[0].points.size() == 4);
  CHECK_THAT(report::plot_svg(view, "search_progress"), ContainsSubstring("<svg"));
  auto const tables = tables_of(read);
  REQUIRE(tables.size() == 2);
  CHECK(tables[0].rows.size() == 6);
  CHECK(tables[0].rows[3][0].text == "evolution");
  CHECK(tables[0].rows[3][1].text == report::fixed(courses[0].winner().objective, 4));
  CHECK(tables[1].rows.size() == 4);
}

TEST_CASE("search: the winner turns alike in every dialect that it is written in", "[search][export]") {
  Case const c;
  auto const task = c.task();
  Rotation const rotation(c.subject.position, c.subject.network->position().shape(), target, plugins());
  Row const winner{rotation.scaling_of(Genome{{1, 1.25, 3, 4}, 2, 1.1}), {}, "mutation", 1, 2};
  auto const all = exports_of(task, winner, "phi3");
  REQUIRE(all.size() == 3);
  for (auto const& one : all) {
    INFO(one.dialect << ": " << one.why_not << "\n" << one.text);
    REQUIRE_FALSE(one.text.empty());
    auto const form = dialect::canonical(
        dialect::dialect(one.dialect).read(one.text, one.file, {.head_width = 8}, plugins()).form, plugins());
    for (auto const& [length, divisor] : {std::pair{trained, 1.0}, {trained + 1, 3.0}}) {
      auto const found = dialect::ladder(form.kinds.front(), form, plugins(), length);
      CHECK(found.inv_freq[2] == Approx(std::pow(10000.0, -0.5) / divisor).epsilon(1e-12));
      CHECK(found.attention_factor == Approx(1.1).epsilon(1e-12));
    }
    bool const keeps = one.dialect == "sextant";
    CHECK(keeps == (join(one.remarks.lost).find("kept_tokens 2") == std::string::npos));
  }
  CHECK_THAT(all[0].text, ContainsSubstring("use: longrope"));
  CHECK_THAT(all[1].text, ContainsSubstring("\"long_factor\""));
  CHECK_THAT(all[2].text, ContainsSubstring("phi3.rope.scaling.type = longrope"));
}

TEST_CASE("search: what cannot be searched is refused with the reason, before anything is evaluated",
          "[search][reject]") {
  auto const complaint = [](encoding::PositionChoice const& position, auto const& change) {
    Case const c(position);
    auto task = c.task();
    change(task);
    test::TempFolder const folder;
    results::Store const store(folder.path());
    auto const said = test::complaint([&] { carry_out(Exec(), task, store, true); });
    CHECK(store.list().empty());
    return said;
  };
  auto const as_is = [](Task&) {};
  encoding::PositionChoice const rope{{{"rope", {}, {}}}, {}, trained};
  CHECK_THAT(complaint(rope, [](Task& t) { t.target = trained; }),
             ContainsSubstring("the target is 16 tokens, expected more than the trained length, 16"));
  CHECK_THAT(complaint(rope, [](Task& t) { t.settings.budget = 5; }),
             ContainsSubstring("the budget is 5 evaluations, expected at least the population, 6"));
  CHECK_THAT(complaint({{{"alibi", {}, {}}}, {}, trained}, as_is),
             ContainsSubstring("alibi turns no pairs of channels, expected a rotary encoding"));
  CHECK_THAT(complaint({{{"rope", {}, {}}}, {{"linear", {{"factor", 2.0}}, {}}}, trained}, as_is),
             ContainsSubstring("the model has the scaling linear already"));
  CHECK_THAT(complaint({{{"grape_m", {}, {}}}, {}, trained}, as_is), ContainsSubstring("expected one fixed frequency"));
  CHECK_THAT(complaint({{{"rope", {}, {}}}, {}, 0}, as_is), ContainsSubstring("does not say at which length"));
  CHECK_THAT(complaint(rope, [](Task& t) { t.target = 400; }), ContainsSubstring("expected at least 401"));
  CHECK_THAT(complaint(rope, [](Task& t) { t.step = 0; }), ContainsSubstring("the step is 0"));
  CHECK_THROWS_WITH(aim_of("los"), "search: the objective is los, expected loss or needle; did you mean loss?");
}
