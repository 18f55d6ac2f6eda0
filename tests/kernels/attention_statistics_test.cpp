#include <sextant/kernels/attention_statistics.hpp>

#include <catch2/catch_approx.hpp>
#include <catch2/catch_test_macros.hpp>

#include <cmath>

using namespace sextant;
using Catch::Approx;

namespace {
/// One head of two channels; key j is (x_j, 0) and query (1, 0), so with scale 1 the logits are x.
struct Line {
  View4<double> query, key, value;
  kernels::AttentionInput<double> in;
  explicit Line(std::vector<double> const& x)
      : query("query", 1, 1, x.size(), 2), key("key", 1, 1, x.size(), 2), value("value", 1, 1, x.size(), 2) {
    for (std::size_t j = 0; j < x.size(); ++j) query(0, 0, j, 0) = 1, key(0, 0, j, 0) = x[j];
    View2<double> const position("position", 1, x.size());
    for (std::size_t j = 0; j < x.size(); ++j) position(0, j) = 10.0 * static_cast<double>(j);
    in.query = query, in.key = key, in.value = value;
    in.query_position = in.key_position = position;
    in.scale = 1;
  }
};
}  // namespace

TEST_CASE("attention statistics: equal logits have the entropy of a uniform law and no spread", "[attention][law]") {
  Line const line({0.3, 0.3, 0.3, 0.3, 9});
  auto const row = kernels::row_statistics(line.in, 0, 0, 3);  // the fifth key is ahead of it
  CHECK(row.seen == 4);
  CHECK(row.entropy == Approx(std::log(4.0)));
  CHECK(row.spread == Approx(0).margin(1e-12));
  CHECK(row.mean == Approx(0.3));
  CHECK(row.sharpest == Approx(0.25));
  CHECK(row.distance == Approx(15));  // (30 + 20 + 10 + 0) / 4
}

TEST_CASE("attention statistics: a row by hand", "[attention]") {
  Line const line({0, std::log(3.0)});
  auto const row = kernels::row_statistics(line.in, 0, 0, 1);
  CHECK(row.entropy == Approx(-(0.25 * std::log(0.25) + 0.75 * std::log(0.75))));
  CHECK(row.spread == Approx(std::log(3.0) / 2));
  CHECK(row.sharpest == Approx(0.75));
  CHECK(row.distance == Approx(2.5));
}

TEST_CASE("attention statistics: a row that sees nothing is all zeros", "[attention]") {
  Line line({1, 2});
  View2<int> const padding("document", 1, 2);
  padding(0, 0) = padding(0, 1) = -1;
  line.in.mask.query_document = line.in.mask.key_document = padding;
  auto const row = kernels::row_statistics(line.in, 0, 0, 1);
  CHECK(row.seen == 0);
  CHECK(row.entropy == 0);
}
