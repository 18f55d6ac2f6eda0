// A bias that hides pairs: attention does not visit what it hides, and sees what it leaves.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace {
encoding::PositionChoice window(double tokens) { return block("sliding_window", {{"window", tokens}}); }

/// The one bias of a block, ready for `length` tokens at positions 0, 1, ... from `from`.
struct Prepared {
  std::unique_ptr<encoding::Bias<float>> bias;
  Prepared(double tokens, int length, bool all_heads, double from = 0) {
    auto const encoding = encoding::Registry::global().make_encoding(window(tokens).encodings.front());
    encoding::Shape const shape{.heads = 2, .kv_heads = 2, .head_dim = 4, .model_dim = 8};
    bias = encoding->bias<float>(shape);
    encoding::Bias<float>::Inputs in;
    in.query_len = in.key_len = length;
    in.most_offset = length - 1, in.least_offset = 1 - length;
    in.heads = 2;
    in.all_heads = all_heads;
    in.query_position = in.key_position = View2<double>("positions", 1, length);
    for (int i = 0; i < length; ++i) in.query_position(0, i) = from + i;
    bias->prepare(Exec(), in);
  }
};
}  // namespace

TEST_CASE("window: tiles beyond the window are skipped, tiles within it are whole, others are mixed",
          "[encoding][sliding_window]") {
  using kernels::Visible;
  for (double from : {0.0, 1000.0}) {
    Prepared const p(20, 100, true, from);
    CHECK(p.bias->visible(0, 50, 10, 0, 31) == Visible::none);  // least distance 50 - 30 = 20
    CHECK(p.bias->visible(0, 50, 10, 0, 32) == Visible::some);  // 50 - 31 = 19
    CHECK(p.bias->visible(0, 50, 10, 40, 10) == Visible::all);  // most distance 59 - 40 = 19
    CHECK(p.bias->visible(0, 50, 10, 39, 10) == Visible::some);
    CHECK(p.bias->visible(0, 0, 10, 29, 10) == Visible::none);  // ahead
  }
  CHECK(Prepared(20, 100, false).bias->visible(0, 50, 10, 0, 31) == Visible::all);  // other heads may see the tile
}

TEST_CASE("window: is the same as hiding the pairs by the mask of attention", "[encoding][sliding_window][law]") {
  Setting s{window(4)};
  s.length = 23;
  Rig rig(s);
  auto const seen = rig.logits();
  auto plain = Rig(Setting{block("nope"), s.batch, s.heads, s.kv_heads, s.length}).logits();
  int const n = s.length;
  for (std::size_t at = 0; at < plain.size(); ++at) {
    int const i = static_cast<int>(at / n % n), j = static_cast<int>(at % n);
    if (std::abs(i - j) < 4)
      CHECK(seen[at] == plain[at]);
    else
      CHECK((std::isinf(seen[at]) && seen[at] < 0));
  }
}

TEST_CASE("window: one that covers the row is nope, forward and backward", "[encoding][sliding_window][law]") {
  Setting s{window(9)}, open{block("nope")};
  Rig a(s), b(open);
  CHECK(a.attend() == b.attend());
  CHECK(a.analytic().q == b.analytic().q);
}

TEST_CASE("window: hidden pairs carry no gradient and nothing that is not a number", "[encoding][sliding_window]") {
  Setting s{test::sum({{"alibi", {{"train_slopes", true}}, {}}, {"sliding_window", {{"window", 2.0}}, {}}})};
  s.heads = s.kv_heads = 2;
  s.length = 6;
  Rig rig(s);
  auto const exact = rig.analytic(), measured = rig.numeric();
  CHECK_THAT(exact.q, CloseTo(measured.q, 1e-7));
  CHECK_THAT(exact.k, CloseTo(measured.k, 1e-7));
  CHECK_THAT(exact.parameters.at(0), CloseTo(measured.parameters.at(0), 1e-7));
}

TEST_CASE("mlp_bias: a part of the heads reads its own outputs of the whole model's network", "[encoding][mlp_bias]") {
  encoding::Options const shares{
      {"over", std::string("heads")}, {"shares", std::vector<double>{2, 2}}, {"slope_set", std::string("full")}};
  Setting whole{block("mlp_bias", {{"width", std::int64_t{4}}})};
  Setting split{
      test::sum({{"direct_sum", shares, {{"nope", {}, {}}, {"mlp_bias", {{"width", std::int64_t{4}}}, {}}}}})};
  Rig a(whole), b(split);
  REQUIRE(b.parameters.size() == 1);
  REQUIRE(b.parameters[0].size() == a.parameters[0].size());
  Kokkos::deep_copy(b.parameters[0], a.parameters[0]);
  auto const all = a.logits(), some = b.logits();
  std::size_t const head = static_cast<std::size_t>(whole.length) * whole.length;
  for (std::size_t n = 0; n < all.size(); ++n)
    if (n / head % 4 >= 2) CHECK(some[n] == all[n]);
  auto const exact = b.analytic(), measured = b.numeric();
  CHECK_THAT(exact.parameters.at(0), CloseTo(measured.parameters.at(0), 1e-7));
}
