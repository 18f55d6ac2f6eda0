#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
/// Buckets of key - query, read off a bias that equals its bucket's number.
std::vector<int> buckets(std::vector<int> const& ahead, Options options) {
  auto const t5 = encoding_of("t5", std::move(options));
  std::vector<double> number(t5->weight_count(heads_of(1)));
  for (std::size_t n = 0; n < number.size(); ++n) number[n] = static_cast<double>(n);
  std::vector<int> out;
  for (int r : ahead)
    out.push_back(int(t5->bias_at(heads_of(1), number.data(), {0, 1}, 1000, 1000 + r, nullptr, nullptr)));
  return out;
}
}  // namespace

TEST_CASE("t5: two-sided buckets of the released code", "[t5][paper][R33]") {
  std::vector<int> ahead;
  for (int r = -12; r <= 12; ++r) ahead.push_back(r);
  CHECK(buckets(ahead, {{"bidirectional", true}}) ==
        std::vector<int>{9, 8, 8, 8, 8, 7, 6, 5, 4, 3, 2, 1, 0, 17, 18, 19, 20, 21, 22, 23, 24, 24, 24, 24, 25});
}

TEST_CASE("t5: one-sided buckets of the released code, and keys ahead in bucket 0", "[t5][paper][R33]") {
  std::vector<int> ahead;
  for (int d : {15, 16, 18, 19, 20, 21, 24, 27, 31, 64, 91, 112, 113, 128, 1000}) ahead.push_back(-d);
  CHECK(buckets(ahead, {}) == std::vector<int>{15, 16, 16, 17, 17, 18, 19, 20, 21, 26, 29, 30, 31, 31, 31});
  CHECK(buckets({0, 1, 50}, {}) == std::vector<int>{0, 0, 0});
}

TEST_CASE("t5: an exact power falls in the upper bucket", "[t5]") {
  CHECK(buckets({-16, -32, -64}, {{"bidirectional", true}}) == std::vector<int>{10, 12, 14});
}

TEST_CASE("t5: settings without a logarithmic part are refused", "[t5]") {
  CHECK_THAT(refusal_of(*encoding_of("t5", {{"max_distance", 16.0}}), heads_of(1)),
             Catch::Matchers::ContainsSubstring("expected more than the 16 distances"));
  CHECK_THAT(refusal_of(*encoding_of("t5", {{"num_buckets", std::int64_t{7}}, {"bidirectional", true}}), heads_of(1)),
             Catch::Matchers::ContainsSubstring("even"));
}

TEST_CASE("t5: one table for all layers, a row a head, starting near zero", "[t5]") {
  auto const shape = heads_of(4, 8, 64);
  auto const p = encoding_of("t5")->parameters(shape);
  REQUIRE(p.size() == 1);
  CHECK(p[0].shape == std::vector<std::size_t>{4, 32});
  CHECK_FALSE(p[0].per_layer);
  double square = 0;
  for (std::size_t i = 0; i < 128; ++i) square += std::pow(p[0].init(Stream(1, "t5"), i), 2);
  CHECK(std::sqrt(square / 128) == Catch::Approx(1 / 8.0).epsilon(0.3));
}
