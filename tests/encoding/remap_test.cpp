// Methods that meet keys at several angles, and hide some, against plain loops that follow the definitions.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

#include <cmath>
#include <optional>

using namespace sextant;
using encoding::Choice;
using encoding::Options;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace remap_test {
namespace {
/// A method as the sheet defines it: the distance that a pair counts as (none: it is hidden), and what its logit gains.
struct Method {
  Choice choice;
  std::function<std::optional<double>(double query, double key)> distance;
  std::function<double(int head, int heads, double d)> bias = [](int, int, double) { return 0.0; };
  double slower = 1;  ///< frequencies are divided by it
};

std::int64_t whole(int n) { return n; }
/// p_i / n rounded down, as the definitions have it.
double groups(double position, int n) { return std::floor(position / n); }

std::vector<Method> methods() {
  std::string const code = "code", original = "original", nope = "nope", zero = "zero";
  auto const dual = [](double cap) {
    return [cap](double i, double j) -> std::optional<double> {
      double const back = groups(i, 5) - groups(j, 5), place = i - 5 * groups(i, 5), at = j - 5 * groups(j, 5);
      return (back == 0 ? place : back == 1 ? std::min(place + 5, cap) : cap) - at;
    };
  };
  auto const shown = [](double i, double j) { return i - j < 4 || j < 2; };
  return {
      {{"rerope", {{"window", whole(4)}}, {}}, [](double i, double j) { return std::min(i - j, 4.0); }},
      {{"rerope", {{"window", whole(3)}, {"leak", 8.0}}, {}},
       [](double i, double j) { return i - j < 3 ? i - j : 3 + (i - j - 3) / 8; }},
      {{"self_extend", {{"group", whole(3)}, {"window", whole(4)}}, {}},
       [](double i, double j) { return i - j < 4 ? i - j : groups(i, 3) + 4 - 1 - groups(j, 3); }},
      {{"dual_chunk", {{"chunk", whole(5)}, {"local", whole(2)}}, {}}, dual(6)},
      {{"dual_chunk", {{"chunk", whole(5)}, {"local", whole(2)}, {"cap_mode", code}}, {}}, dual(7)},
      {{"streaming_sinks", {{"sinks", whole(2)}, {"window", whole(4)}}, {}},
       [shown](double i, double j) -> std::optional<double> {
         if (!shown(i, j)) return std::nullopt;
         return i - j < 4 ? i - j : std::min(i, 5.0) - j;
       }},
      {{"streaming_sinks", {{"sinks", whole(2)}, {"window", whole(4)}, {"rope_positions", original}}, {}},
       [shown](double i, double j) { return shown(i, j) ? std::optional(i - j) : std::nullopt; }},
      {{"lm_infinite", {{"sinks", whole(2)}, {"window", whole(4)}, {"limit", whole(3)}}, {}},
       [shown](double i, double j) { return shown(i, j) ? std::optional(std::min(i - j, 3.0)) : std::nullopt; }},
      {{"local_rope_global_alibi", {{"window", whole(4)}}, {}},
       [](double i, double j) { return std::min(i - j, 4.0); },
       [](int head, int heads, double d) { return -std::exp2(-8.0 * (head + 1) / heads) * std::max(d - 4, 0.0); }},
      {{"local_rope_global_alibi", {{"window", whole(4)}, {"beyond", nope}, {"bias_from", zero}}, {}},
       [](double i, double j) { return i - j < 4 ? i - j : 0; },
       [](int head, int heads, double d) { return -std::exp2(-8.0 * (head + 1) / heads) * std::abs(d); }},
  };
}

double position_of(Setting const& s, int b, int i) {
  return s.positions.empty() ? i : s.positions[s.positions.size() > 1 ? b : 0][i];
}

/// q^T R(-rho t) k with pairs (f, f + n/2), n all channels.
double turned_product(Rig const& rig, int b, int h, int i, int j, double rho, double slower) {
  int const n = rig.setting.head_dim, half = n / 2, kv = h * rig.setting.kv_heads / rig.setting.heads;
  double sum = 0;
  for (int f = 0; f < half; ++f) {
    double const angle = rho * std::pow(10000.0, -2.0 * f / n) / slower;
    double const q1 = rig.q(b, h, i, f), q2 = rig.q(b, h, i, f + half);
    double const k1 = rig.k(b, kv, j, f), k2 = rig.k(b, kv, j, f + half);
    sum += std::cos(angle) * (q1 * k1 + q2 * k2) + std::sin(angle) * (q1 * k2 - q2 * k1);
  }
  return sum;
}

/// Causal attention by the definition, one query at a time: [batch, heads, length, value_dim].
std::vector<double> by_hand(Rig const& rig, Method const& method) {
  Setting const& s = rig.setting;
  std::vector<double> out;
  for (int b = 0; b < s.batch; ++b)
    for (int h = 0; h < s.heads; ++h)
      for (int i = 0; i < s.length; ++i) {
        std::vector<double> sum(s.value_dim, 0.0);
        double total = 0;
        for (int j = 0; j <= i; ++j) {
          if (!s.documents.empty() && (s.documents[b][i] != s.documents[b][j] || s.documents[b][j] < 0)) continue;
          double const query = position_of(s, b, i), key = position_of(s, b, j);
          auto const rho = method.distance(query, key);
          if (!rho) continue;
          double const weight = std::exp(turned_product(rig, b, h, i, j, *rho, method.slower) / std::sqrt(s.head_dim) +
                                         method.bias(h, s.heads, query - key));
          total += weight;
          for (int c = 0; c < s.value_dim; ++c) sum[c] += weight * rig.v(b, h * s.kv_heads / s.heads, j, c);
        }
        for (double value : sum) out.push_back(total > 0 ? value / total : 0);
      }
  return out;
}

template <class Body>
void for_each_method(Body&& body) {
  int number = 0;
  for (auto const& method : methods()) DYNAMIC_SECTION(++number << ' ' << method.choice.use) {
      body(method);
    }
}
Setting setting_of(Method const& method, int length) {
  Setting s{test::sum({method.choice})};
  s.length = length;
  s.kv_heads = 2;
  return s;
}
}  // namespace

TEST_CASE("remap: attention follows the definition pair by pair", "[encoding][remap]") {
  for_each_method([](Method const& method) {
    Rig rig(setting_of(method, 23));
    CHECK_THAT(rig.attend(), CloseTo(by_hand(rig, method), 1e-12));
  });
}

TEST_CASE("remap: positions may be fractional, repeat and restart, and documents stay apart", "[encoding][remap]") {
  for_each_method([](Method const& method) {
    Setting s = setting_of(method, 12);
    s.positions = {{0, 1, 2, 3, 4, 5, 6, 0, 1, 2, 3, 4}, {1, 1, 1.5, 2, 2.25, 4, 6, 9, 9, 9.5, 12, 40}};
    s.documents = {{0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, {-1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}};
    Rig rig(s);
    CHECK_THAT(rig.attend(), CloseTo(by_hand(rig, method), 1e-12));
    for (int size : {1, 5}) CHECK_THAT(rig.attend_in_chunks(size), CloseTo(by_hand(rig, method), 1e-12));
  });
}

TEST_CASE("remap: the fused kernel in chunks of 1, 7, 64 and 150 tokens gives what the definition gives",
          "[encoding][remap][streaming]") {
  for_each_method([](Method const& method) {
    Rig rig(setting_of(method, 150));
    auto const expected = by_hand(rig, method);
    for (int size : {1, 7, 64, 150}) {
      INFO("chunks of " << size);
      CHECK_THAT(rig.attend_in_chunks(size), CloseTo(expected, 1e-12));
    }
  });
}

TEST_CASE("remap: gradients are the slopes of the loss, through every branch", "[encoding][remap][gradient]") {
  for_each_method([](Method const& method) {
    Setting s = setting_of(method, 11);
    s.batch = 1;
    Rig rig(s);
    auto const found = rig.analytic(), expected = rig.numeric();
    CHECK_THAT(found.q, CloseTo(expected.q, 1e-8));
    CHECK_THAT(found.k, CloseTo(expected.k, 1e-8));
  });
}

TEST_CASE("remap: windows past the length leave rope", "[encoding][remap]") {
  auto const attend = [](Choice choice) {
    Setting s{test::sum({std::move(choice)})};
    s.length = 20;
    return Rig(s).attend();
  };
  auto const rope = attend({"rope", {}, {}});
  for (char const* name :
       {"rerope", "self_extend", "dual_chunk", "streaming_sinks", "lm_infinite", "local_rope_global_alibi"}) {
    INFO(name);
    CHECK_THAT(attend({name, {}, {}}), CloseTo(rope, 1e-12));
    Options const part{{"rotary_dim", whole(4)}, {"layout", std::string("interleaved")}, {"base", 500.0}};
    CHECK_THAT(attend({name, part, {}}), CloseTo(attend({"rope", part, {}}), 1e-12));
  }
  CHECK_THAT(attend({"rerope", {{"window", whole(2)}, {"leak", 1.0}}, {}}), CloseTo(rope, 1e-12));
  CHECK_THAT(attend({"self_extend", {{"window", whole(2)}, {"group", whole(1)}}, {}}), CloseTo(rope, 1e-12));
}

TEST_CASE("streaming_sinks: attention is that over a simulated rolling cache", "[encoding][remap][R10]") {
  Setting s{block("streaming_sinks", {{"sinks", whole(2)}, {"window", whole(6)}})};
  s.batch = 1;
  s.length = 20;
  Rig rig(s);
  std::vector<std::vector<int>> kept;  // after each token: at most 8, the oldest but the sinks dropped
  for (int i = 0; i < s.length; ++i) {
    kept.push_back(i ? kept.back() : std::vector<int>{});
    kept.back().push_back(i);
    if (kept.back().size() > 8) kept.back().erase(kept.back().begin() + 2);
  }
  CHECK(kept.back() == std::vector<int>{0, 1, 14, 15, 16, 17, 18, 19});
  Method const cached{s.choice.encodings[0], [&](double i, double j) -> std::optional<double> {
                        auto const& cache = kept[static_cast<int>(i)];
                        auto const at = std::find(cache.begin(), cache.end(), static_cast<int>(j));
                        if (at == cache.end()) return std::nullopt;
                        return static_cast<double>(cache.end() - 1 - at);
                      }};
  auto const expected = by_hand(rig, cached);
  CHECK_THAT(rig.attend(), CloseTo(expected, 1e-12));
  for (int size = 1; size <= 8; ++size) CHECK_THAT(rig.attend_in_chunks(size), CloseTo(expected, 1e-12));
}

TEST_CASE("local_rope_global_alibi: its logits are rerope's plus alibi's penalty past the window",
          "[encoding][remap][composition]") {
  auto const logits = [](char const* name) {
    Setting s{block(name, {{"window", whole(4)}})};
    s.length = 12;
    return Rig(s).logits();
  };
  auto const hybrid = logits("local_rope_global_alibi"), far = logits("rerope");
  std::size_t at = 0;
  for (int row = 0; row < 2 * 4; ++row)
    for (int i = 0; i < 12; ++i)
      for (int j = 0; j < 12; ++j, ++at)
        if (j <= i)
          REQUIRE(hybrid[at] ==
                  Catch::Approx(far[at] - std::exp2(-2.0 * (row % 4 + 1)) * std::max(i - j - 4, 0)).margin(1e-12));
}

TEST_CASE("remap: a scaling stretches the frequencies, not the windows", "[encoding][remap][composition]") {
  for_each_method([](Method method) {
    method.slower = 8;
    Setting s = setting_of(method, 23);
    s.choice = test::scaled(method.choice, {"linear", {{"factor", 8.0}}, {}});
    Rig rig(s);
    CHECK_THAT(rig.attend(), CloseTo(by_hand(rig, method), 1e-12));
  });
}

TEST_CASE("remap: heads of one method stand beside heads of another", "[encoding][remap][composition]") {
  Method const near = methods()[0];
  Choice const alibi{"alibi", {}, {}};
  auto const attend = [](std::vector<double> shares, std::vector<Choice> parts) {
    Options const options{{"over", std::string("heads")}, {"shares", shares}, {"slope_set", std::string("full")}};
    Setting s{test::sum({{"direct_sum", options, std::move(parts)}})};
    s.length = 15;
    return Rig(s).attend();
  };
  auto const both = attend({2, 2}, {near.choice, alibi});
  auto const first = attend({4, 0}, {near.choice, alibi}), last = attend({0, 4}, {near.choice, alibi});
  std::size_t const head = 15 * 3;
  for (std::size_t at = 0; at < both.size(); ++at)
    REQUIRE(both[at] == Catch::Approx(at / head % 4 < 2 ? first[at] : last[at]).margin(1e-12));
}
}  // namespace remap_test
