// Scalings in a position block: lengths of sequences, the order of scalings, biases that stretch, what is refused.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"
#include "support/plugin.hpp"

#include <numeric>

using namespace sextant;
using namespace sextant::test;
using Catch::Approx;
using Catch::Matchers::ContainsSubstring;
using encoding::Choice;

namespace length_test {
namespace {
using List = std::vector<double>;

List run_of(int count) {
  List out(count);
  std::iota(out.begin(), out.end(), 0.0);
  return out;
}

encoding::Position position_of(std::vector<Choice> encodings, std::vector<Choice> scalings, int trained = 64,
                               int head_dim = 8) {
  return encoding::Position({std::move(encodings), std::move(scalings), trained}, encoding::Registry::global(),
                            {.heads = 4, .kv_heads = 4, .head_dim = head_dim, .model_dim = 16});
}
/// What is said against it, or nothing.
std::string refusal(std::vector<Choice> encodings, std::vector<Choice> scalings) {
  try {
    position_of(std::move(encodings), std::move(scalings));
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}
List frequencies(std::vector<Choice> scalings, double length = 0, int head_dim = 8,
                 Choice encoding = {"rope", {}, {}}) {
  auto const position = position_of({std::move(encoding)}, std::move(scalings), 64, head_dim);
  return position.frequencies(position.terms()[0], {}, nullptr, length).inv_freq;
}
Choice by(std::string const& name, double factor) { return {name, {{"factor", factor}}, {}}; }
Choice to(double base) { return {"abf", {{"base", base}}, {}}; }
}  // namespace

TEST_CASE("length: 8 heads and 4096 tokens turn by the base of 4096 tokens, 1000 tokens by the trained one",
          "[encoding][length][R14][R15]") {
  for (auto const& [length, base] : {std::pair{4096, 30527.7367}, {1000, 10000.0}}) {
    Setting s{test::scaled({"rope", {}, {}}, {"dynamic", {{"factor", 2.0}}, {}}, 2048)};
    s.batch = 1, s.heads = s.kv_heads = 8, s.length = length, s.head_dim = 128, s.value_dim = 1;
    Rig rig(s);
    auto const turned = rig.encode();
    for (int p : {1, length / 2, length - 1})
      for (int pair : {0, 1, 40, 63}) {
        double const angle = p * std::pow(base, -pair / 64.0), x = rig.q(0, 7, p, pair), y = rig.q(0, 7, p, pair + 64);
        CHECK(turned.q(0, 7, p, pair) == Approx(x * std::cos(angle) - y * std::sin(angle)).margin(1e-5));
      }
  }
}

TEST_CASE("length: a key has the same bits in a prefill of 700 tokens and decoded alone", "[encoding][length][R09]") {
  Setting s{test::scaled({"rope", {{"base", 500000.0}}, {}},
                         {"llama3", {{"factor", 32.0}, {"original_length", 8192.0}}, {}}, 8192)};
  s.batch = 1, s.length = 701, s.value_dim = 1;
  Rig rig(s);
  auto const whole = rig.encode();
  encoding::Tokens one{1, 700, 1, View2<double>("ids", 1, 701), {}};
  for (int i = 0; i <= 700; ++i) one.position(0, i) = i;
  rig.binding.begin(Exec(), one);
  View4<double> q("q", 1, 4, 1, 8), k("k", 1, 4, 1, 8);
  for (int h = 0; h < 4; ++h)
    for (int c = 0; c < 8; ++c) q(0, h, 0, c) = rig.q(0, h, 700, c), k(0, h, 0, c) = rig.k(0, h, 700, c);
  encoding::TokenState<double> state;
  rig.binding.encode(Exec(), 0, View2<double const>(), Heads<double>(q), Heads<double>(k), state);
  for (int h = 0; h < 4; ++h)
    for (int c = 0; c < 8; ++c) CHECK(k(0, h, 0, c) == whole.k(0, h, 700, c));
}

TEST_CASE("length: the base that was given reaches every scaling", "[encoding][length][R18]") {
  auto const& registry = encoding::Registry::global();
  int seen = 0;
  for (auto const& name : registry.names(encoding::Role::scaling)) {
    auto const& about = registry.describe(encoding::Role::scaling, name);
    Choice const choice{name, about.examples.empty() ? Options{} : about.examples.front().options, {}};
    auto const scaling = registry.make_scaling(choice);
    if (!scaling->stages().frequencies) continue;
    INFO(name);
    auto const found = frequencies({choice}, 200, 8, {"rope", {{"base", 500000.0}}, {}});
    for (int pair = 0; pair < 4; ++pair) {
      encoding::ScalingContext const at{.pair = pair,
                                        .rotary_dim = 8,
                                        .base = 500000.0,
                                        .trained_length = 64,
                                        .target_length = 64,
                                        .head_dim = 8,
                                        .length = 200};
      CHECK(found[pair] == Approx(scaling->inv_freq(std::pow(500000.0, -pair / 4.0), at)).epsilon(1e-13));
    }
    ++seen;
  }
  CHECK(seen >= 14);
}

TEST_CASE("order: a scaling that reads the base sees the one that the scalings before left", "[encoding][order]") {
  auto const ladder = [](double base, double first) {
    List out;
    for (int f = 0; f < 4; ++f) out.push_back(first * std::pow(base, -f / 4.0));
    return out;
  };
  auto const close = [](List const& wanted) { return CloseTo(wanted, 1e-13); };
  CHECK_THAT(frequencies({to(1e6), by("linear", 4)}), close(ladder(1e6, 0.25)));
  CHECK_THAT(frequencies({by("linear", 4), to(1e6)}), close(ladder(1e6, 0.25)));  // the same: a ratio and a factor
  double const raised = 1e6 * std::pow(4, 8.0 / 6);
  CHECK_THAT(frequencies({to(1e6), by("ntk", 4)}), close(ladder(raised, 1)));
  CHECK_THAT(frequencies({by("ntk", 4), to(1e6)}), close(ladder(1e6, 1)));  // the later base replaces the raised one
  CHECK_THAT(frequencies({by("ntk", 2), by("ntk", 2)}), close(frequencies({by("ntk", 4)})));
}

TEST_CASE("order: yarn's ramp stands where the pairs left by the scalings before turn as often", "[encoding][order]") {
  // After linear 4 every pair turns a quarter as often, as on a model trained at a quarter of the length.
  Choice const yarn{"yarn", {{"factor", 2.0}, {"original_length", 4096.0}, {"attention_factor", 1.0}}, {}};
  Choice const quarter{"yarn", {{"factor", 2.0}, {"original_length", 1024.0}, {"attention_factor", 1.0}}, {}};
  auto after = frequencies({by("linear", 4), yarn}, 0, 64), alone = frequencies({quarter}, 0, 64);
  for (double& f : alone) f /= 4;
  CHECK_THAT(after, CloseTo(alone, 1e-13));
  CHECK(after != frequencies({yarn, by("linear", 4)}, 0, 64));
  auto const on_raised = frequencies({to(1e6), yarn}, 0, 64);
  CHECK_THAT(on_raised, CloseTo(frequencies({yarn}, 0, 64, {"rope", {{"base", 1e6}}, {}}), 1e-13));
}

TEST_CASE("order: a scaling that needs a ladder is refused behind one that leaves none", "[encoding][order]") {
  auto const of_rope = [](std::vector<Choice> scalings) { return refusal({{"rope", {}, {}}}, std::move(scalings)); };
  Choice const resonance{"resonance", {}, {}};
  CHECK_THAT(of_rope({resonance, to(1e6)}), ContainsSubstring("abf cannot scale rope: abf needs frequencies on the "
                                                              "ladder of one base, and there is none here"));
  CHECK_THAT(of_rope({by("yarn", 2), by("yarn", 2)}), ContainsSubstring("yarn needs frequencies on the ladder"));
  CHECK(of_rope({to(1e6), resonance}).empty());
  CHECK(of_rope({by("yarn", 2), resonance}).empty());
}

TEST_CASE("stretch: biases see positions divided by the factor", "[encoding][stretch]") {
  for (auto const& [name, options] : {std::pair<std::string, Options>{"alibi", {{"train_slopes", true}}},
                                      {"t5", {{"num_buckets", std::int64_t{8}}, {"max_distance", 20.0}}},
                                      {"kerple", {}},
                                      {"sandwich", {{"width", std::int64_t{8}}}},
                                      {"mlp_bias", {}},
                                      {"fire", {{"threshold", 5.0}}}}) {
    INFO(name);
    Setting plain{block(name, options)}, stretched{test::scaled({name, options, {}}, by("bias_stretch", 4), 64)};
    plain.batch = stretched.batch = 1;
    plain.length = stretched.length = 12;
    List quarter = run_of(12);
    for (double& p : quarter) p /= 4;
    plain.positions = {quarter};
    Rig a(plain), b(stretched);
    CHECK_THAT(b.logits_at(1e-30), CloseTo(a.logits_at(1e-30), 1e-13));
    auto const analytic = b.analytic(), numeric = b.numeric();
    for (std::size_t n = 0; n < analytic.parameters.size(); ++n)
      CHECK_THAT(analytic.parameters[n], CloseTo(numeric.parameters[n], 1e-6));
    CHECK_FALSE(b.logits_at(1e-30) == Rig(Setting{block(name, options), 1, 4, 4, 12}).logits_at(1e-30));
  }
}

TEST_CASE("stretch: alibi's slopes are divided, whatever turns beside it", "[encoding][stretch]") {
  Setting s{{{{"rope", {}, {}}, {"alibi", {}, {}}}, {by("bias_stretch", 8)}, 64}};
  Rig rig(s);
  auto const logits = rig.logits_at(1e-30);
  CHECK(logits[8 * 9 + 0] == Approx(-8 * 0.25 / 8));  // head 0 of 4: slope 2^-2; query 8, key 0
  auto const position = rig.position;
  CHECK(position->frequencies(position->terms()[0], {}).inv_freq[0] == 1);
}

TEST_CASE("stretch: refused where no bias is, or where a bias does not offer it", "[encoding][stretch]") {
  auto const stretched = [](std::vector<Choice> encodings) {
    return refusal(std::move(encodings), {by("bias_stretch", 2)});
  };
  CHECK_THAT(stretched({{"rope", {}, {}}}), ContainsSubstring("bias_stretch stretches biases, and rope has none"));
  CHECK_THAT(stretched({{"fox", {}, {}}}),
             ContainsSubstring("bias_stretch cannot scale fox: its bias does not offer a stretch of distances"));
  CHECK_THAT(stretched({{"alibi", {}, {}}, {"fox", {}, {}}}), ContainsSubstring("cannot scale fox"));
  CHECK(stretched({{"rope", {}, {}}, {"kerple", {}, {}}}).empty());
}

TEST_CASE("overlap: vectors for distances meet queries as they are, or are refused", "[encoding][overlap]") {
  auto const sum = [](std::vector<Choice> encodings) { return refusal(std::move(encodings), {}); };
  for (std::string const name : {"shaw", "transformer_xl"}) {
    Choice const own{name, {}, {}}, rope{"rope", {}, {}};
    CHECK_THAT(sum({rope, own}), ContainsSubstring(name + " compares query and key with what depends on their "
                                                          "distance alone, and rope turns them by their own"));
    CHECK_THAT(sum({own, {"liere", {}, {}}}), ContainsSubstring("liere turns them"));
    CHECK(sum({own, {"alibi", {}, {}}}).empty());
    CHECK(sum({{"direct_sum", {{"over", std::string("heads")}, {"shares", List{1, 1}}}, {own, rope}}}).empty());
    Choice even = own, odd = rope;
    even.layers = encoding::LayerSet{.list = {0, 2}};
    odd.layers = encoding::LayerSet{.list = {1, 3}};
    CHECK(sum({even, odd}).empty());
  }
}

TEST_CASE("phases: a scaling that bends positions bends every branch, and only one coordinate", "[encoding][phases]") {
  Choice const bend{
      "segmented", {{"axis", std::string("positions")}, {"seg_start", List{0, 4}}, {"seg_rate", List{1, 0.25}}}, {}};
  Setting scaled{test::scaled({"rope", {}, {}}, bend, 64)},
      encoded{block("segmented_theta",
                    {{"axis", std::string("positions")}, {"seg_start", List{0, 4}}, {"seg_rate", List{1, 0.25}}})};
  CHECK_THAT(Rig(scaled).logits(), CloseTo(Rig(encoded).logits(), 1e-12));
  Choice const near{"rerope", {{"window", std::int64_t{3}}}, {}};
  CHECK(Rig(Setting{test::scaled(near, bend, 64)}).logits() != Rig(Setting{block("rerope", near.options)}).logits());
  CHECK_THAT(refusal({{"rope2d", {}, {}}}, {bend}), ContainsSubstring("several coordinates"));
}

TEST_CASE("length: tokens that a scaling keeps turn as trained, the others by its lists, wherever the row begins",
          "[encoding][length][kept][paper]") {
  List const divisor{1, 1.5, 3, 4};
  for (int kept : {0, 3, 9}) {
    Setting s{test::scaled({"rope", {}, {}},
                           {"longrope",
                            {{"factor", 4.0},
                             {"original_length", 4.0},
                             {"short_factor", List{1}},
                             {"long_factor", divisor},
                             {"kept_tokens", double(kept)}},
                            {}},
                           4)};
    s.positions = {{0, 1, 2, 3, 4, 5, 6, 7, 8}, {5, 6, 7, 8, 0, 1, 2, 3, 4}};
    Rig rig(s);
    auto const turned = rig.encode();
    double const magnitude = std::sqrt(1 + std::log(4.0) / std::log(4.0));
    for (int b : {0, 1})
      for (int i = 0; i < 9; ++i)
        for (int pair = 0; pair < 4; ++pair) {
          double const p = s.positions[std::size_t(b)][std::size_t(i)];
          bool const stays = p < kept;
          double const by = stays ? 1 : magnitude;
          double const angle = p * std::pow(10000.0, -pair / 4.0) / (stays ? 1 : divisor[std::size_t(pair)]);
          double const x = rig.k(b, 2, i, pair), y = rig.k(b, 2, i, pair + 4);
          INFO("kept " << kept << ", row " << b << ", position " << p << ", pair " << pair);
          CHECK(turned.k(b, 2, i, pair) == Approx(by * (x * std::cos(angle) - y * std::sin(angle))).margin(1e-12));
          CHECK(turned.k(b, 2, i, pair + 4) == Approx(by * (y * std::cos(angle) + x * std::sin(angle))).margin(1e-12));
        }
  }
}

TEST_CASE("length: where every token is kept nothing is scaled, to the bit", "[encoding][length][kept][law]") {
  Setting s{block("rope")};
  s.length = 24, s.choice.trained_length = 6;
  Setting scaled = s;
  scaled.choice.scalings = {
      {"longrope",
       {{"factor", 4.0}, {"short_factor", List{1}}, {"long_factor", List{1, 2, 3, 4}}, {"kept_tokens", 24.0}},
       {}}};
  CHECK(Rig(scaled).attend() == Rig(s).attend());
  scaled.choice.scalings[0].options["kept_tokens"] = 23.0;
  CHECK(Rig(scaled).attend() != Rig(s).attend());
}

TEST_CASE("length: a scaling behind one that keeps tokens acts on them by the ladder they have",
          "[encoding][length][kept]") {
  Choice const keeps{
      "longrope", {{"factor", 4.0}, {"short_factor", List{2}}, {"long_factor", List{2}}, {"kept_tokens", 3.0}}, {}};
  auto const position = position_of({{"rope", {}, {}}}, {keeps, by("linear", 8)});
  auto const at = [&](double p) { return position.frequencies(position.terms()[0], {}, nullptr, 0, p); };
  auto const plain = frequencies({});
  CHECK(position.kept() == List{3});
  for (std::size_t pair = 0; pair < 4; ++pair) {
    CHECK(at(2).inv_freq[pair] == plain[pair] / 8);
    CHECK(at(3).inv_freq[pair] == plain[pair] / 16);
  }
  CHECK(at(2).attention_factor == 1);
}
}  // namespace length_test
