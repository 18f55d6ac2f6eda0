// What the probes permutation, shift and streaming measure, against plain loops, laws and faults made on purpose.
#include <sextant/base/error.hpp>
#include <sextant/results/file.hpp>
#include <sextant/run/compare.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_floating_point.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <cmath>
#include <limits>
#include <numeric>

#include "tiny_network.hpp"
#include "tiny_study.hpp"

using namespace sextant;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;
using Catch::Matchers::WithinAbs;

namespace {
using test::learned_table, test::some_tokens;
constexpr int length = 29, vocabulary = test::tiny_vocabulary;

run::Logits table(std::vector<float> const& values) {
  run::Logits const out("logits", 2, values.size() / 2);
  std::copy(values.begin(), values.end(), out.data());
  return out;
}

/// How far shuffled logits lie from the window's own.
double order_seen(run::Network& network) {
  auto const tokens = some_tokens(length);
  return run::distance(run::logits_of(Exec(), network, {tokens, {}}),
                       run::shuffled_logits(Exec(), network, {tokens, {}}, run::drawn_order(length, 0)));
}

double shift_seen(encoding::Choice const& encoding, double offset) {
  auto network = test::tiny_network(encoding);
  auto const tokens = some_tokens(length);
  return run::distance(run::logits_of(Exec(), network, {tokens, {}}),
                       run::shifted_logits(Exec(), network, {tokens, {}}, offset));
}
}  // namespace

TEST_CASE("compare: distance is the largest difference in standard deviations, and one wrong logit is enough",
          "[run][probes]") {
  auto const logits = table({1, 2, 3, 4});
  CHECK(run::distance(logits, table({1, 2, 3, 4})) == 0);
  CHECK_THAT(run::distance(logits, table({1, 2.5, 3, 4.25})), WithinAbs(0.5 / std::sqrt(1.25), 1e-12));
  CHECK_THAT(run::distance(logits, table({1, 2, 3, 0})), WithinAbs(4 / std::sqrt(1.25), 1e-12));
  float const nan = std::numeric_limits<float>::quiet_NaN();
  CHECK_THROWS_MATCHES(run::distance(logits, table({1, 2, nan, 4})), Error,
                       MessageMatches(ContainsSubstring("3 and nan at token 1, expected finite numbers")));
  CHECK_THROWS_MATCHES(run::distance(table({7, 7, 7, 7}), logits), Error,
                       MessageMatches(ContainsSubstring("all of them are 7")));
  CHECK_THROWS_AS(run::distance(logits, table({1, 2})), Error);
}

TEST_CASE("permutation: each window has an order of its own, the same in every run", "[run][probes]") {
  auto const order = run::drawn_order(50, 3);
  std::vector<int> all(50);
  std::iota(all.begin(), all.end(), 0);
  CHECK(order != all);
  CHECK(order == run::drawn_order(50, 3));
  CHECK(order != run::drawn_order(50, 4));
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == all);
}

TEST_CASE("permutation: the shuffled logits are those of a window shuffled by hand, put back in order",
          "[run][probes]") {
  auto network = test::tiny_network({"rope", {}, {}});
  auto const tokens = some_tokens(length);
  auto const order = run::drawn_order(length, 1);
  auto shuffled = tokens;
  for (std::size_t i = 0; i < shuffled.size(); ++i) shuffled[i] = tokens[static_cast<std::size_t>(order[i])];
  auto const read = run::logits_of(Exec(), network, {shuffled, {}});
  auto const back = run::shuffled_logits(Exec(), network, {tokens, {}}, order);
  for (int i = 0; i < length; ++i)
    for (int v = 0; v < vocabulary; ++v) REQUIRE(back(order[static_cast<std::size_t>(i)], v) == read(i, v));
}

TEST_CASE("permutation: without mask and encoding order is not seen; a mask or an encoding sees it",
          "[run][probes][law]") {
  auto causal = test::tiny_network({"nope", {}, {}});
  auto open = run::without_mask(causal);
  CHECK(order_seen(open) < 1e-5);
  CHECK(order_seen(causal) > 0.1);
  for (char const* name : {"rope", "alibi", "sinusoidal", "t5", "fox", "xpos"}) {
    INFO(name);
    auto masked = test::tiny_network({name, {}, {}});
    auto ahead = run::without_mask(masked);
    CHECK(order_seen(ahead) > 0.01);
    CHECK(order_seen(masked) > 0.1);
  }
  // The measure would notice rows that were not put back: the open model's logits do move with their tokens.
  auto const tokens = some_tokens(length);
  auto shuffled = tokens;
  auto const order = run::drawn_order(length, 0);
  for (std::size_t i = 0; i < shuffled.size(); ++i) shuffled[i] = tokens[static_cast<std::size_t>(order[i])];
  CHECK(run::distance(run::logits_of(Exec(), open, {tokens, {}}), run::logits_of(Exec(), open, {shuffled, {}})) > 1);
}

TEST_CASE("permutation: the model without a mask is the one that its seed makes without a mask", "[run][probes]") {
  auto const causal = test::tiny_network(learned_table());
  auto open = run::without_mask(causal);
  auto config = causal.config();
  config.causal = false;
  run::Network drawn(config, std::shared_ptr<encoding::Position const>(std::shared_ptr<void>(), &causal.position()), 5);
  auto const tokens = some_tokens(length);
  CHECK(run::distance(run::logits_of(Exec(), drawn, {tokens, {}}), run::logits_of(Exec(), open, {tokens, {}})) == 0);
  CHECK(causal.config().causal);
}

TEST_CASE("shift: the logits are those at positions given by hand, drawn ones included", "[run][probes]") {
  auto network = test::tiny_network({"sinusoidal", {}, {}});
  auto const tokens = some_tokens(length);
  View2<double> const drawn("drawn", 1, length), moved("moved", 1, length), running("running", 1, length);
  for (int i = 0; i < length; ++i) drawn(0, i) = 3 * i, moved(0, i) = 3 * i + 40, running(0, i) = i + 7;
  auto const by_hand = [&](View2<double> const& at) { return run::logits_of(Exec(), network, {tokens, at}); };
  CHECK(run::distance(by_hand(running), run::shifted_logits(Exec(), network, {tokens, {}}, 7)) == 0);
  CHECK(run::distance(by_hand(moved), run::shifted_logits(Exec(), network, {tokens, drawn}, 40)) == 0);
  CHECK(drawn(0, 1) == 3);
}

TEST_CASE("shift: encodings of offsets stay to rounding at a million tokens, those of places do not",
          "[run][probes][law]") {
  CHECK(shift_seen({"nope", {}, {}}, 1e6) == 0);
  for (char const* name : {"rope", "alibi", "t5", "fox", "xpos"}) {
    INFO(name);
    for (double offset : {1.0, 100.0, 1e4, 1e6}) CHECK(shift_seen({name, {}, {}}, offset) < 1e-4);
  }
  CHECK(shift_seen({"sinusoidal", {}, {}}, 1) > 0.1);
  CHECK(shift_seen(learned_table(), 1) > 0.1);
  CHECK_THROWS_AS(shift_seen(learned_table(), 100), Error);
  // It would notice phases that lose their digits: past 2^53 doubles skip every other token.
  CHECK(shift_seen({"rope", {}, {}}, 0x1p53) > 0.01);
}

TEST_CASE("streaming: in pieces, in one pass, and prefix by prefix without a cache the logits are the same",
          "[run][probes]") {
  auto const tokens = some_tokens(length);
  for (auto const& encoding : {encoding::Choice{"nope", {}, {}},
                               {"rope", {}, {}},
                               {"alibi", {}, {}},
                               {"sinusoidal", {}, {}},
                               learned_table(),
                               {"fox", {}, {}},
                               {"t5", {}, {}},
                               {"xpos", {}, {}},
                               {"path", {}, {}}}) {
    INFO(encoding.use);
    auto network = test::tiny_network(encoding);
    run::Logits const by_prefix("logits", length, vocabulary);
    for (int i = 0; i < length; ++i) {
      std::span const prefix(tokens.data(), static_cast<std::size_t>(i) + 1);
      auto const read = run::logits_of(Exec(), network, {prefix, {}});
      for (int v = 0; v < vocabulary; ++v) by_prefix(i, v) = read(i, v);
    }
    CHECK(run::distance(by_prefix, run::logits_of(Exec(), network, {tokens, {}})) < 1e-4);
    for (int chunk : {1, 7, length - 1, length})
      CHECK(run::distance(by_prefix, run::streamed_logits(Exec(), network, {tokens, {}}, chunk)) < 1e-4);
  }
}

TEST_CASE("streaming: a cache that counts otherwise is noticed, and drawn positions go along", "[run][probes]") {
  auto network = test::tiny_network({"rope", {}, {}});
  auto const tokens = some_tokens(length);
  View2<double> const restarts("positions", 1, length);
  for (int i = 0; i < length; ++i) restarts(0, i) = i % 7;
  auto const whole = run::logits_of(Exec(), network, {tokens, restarts});
  CHECK(run::distance(whole, run::streamed_logits(Exec(), network, {tokens, restarts}, 7)) < 1e-4);
  CHECK(run::distance(whole, run::streamed_logits(Exec(), network, {tokens, {}}, 7)) > 0.1);
}

TEST_CASE("streaming: a scaling that follows the length is refused where a stream cannot know the length",
          "[run][probes]") {
  encoding::Choice const dynamic{"dynamic", {}, {}};
  auto const tokens = some_tokens(length);
  auto past = test::tiny_network({"rope", {}, {}}, {dynamic}, 16);
  CHECK_THROWS_MATCHES(run::streamed_logits(Exec(), past, {tokens, {}}, 7), Error,
                       MessageMatches(ContainsSubstring("dynamic turns 1 tokens otherwise when 29 are there")));
  auto within = test::tiny_network({"rope", {}, {}}, {dynamic}, 64);
  CHECK(run::distance(run::logits_of(Exec(), within, {tokens, {}}),
                      run::streamed_logits(Exec(), within, {tokens, {}}, 7)) < 1e-4);
}

TEST_CASE("run: models that nothing trained are measured as they were drawn, window by window",
          "[run][probes][tasks]") {
  test::TempFolder const folder;
  std::string const out = (folder / "out").string();
  write_file_atomically(folder / "text.txt", test::made_up_text(4000));
  write_file_atomically(folder / "spec.yaml", text(R"(sextant: 1
study: drawn
model: {layers: 2, width: 16, heads: 2, head_width: 8, mlp: {kind: swiglu, width: 24}, init: {std: 0.2}}
data: {corpus: )",
                                                   (folder / "text.txt").string(), R"(, split: {train: 0.8, test: 0.2}}
train: {steps: 0, length: 64, batch: 64 tokens, optimiser: {rate: 1e-3}, seeds: [0, 5]}
evaluate:
  - {use: permutation, lengths: [32], windows: 4}
  - {use: shift, lengths: [32], windows: 4, keep: [shift1, shift1000000]}
  - {use: streaming, lengths: [32, 80], windows: 4, keep: [chunk1, chunk7]}
vary:
  - {key: position.encoding, stage: train, values: [nope, sinusoidal]}
claims:
  list:
    - {id: blind, test: 'permutation.open @ 32 {encoding=nope} < 1e-4'}
    - {id: not-blind, test: 'permutation.open @ 32 {encoding=sinusoidal} > 0.01'}
)"));
  auto const run = test::sextant_program({"run", (folder / "spec.yaml").string(), "-o", out});
  INFO(run.output);
  REQUIRE(run.status == 0);
  auto const study = results::read_file(fs::path(out) / "study.h5");
  REQUIRE(study.group("runs").groups.size() == 4);
  CHECK(study.group("summary/claims").texts("verdict") == std::vector<std::string>{"holds", "holds"});
  int blind = 0;
  for (auto const& [id, one] : study.group("runs").groups) {
    auto const& eval = one.group("eval");
    auto const& open = eval.group("permutation").values<double>("open_by_window", {1, 4});
    bool const nope = *std::max_element(open.begin(), open.end()) < 1e-4;
    blind += nope;
    double const moved = eval.group("shift").numbers("shift1000000")[0];
    CHECK((nope ? moved == 0 : moved > 0.01));
    CHECK(eval.group("permutation").numbers("causal")[0] > 1e-3);
    for (double x : eval.group("streaming").values<double>("chunk7_by_window", {2, 4})) CHECK(x < 1e-4);
  }
  CHECK(blind == 2);
}
