// Gradients of queries, keys, token embeddings and of every parameter of every plugin, against central differences.
#include "encoding/rig.hpp"

#include <catch2/catch_all.hpp>

#include <cmath>

using namespace sextant;
using encoding::Choice;
using test::block;
using test::Rig;
using test::Setting;

namespace {
/// Largest |a - b| / (1 + max |b|).
double apart(std::vector<double> const& a, std::vector<double> const& b) {
  REQUIRE(a.size() == b.size());
  double worst = 0, size = 0;
  for (double y : b) size = std::max(size, std::abs(y));
  for (std::size_t i = 0; i < a.size(); ++i) worst = std::max(worst, std::abs(a[i] - b[i]));
  return worst / (1 + size);
}

/// `unseen`: the end of the name of a parameter that adds the same to all logits of a row, which no softmax shows.
void check_gradients(Setting setting, std::string const& unseen = "none") {
  Rig rig(std::move(setting));
  auto const exact = rig.analytic(), measured = rig.numeric();
  CHECK(apart(exact.q, measured.q) < 2e-8);
  CHECK(apart(exact.k, measured.k) < 2e-8);
  CHECK(apart(exact.x, measured.x) < 2e-8);
  for (std::size_t n = 0; n < exact.parameters.size(); ++n) {
    INFO(rig.binding.slots()[n].name);
    CHECK(apart(exact.parameters[n], measured.parameters[n]) < 2e-8);
    double size = 0;
    for (double g : exact.parameters[n]) size += std::abs(g);
    if (rig.binding.slots()[n].name.ends_with(unseen))
      CHECK(size < 1e-12);
    else
      CHECK(size > 1e-6);  // a parameter that nothing moves would pass any comparison
  }
}

Setting small(encoding::PositionChoice choice) {
  Setting s{std::move(choice)};
  s.heads = s.kv_heads = 2;
  s.length = 6;
  s.head_dim = 4;
  s.value_dim = 2;
  s.model_dim = 4;
  return s;
}
}  // namespace

TEST_CASE("gradients: every encoding's inputs and parameters agree with central differences", "[encoding][gradient]") {
  auto const [name, choice] = GENERATE(table<std::string, encoding::PositionChoice>({
      {"nope", block("nope")},
      {"sinusoidal", block("sinusoidal", {{"embed_scale", 3.0}})},
      {"learned", block("learned", {{"max_length", std::int64_t{8}}, {"embed_scale", 2.0}})},
      {"rope half", block("rope")},
      {"rope interleaved", block("rope", {{"layout", std::string("interleaved")}})},
      {"alibi", block("alibi", {{"train_slopes", true}})},
      {"alibi capped", block("alibi", {{"train_slopes", true}, {"bias_max", 0.9}, {"distance_cap", 3.0}})},
      {"alibi asymmetric",
       block("alibi", {{"train_slopes", true}, {"sides", std::string("asymmetric")}, {"ahead_scale", 0.5}})},
      {"kerple log", block("kerple")},
      {"kerple power", block("kerple", {{"form", std::string("power")}})},
      {"mlp_bias", block("mlp_bias", {{"width", std::int64_t{5}}})},
      {"mlp_bias deep", block("mlp_bias", {{"width", std::int64_t{5}}, {"layers", std::int64_t{3}}, {"log", false}})},
      {"grape_joint", block("grape_joint")},
      {"grape_a_phase", block("grape_a_phase")},
      {"grape_a_phase exclusive", block("grape_a_phase", {{"exclusive", true}})},
      {"grape_m_ctx", block("grape_m_ctx", {{"start_rate", 1.0}})},
      {"grape_m_ctx code", block("grape_m_ctx", {{"gate", std::string("sigmoid")},
                                                 {"gate_scale", 16.0},
                                                 {"layout", std::string("half")},
                                                 {"orientation", std::string("clockwise")},
                                                 {"log_freq_scale", 16.0},
                                                 {"per_head_phase", true},
                                                 {"per_head_freq", true}})},
      {"t5", block("t5", {{"num_buckets", std::int64_t{4}}, {"max_distance", 5.0}})},
      {"t5 two-sided", block("t5", {{"num_buckets", std::int64_t{8}}, {"max_distance", 5.0}, {"bidirectional", true}})},
      {"fox", block("fox")},
      {"fox bias only", block("fox", {{"gate", std::string("bias_only")}})},
      {"grape_m", block("grape_m")},
      {"grape_m code", block("grape_m", {{"layout", std::string("half")},
                                         {"orientation", std::string("clockwise")},
                                         {"log_freq_scale", 16.0},
                                         {"per_head", true}})},
      {"grape_a k", block("grape_a")},
      {"grape_a q unit", block("grape_a", {{"gate", std::string("q")}, {"unit_gate", true}})},
      {"grape_a qk", block("grape_a", {{"gate", std::string("qk")}, {"use_slopes", true}})},
      {"segmented", block("segmented_theta",
                          {{"seg_start", std::vector<double>{0, 1}}, {"seg_base", std::vector<double>{100, 9000}}})},
  }));
  DYNAMIC_SECTION(name) { check_gradients(small(choice)); }
}

TEST_CASE("gradients: fire's constant is the same for all keys, its other numbers are not",
          "[encoding][gradient][fire]") {
  auto s = small(block("fire", {{"width", std::int64_t{24}}, {"threshold", 3.3}}));
  check_gradients(s, "fire.b2");
  s.positions = {{0, 0.5, 1.5, 2, 4, 7}};  // between the entries of a table
  check_gradients(s, "fire.b2");
}

TEST_CASE("gradients: hold without a causal mask, with documents, padding and restarted positions",
          "[encoding][gradient]") {
  for (char const* name : {"alibi", "t5", "fox", "grape_a", "grape_m"}) {
    DYNAMIC_SECTION(name) {
      auto s = small(block(name));
      if (s.choice.encodings[0].use == "alibi") s.choice.encodings[0].options["train_slopes"] = true;
      s.documents = {{0, 0, 1, 1, 1, 1}, {-1, -1, 3, 3, 3, 3}};
      s.positions = {{0, 1, 0, 1, 2, 3}, {1, 1, 0, 1, 2, 3}};
      check_gradients(s);
      s.documents.clear();
      s.causal = false;
      check_gradients(s);
    }
  }
}

TEST_CASE("gradients: positions that are fractions, or too far apart for a table, train the same weights",
          "[encoding][gradient]") {
  std::vector<double> const fractions{0, 0.5, 1.25, 2, 3.75, 5}, far{0, 1, 3, 2000, 2001, 4000};
  for (auto const& at : {fractions, far}) {
    auto alibi = small(block("alibi", {{"train_slopes", true}, {"slope_exponent", 24.0}}));
    alibi.positions = {at};
    check_gradients(alibi);
    auto t5 = small(block("t5", {{"num_buckets", std::int64_t{12}}, {"max_distance", 9.0}}));
    t5.positions = {at};
    check_gradients(t5);
  }
}

TEST_CASE("gradients: grouped key heads, and sums and direct sums of encodings", "[encoding][gradient]") {
  Choice const rope{"rope", {}, {}}, alibi{"alibi", {{"train_slopes", true}}, {}}, fox{"fox", {}, {}};
  Choice const grape{"grape_m", {}, {}}, gated{"grape_a", {{"gate", std::string("qk")}}, {}};
  auto grouped = small(test::sum({rope, alibi, fox, gated}));
  grouped.heads = 4;
  check_gradients(grouped);
  auto const split = [](char const* over, std::vector<double> shares, std::vector<Choice> parts) {
    return test::sum({{"direct_sum", {{"over", std::string(over)}, {"shares", shares}}, std::move(parts)}});
  };
  check_gradients(small(split("channels", {1, 1}, {grape, alibi})));
  check_gradients(small(split("channels", {1, 1}, {rope, gated})));
  auto heads = small(split("heads", {1, 1}, {grape, gated}));
  heads.heads = 4;
  check_gradients(heads);
}

TEST_CASE("gradients: trained frequencies learn through a scaling", "[encoding][gradient]") {
  for (Choice const& scaling : {Choice{"linear", {{"factor", 3.0}}, {}}, Choice{"ntk", {{"factor", 4.0}}, {}},
                                Choice{"yarn", {{"factor", 4.0}, {"original_length", 16.0}}, {}}})
    check_gradients(small(test::scaled({"grape_m", {{"base", 50.0}}, {}}, scaling)));
}
