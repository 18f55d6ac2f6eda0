#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace rope3d_test {
namespace {
using List = std::vector<double>;
using Word = std::string;
/// [3 axes][pairs].
List frequencies(Options options, int head_dim) {
  auto const e = encoding_of("rope3d", std::move(options));
  auto const form = e->rotary(heads_of(1, head_dim));
  REQUIRE(form.axes == 3);
  List out(3 * form.rotary_dim / 2);
  e->inv_freq(heads_of(1, head_dim), nullptr, out.data());
  return out;
}
/// Which axis each pair turns by: t, h or w.
std::string axes_of(Options options, int head_dim) {
  auto const w = frequencies(std::move(options), head_dim);
  std::string out;
  std::size_t const pairs = w.size() / 3;
  for (std::size_t p = 0; p < pairs; ++p)
    for (int a = 0; a < 3; ++a)
      if (w[a * pairs + p] != 0) out += "thw"[a];
  return out;
}
}  // namespace

TEST_CASE("rope3d: per axis every slice has a ladder of its own", "[rope3d][paper]") {
  auto const w = frequencies({{"ladder", Word("per_axis")}, {"sections", List{1, 2, 3}}}, 12);
  List const wanted{
      1, 0, 0, 0, 0, 0, 0, 1, 0.01, 0, 0, 0, 0, 0, 0, 1, std::pow(1e4, -1.0 / 3), std::pow(1e4, -2.0 / 3)};
  for (std::size_t n = 0; n < wanted.size(); ++n) CHECK(w[n] == Catch::Approx(wanted[n]).epsilon(1e-14));
}

TEST_CASE("rope3d: shared pairs belong to one axis each, in runs or by turns", "[rope3d][paper]") {
  Options shared{{"ladder", Word("shared")}, {"sections", List{2, 3, 3}}};
  CHECK(axes_of(shared, 16) == "tthhhwww");
  shared["section_order"] = Word("interleaved");
  shared["sections"] = List{4, 2, 2};
  CHECK(axes_of(shared, 16) == "thwthwtt");
}

TEST_CASE("rope3d: shared with t = h = w is RoPE", "[rope3d][law]") {
  for (Word order : {"contiguous", "interleaved"}) {
    auto const w = frequencies({{"ladder", Word("shared")}, {"sections", List{4, 2, 2}}, {"section_order", order}}, 16);
    auto const rope = ladder_of(*encoding_of("rope"), heads_of(1, 16));
    for (int f = 0; f < 8; ++f) CHECK(w[f] + w[8 + f] + w[16 + f] == Catch::Approx(rope[f]).epsilon(1e-14));
  }
}

TEST_CASE("rope3d: left-over channels pass, and too many pairs are refused", "[rope3d]") {
  CHECK(encoding_of("rope3d", {{"sections", List{1, 1, 1}}})->rotary(heads_of(1, 10)).rotary_dim == 6);
  using Catch::Matchers::ContainsSubstring;
  CHECK_THAT(refusal_of(*encoding_of("rope3d", {{"sections", List{2, 2, 2}}}), heads_of(1, 10)),
             ContainsSubstring("sections are 6 pairs, expected 1 to 5 (head_dim 10)"));
  CHECK_THAT(refusal_of(*encoding_of("rope3d", {{"sections", List{2, 2}}}), heads_of(1, 10)),
             ContainsSubstring("has 2 entries, expected 3"));
  Options halves{{"ladder", Word("per_axis")}, {"sections", List{1, 2, 2}}};
  CHECK_THAT(refusal_of(*encoding_of("rope3d", halves), heads_of(1, 10)), ContainsSubstring("write a direct_sum over"));
  halves["sections"] = List{0, 5, 0};
  CHECK(refusal_of(*encoding_of("rope3d", halves), heads_of(1, 10)).empty());
}

TEST_CASE("rope3d: a grid turns one number into frame, row and column", "[rope3d]") {
  double p[3];
  encoding_of("rope3d", {{"sections", List{1, 1, 1}}, {"grid", List{4, 3}}})->coordinates(2 * 12 + 1 * 4 + 3, p);
  CHECK((p[0] == 2 && p[1] == 1 && p[2] == 3));
  CHECK_THROWS_WITH(encoding_of("rope3d", {{"sections", List{1, 1, 1}}})->coordinates(5, p),
                    Catch::Matchers::ContainsSubstring("reads 3 coordinates of a position"));
}
}  // namespace rope3d_test
