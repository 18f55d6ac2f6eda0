// What the probe repetition measures: counts against plain loops and known answers, what is written against full passes.
#include <sextant/base/error.hpp>
#include <sextant/kernels/matmul.hpp>
#include <sextant/results/compare.hpp>
#include <sextant/results/file.hpp>
#include <sextant/run/compare.hpp>
#include <sextant/run/writing.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>

#include "tiny_network.hpp"
#include "tiny_study.hpp"

using namespace sextant;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace repetition_test {
namespace {
constexpr int length = 29, vocabulary = test::tiny_vocabulary;

/// Runs that an earlier place has too, by comparing every pair of places.
double repeated_by_pairs(std::vector<std::int32_t> const& tokens, std::size_t n) {
  std::size_t const all = tokens.size() - n + 1;
  std::size_t again = 0;
  for (std::size_t i = 0; i < all; ++i) {
    bool seen = false;
    for (std::size_t j = 0; j < i; ++j) seen = seen || std::equal(&tokens[i], &tokens[i] + n, &tokens[j]);
    again += seen;
  }
  return static_cast<double>(again) / static_cast<double>(all);
}

/// The first `prompt` tokens of texts that differ from row to row.
View2<int> prompts_of(int first, int rows, int prompt) {
  View2<int> const out("prompts", rows, prompt);
  auto const tokens = test::some_tokens((first + rows) * prompt);
  std::copy_n(tokens.begin() + first * prompt, rows * prompt, out.data());
  return out;
}

run::Choose greedy() {
  return [](std::span<float const> logits, int, int) { return run::likeliest(logits); };
}

/// Row 0 of what is written after the prompt.
std::vector<std::int32_t> row_of(View2<int> const& tokens, int prompt) {
  return {&tokens(0, prompt), &tokens(0, 0) + tokens.extent(1)};
}

/// The likeliest token after every longer text, each read from its beginning in one pass.
std::vector<std::int32_t> written_by_passes(run::Network& network, std::vector<std::int32_t> tokens,
                                            View2<double> const& positions) {
  std::size_t const prompt = tokens.size();
  while (tokens.size() < length) {
    View2<double> at;
    if (positions.size() > 0) {
      at = View2<double>("positions", 1, tokens.size());
      std::copy_n(positions.data(), tokens.size(), at.data());
    }
    auto const logits = run::logits_of(Exec(), network, {tokens, at});
    int best = 0;
    for (int v = 0; v < vocabulary; ++v)
      if (logits(tokens.size() - 1, v) > logits(tokens.size() - 1, best)) best = v;
    tokens.push_back(best);
  }
  return {tokens.begin() + static_cast<std::ptrdiff_t>(prompt), tokens.end()};
}

/// Every logit that a choice of `row` was made from.
std::vector<float> logits_seen(run::Network& network, View2<int> const& prompts, int row) {
  std::vector<float> out;
  run::write_on(Exec(), network, prompts, {}, length, [&](std::span<float const> logits, int each, int) {
    if (each == row) out.insert(out.end(), logits.begin(), logits.end());
    return run::likeliest(logits);
  });
  return out;
}
}  // namespace

TEST_CASE(
    "repetition: one token over and over, two in turns, and all different ones have the shares that can be counted",
    "[run][repetition]") {
  std::vector<std::int32_t> same(20, 7), turns, different;
  for (int i = 0; i < 20; ++i) turns.push_back(i % 2), different.push_back(i);
  for (int n : {1, 4, 8, 16}) {
    double const all = 20 - n + 1;
    CHECK_THAT(run::repeated(same, n), WithinAbs(1 - 1 / all, 1e-15));
    CHECK_THAT(run::repeated(turns, n), WithinAbs(1 - 2 / all, 1e-15));
    CHECK(run::repeated(different, n) == 0);
  }
  CHECK(run::repeated(same, 20) == 0);
  CHECK_THROWS_MATCHES(run::repeated(same, 21), Error,
                       MessageMatches(ContainsSubstring("20 tokens have no run of 21")));
}

TEST_CASE("repetition: shares of drawn sequences are those of comparing every pair of places", "[run][repetition]") {
  Stream const stream(1, "sequences");
  for (std::uint64_t sequence = 0; sequence < 12; ++sequence) {
    std::vector<std::int32_t> tokens;
    for (std::uint64_t i = 0; i < 60; ++i)
      tokens.push_back(static_cast<std::int32_t>(stream.below(2 + static_cast<int>(sequence) / 4, i, sequence)));
    for (int n : {1, 2, 4, 8})
      CHECK_THAT(run::repeated(tokens, n), WithinAbs(repeated_by_pairs(tokens, static_cast<std::size_t>(n)), 1e-12));
  }
}

TEST_CASE("repetition: what is written is the likeliest token after a full pass over all that stands there",
          "[run][repetition]") {
  for (auto const& encoding : {encoding::Choice{"nope", {}, {}},
                               {"rope", {}, {}},
                               {"alibi", {}, {}},
                               {"sinusoidal", {}, {}},
                               test::learned_table(),
                               {"fox", {}, {}},
                               {"t5", {}, {}},
                               {"xpos", {}, {}},
                               {"path", {}, {}},
                               {"cope", {}, {}}}) {
    INFO(encoding.use);
    auto network = test::tiny_network(encoding);
    for (int prompt : {3, 14}) {
      auto const written = run::write_on(Exec(), network, prompts_of(0, 1, prompt), {}, length, greedy());
      CHECK(row_of(written, prompt) == written_by_passes(network, test::some_tokens(prompt), {}));
      CHECK(row_of(written, 0).front() == test::some_tokens(1).front());
    }
  }
}

TEST_CASE("repetition: positions that were drawn for a window go along with what is written", "[run][repetition]") {
  auto network = test::tiny_network({"sinusoidal", {}, {}});
  View2<double> const drawn("positions", 1, length);
  for (int i = 0; i < length; ++i) drawn(0, i) = 3 * i + i % 2;
  auto const prompts = prompts_of(0, 1, 14);
  auto const written = row_of(run::write_on(Exec(), network, prompts, drawn, length, greedy()), 14);
  CHECK(written == written_by_passes(network, test::some_tokens(14), drawn));
  CHECK(written != row_of(run::write_on(Exec(), network, prompts, {}, length, greedy()), 14));
}

TEST_CASE("repetition: a row has the same bits alone and beside others, after short prompts too", "[run][repetition]") {
  for (char const* name : {"rope", "alibi", "fox", "path"}) {
    INFO(name);
    auto network = test::tiny_network({name, {}, {}});
    for (int prompt : {1, 2, 5, 6, 7, 14}) {
      INFO(prompt);
      auto const alone = logits_seen(network, prompts_of(2, 1, prompt), 0);
      REQUIRE(alone.size() == static_cast<std::size_t>(vocabulary) * (length - prompt));
      CHECK(alone == logits_seen(network, prompts_of(1, 2, prompt), 1));
      CHECK(alone == logits_seen(network, prompts_of(0, kernels::few_rows, prompt), 2));
    }
  }
  auto network = test::tiny_network({"rope", {}, {}});
  CHECK_THROWS_MATCHES(run::write_on(Exec(), network, prompts_of(0, 7, 3), {}, length, greedy()), Error,
                       MessageMatches(ContainsSubstring("7 rows, expected at most 6")));
}

TEST_CASE("repetition: a model whose logits are no numbers, and a prompt that leaves nothing to write, are refused",
          "[run][repetition]") {
  auto network = test::tiny_network({"rope", {}, {}});
  CHECK_THROWS_MATCHES(run::write_on(Exec(), network, prompts_of(0, 1, length), {}, length, greedy()), Error,
                       MessageMatches(ContainsSubstring("a prompt of 29 tokens, expected 1 to 28")));
  Kokkos::deep_copy(network.parameters(), std::numeric_limits<float>::quiet_NaN());
  CHECK_THROWS_MATCHES(run::write_on(Exec(), network, prompts_of(0, 1, 14), {}, length, greedy()), Error,
                       MessageMatches(ContainsSubstring("a logit is nan behind 14 tokens, expected finite numbers")));
}

TEST_CASE("repetition: a scaling that turns the prompt otherwise once more is written is refused",
          "[run][repetition]") {
  encoding::Choice const dynamic{"dynamic", {}, {}};
  auto past = test::tiny_network({"rope", {}, {}}, {dynamic}, 16);
  CHECK_THROWS_MATCHES(run::write_on(Exec(), past, prompts_of(0, 1, 14), {}, length, greedy()), Error,
                       MessageMatches(ContainsSubstring("dynamic turns 14 tokens otherwise when 29 are there")));
  auto within = test::tiny_network({"rope", {}, {}}, {dynamic}, 64);
  CHECK(row_of(run::write_on(Exec(), within, prompts_of(0, 1, 14), {}, length, greedy()), 14) ==
        written_by_passes(within, test::some_tokens(14), {}));
}

TEST_CASE("repetition: a token is drawn where the number falls among the probabilities before it",
          "[run][repetition]") {
  float const none = -1000, most = std::log(2.0f);
  std::vector<float> const logits{none, most, 0, 0, none};  // 0, 1/2, 1/4, 1/4, 0
  std::vector<std::pair<double, int>> const expected{{0, 1},    {0.49, 1}, {0.51, 2},
                                                     {0.74, 2}, {0.76, 3}, {1 - 0x1p-53, 3}};
  for (auto const& [uniform, token] : expected) CHECK(run::drawn(logits, uniform) == token);
  std::vector<float> shifted = logits;
  for (float& x : shifted) x += 300;  // exp of it alone is past float
  for (auto const& [uniform, token] : expected) CHECK(run::drawn(shifted, uniform) == token);
  CHECK(run::likeliest(logits) == 1);
  CHECK(run::likeliest(std::vector<float>{0, 3, 1, 3}) == 1);
}

TEST_CASE("repetition: drawn tokens follow the softmax of a model's logits", "[run][repetition]") {
  auto network = test::tiny_network({"rope", {}, {}});
  auto const tokens = test::some_tokens(14);
  auto const all = run::logits_of(Exec(), network, {tokens, {}});
  std::span<float const> const logits(&all(13, 0), vocabulary);
  double total = 0;
  for (float const x : logits) total += std::exp(double{x});
  int const draws = 20000;
  std::vector<double> count(vocabulary);
  Stream const stream(3, "draws");
  for (int i = 0; i < draws; ++i)
    count[static_cast<std::size_t>(run::drawn(logits, stream.uniform(static_cast<std::uint64_t>(i))))] += 1;
  double square = 0, rest = 0, rest_count = 0;
  int cells = 0;
  auto const add = [&](double wanted, double found) {
    square += (found - wanted) * (found - wanted) / wanted;
    ++cells;
  };
  for (std::size_t v = 0; v < vocabulary; ++v) {
    double const wanted = draws * std::exp(double{logits[v]}) / total;
    if (wanted >= 5)
      add(wanted, count[v]);
    else
      rest += wanted, rest_count += count[v];
  }
  if (rest > 0) add(rest, rest_count);
  REQUIRE(cells > 5);
  // Chi-square with cells - 1 degrees of freedom: five standard deviations above its mean. Draws are fixed, so it stays passed.
  CHECK(square < cells - 1 + 5 * std::sqrt(2.0 * (cells - 1)));
}

namespace {
/// Drawn weights, large enough that what they write repeats itself, under two seeds.
fs::path write_repeating_study(test::TempFolder const& folder, std::string const& keep) {
  write_file_atomically(folder / "text.txt", test::made_up_text(4000));
  write_file_atomically(folder / "spec.yaml", text(R"(sextant: 1
study: repeating
model: {layers: 1, width: 16, heads: 2, head_width: 8, mlp: {kind: swiglu, width: 24}, init: {std: 0.6}}
position: {encoding: rope}
data: {corpus: )",
                                                   (folder / "text.txt").string(), R"(, split: {train: 0.8, test: 0.2}}
train: {steps: 0, length: 64, batch: 64 tokens, optimiser: {rate: 1e-3}, seeds: [0, 5]}
evaluate:
  - {use: repetition, lengths: [33, 64], windows: 8, keep: )",
                                                   keep, R"(}
tiers: {smoke: {train.seeds: [0]}}
claims:
  list:
    - {id: twice, test: 'repetition.repeat4_text @ 64 > 0.01'}
)"));
  return folder / "spec.yaml";
}

run::Network repeating_network(std::uint64_t seed) {
  plan::TrainStage stage;
  stage.model.layers = 1;
  stage.model.width = 16;
  stage.model.heads = stage.model.kv_heads = 2;
  stage.model.head_width = 8;
  stage.model.mlp.width = 24;
  stage.model.init.std = 0.6;
  stage.train.length = 64;
  stage.seed = static_cast<std::int64_t>(seed);
  stage.position = {{{"rope", {}, {}}}, {}, 64};
  return run::make_network(stage, encoding::Registry::global());
}

/// What a network makes of a prompt, by full passes and a running sum of probabilities.
std::vector<std::int32_t> drawn_by_passes(run::Network& network, std::vector<std::int32_t> tokens, std::size_t until,
                                          std::uint64_t seed, std::uint64_t window) {
  Stream const stream(seed, "repetition");
  std::size_t const prompt = tokens.size();
  while (tokens.size() < until) {
    auto const logits = run::logits_of(Exec(), network, {tokens, {}});
    float const* const last = &logits(tokens.size() - 1, 0);
    double total = 0, below = 0;
    for (int v = 0; v < 256; ++v) total += std::exp(double{last[v]});
    double const uniform = stream.uniform(tokens.size() - prompt, window);
    int token = 0;
    while (token < 255 && (below += std::exp(double{last[token]}) / total) <= uniform) ++token;
    tokens.push_back(token);
  }
  return {tokens.begin() + static_cast<std::ptrdiff_t>(prompt), tokens.end()};
}
}  // namespace

TEST_CASE("run: repetition of a study is that of texts drawn by full passes, window by window", "[run][repetition]") {
  test::TempFolder const folder;
  auto const spec = write_repeating_study(folder, "[repeat4, repeat4_sampled, repeat4_text]").string();
  auto const run = test::sextant_program({"run", spec, "-o", (folder / "out").string()});
  INFO(run.output);
  REQUIRE(run.status == 0);
  auto const study = results::read_file(folder / "out" / "study.h5");
  CHECK(study.group("summary/claims").texts("verdict") == std::vector<std::string>{"holds"});
  auto const text = test::made_up_text(4000);
  auto const tested =
      text.substr(text.size() - static_cast<std::size_t>(std::llround(0.2 * static_cast<double>(text.size()))));
  REQUIRE(study.group("runs").groups.size() == 2);
  double most = 0;
  for (auto const& [id, one] : study.group("runs").groups) {
    auto const seed = static_cast<std::uint64_t>(one.attribute<std::int64_t>("seed"));
    auto network = repeating_network(seed);
    auto const& eval = one.group("eval/repetition");
    auto const ends = eval.integers("window");
    auto const& drawn = eval.values<double>("repeat4_sampled_by_window", {2, 8});
    auto const& own = eval.values<double>("repeat4_text_by_window", {2, 8});
    auto const lengths = eval.integers("length");
    for (std::size_t n = 0; n < 2; ++n)
      for (std::size_t w = 0; w < 8; ++w) {
        auto const count = static_cast<std::size_t>(lengths[n]), prompt = count / 2;
        auto const window = tested.substr(static_cast<std::size_t>(ends[w]) - count - 1, count);
        std::vector<std::int32_t> const bytes(window.begin(), window.end());
        auto const first = bytes.begin() + static_cast<std::ptrdiff_t>(prompt);
        CHECK_THAT(own[8 * n + w], WithinAbs(repeated_by_pairs({first, bytes.end()}, 4), 1e-12));
        auto const made = drawn_by_passes(network, {bytes.begin(), first}, count, seed, w);
        CHECK_THAT(drawn[8 * n + w], WithinAbs(repeated_by_pairs(made, 4), 1e-12));
        most = std::max(most, drawn[8 * n + w]);
      }
  }
  CHECK(most > 0);
  auto const plot = test::sextant_program(
      {"plot", (folder / "out").string(), "repetition_by_length", "-o", (folder / "a.svg").string()});
  INFO(plot.output);
  CHECK(plot.status == 0);
}

TEST_CASE("run: repetition has the same bits on one thread and two, and whatever else is kept", "[run][repetition]") {
  test::TempFolder const folder;
  auto const keep = "[repeat4, repeat8, repeat8_sampled, repeat4_text]";
  auto const spec = write_repeating_study(folder, keep).string();
  for (std::string const threads : {"1", "2"})
    REQUIRE(test::sextant_program({"run", spec, "--threads", threads, "-o", (folder / threads).string()}).status == 0);
  CHECK(results::summary(results::compare_numbers(folder / "1" / "study.h5", folder / "2" / "study.h5")) == "");
  auto const fewer = test::sextant_program({"run", spec, "--set", "evaluate.repetition.keep=[repeat4_text, repeat4]",
                                            "--tier", "smoke", "-o", (folder / "few").string()});
  INFO(fewer.output);
  REQUIRE(fewer.status == 0);
  auto const all = results::read_file(folder / "1" / "study.h5"), few = results::read_file(folder / "few" / "study.h5");
  auto const greedy = [](results::Group const& file, std::string const& id) {
    return file.group("runs/" + id + "/eval/repetition").numbers("repeat4").at(0);
  };
  for (auto const& [id, one] : few.group("runs").groups) {
    CHECK(greedy(all, id) == greedy(few, id));
    CHECK(greedy(all, id) > 0);
  }
}
}  // namespace repetition_test
