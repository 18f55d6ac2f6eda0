#include <sextant/inspect/action.hpp>
#include <sextant/inspect/bias_profile.hpp>
#include <sextant/inspect/decay.hpp>

#include "subject_of.hpp"

using namespace sextant;
using namespace sextant::inspect;
using test::subject_of;

TEST_CASE("bias: alibi falls by its slope, reaches 1/slope, and weighs as a geometric series", "[inspect][paper]") {
  auto const b = bias_profile(subject_of("alibi", {.length = 1024, .heads = 8}));
  REQUIRE(b);
  REQUIRE(b->heads.size() == 8);
  for (int h = 0; h < 8; ++h) {
    double const slope = std::exp2(-(h + 1));
    auto const& head = b->heads[h];
    CHECK(head.per_token == -slope);
    CHECK(head.reach == 1 / slope);
    for (std::size_t n = 0; n < b->distance.size(); ++n) CHECK(head.value[n] == -slope * b->distance[n]);
    double const within = (1 - std::exp(-slope * (b->near + 1))) / (1 - std::exp(-slope * 1024));
    CHECK(head.share_of_attention == Catch::Approx(within).epsilon(0.05));
  }
  CHECK(b->heads[0].effective_rank > b->heads[7].effective_rank);  // a near-sighted head mixes less
}

TEST_CASE("bias: a gated decay is shown at the rate of its starting bias", "[inspect]") {
  auto const b =
      bias_profile(subject_of({{"fox", {{"shortest", 10.0}, {"longest", 1000.0}}, {}}}, {.length = 2048, .heads = 3}));
  REQUIRE(b);
  double const times[] = {10, 100, 1000};
  for (int h = 0; h < 3; ++h) CHECK(b->heads[h].per_token == Catch::Approx(-1 / times[h]).epsilon(1e-9));
}

TEST_CASE("bias: heads without one are left out, and encodings without one say so", "[inspect]") {
  CHECK_FALSE(bias_profile(subject_of("rope")));
  encoding::Choice const sum{"direct_sum",
                             {{"shares", std::vector<double>{1, 1}}, {"over", std::string("heads")}},
                             {{"rope", {}, {}}, {"alibi", {}, {}}}};
  auto const b = bias_profile(subject_of({sum}));
  REQUIRE(b);
  REQUIRE(b->heads.size() == 2);
  CHECK(b->heads[0].head == 2);
}

TEST_CASE("expected logit: rope's is the sum of cosines of its ladder over sqrt(head_dim)", "[inspect][paper]") {
  auto const d = expected_logit(subject_of("rope", {.length = 4096, .head_dim = 64}));
  REQUIRE(d);
  for (std::size_t n = 0; n < d->distance.size(); ++n) {
    double sum = 0;
    for (int f = 0; f < 32; ++f) sum += 2 * std::cos(d->distance[n] * std::pow(1e4, -2.0 * f / 64));
    CHECK(d->content[0][n] == Catch::Approx(sum / 8).margin(1e-9));
    CHECK(d->bias[0][n] == 0);
  }
  CHECK_FALSE(d->content_differs);
}

TEST_CASE("an action by rounded cos and sin is no function of the distance, and it is said", "[inspect]") {
  encoding::Choice const rounded{"rounded", {{"table", std::string("int8")}}, {}};
  auto const subject = subject_of("rope", {.scalings = {rounded}});
  CHECK_THAT(Action(subject, 0).open(), Catch::Matchers::ContainsSubstring("rounded cos and sin"));
  CHECK(Action(subject_of("rope"), 0).open().empty());
}

TEST_CASE("expected logit: drawn vectors average to it", "[inspect]") {
  auto const subject = subject_of({{"rope", {{"share", 0.5}}, {}}, {"alibi", {}, {}}}, {.length = 64, .head_dim = 8});
  auto const d = expected_logit(subject);
  REQUIRE(d);
  Stream const stream(5, "drawn");
  int const draws = 20000;
  for (std::size_t n : {std::size_t{0}, std::size_t{3}, std::size_t{16}}) {
    double mean = 0;
    for (int r = 0; r < draws; ++r) {
      double x[8], logit = 0;
      for (int c = 0; c < 8; ++c) x[c] = stream.normal(static_cast<std::uint64_t>(r) * 8 + c);
      for (int f = 0; f < 2; ++f)  // rotary_dim 4, half layout: pairs (f, f + 2); x.Rx = |x|^2 cos
        logit += (x[f] * x[f] + x[f + 2] * x[f + 2]) * std::cos(d->distance[n] * std::pow(1e4, -2.0 * f / 4));
      for (int c = 4; c < 8; ++c) logit += x[c] * x[c];
      mean += logit / std::sqrt(8) / draws;
    }
    CHECK(d->content[0][n] == Catch::Approx(mean).margin(0.05));  // three standard errors are 0.03
    CHECK(d->bias[1][n] == -d->distance[n] / 16);
  }
}

TEST_CASE("expected logit: yarn's temperature multiplies the turned channels alone", "[inspect][paper]") {
  encoding::Choice const half{"rope", {{"share", 0.5}}, {}};
  auto const d = expected_logit(subject_of(
      {half}, {.length = 4096, .trained = 256, .head_dim = 16, .scalings = {{"yarn", {{"factor", 16.0}}, {}}}}));
  double const factor = 0.1 * std::log(16.0) + 1;
  CHECK(d->content[0][0] == Catch::Approx((8 * factor * factor + 8) / 4).epsilon(1e-13));
}

TEST_CASE("expected logit: attention itself, fed with equal tokens, agrees with the formula", "[inspect]") {
  auto const subject = subject_of({{"rope", {}, {}}, {"alibi", {}, {}}, {"fox", {}, {}}},
                                  {.length = 64, .heads = 2, .head_dim = 8, .model_dim = 16});
  auto const exact = expected_logit(subject);
  REQUIRE(exact);
  CHECK(exact->draws == 0);
  Decay const drawn = measured_logit(subject, 400);
  REQUIRE(drawn.distance == exact->distance);
  for (int h = 0; h < 2; ++h)
    for (std::size_t n = 0; n < drawn.distance.size(); ++n)
      CHECK(drawn.content[h][n] == Catch::Approx(exact->content[h][n] + exact->bias[h][n])
                                       .margin(5 * drawn.standard_error + 0.003 * drawn.distance[n]));
}
