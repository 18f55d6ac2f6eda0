#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_exception.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <map>
#include <sextant/base/error.hpp>
#include <sextant/tasks/sampler.hpp>

using namespace sextant;
using namespace sextant::tasks;
using Catch::Matchers::ContainsSubstring;
using Catch::Matchers::MessageMatches;

namespace {
/// Text whose pairs of neighbours are all different, so that a row tells where it was cut: 0 1 0 2 ... 0 255 1 2 1 3 ...
std::vector<std::int32_t> telling_text(std::size_t size) {
  std::vector<std::int32_t> text;
  for (int a = 0; text.size() < size; ++a)
    for (int b = a + 1; b < 256 && text.size() < size; ++b) {
      text.push_back(static_cast<std::int32_t>(a));
      if (text.size() < size) text.push_back(static_cast<std::int32_t>(b));
    }
  return text;
}

std::vector<std::vector<int>> host_rows(Tokens const& tokens) {
  Kokkos::fence();
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), tokens);
  std::vector<std::vector<int>> rows(host.extent(0));
  for (int r = 0; r < host.extent_int(0); ++r)
    for (int j = 0; j < host.extent_int(1); ++j) rows[r].push_back(host(r, j));
  return rows;
}

std::vector<std::vector<int>> batch(RowSampler const& sampler, std::uint64_t seed, std::int64_t k, int rows) {
  Tokens const tokens("tokens", rows, sampler.length() + 1);
  sampler.batch(Exec(), seed, k, tokens);
  return host_rows(tokens);
}

std::vector<int> slice(std::vector<std::int32_t> const& text, std::int64_t from, std::int64_t to) {
  return {text.begin() + from, text.begin() + to};
}
}  // namespace

TEST_CASE("sampler: rows start where an independent Philox says", "[tasks][sampler]") {
  auto const text = telling_text(1000 + 16);  // 1000 starts for rows of 16 + 1
  RowSampler const sampler(text, 16);
  // Computed by a Philox4x32-10 written in Python (whose zero vector is the paper's), key and counter as philox.hpp says.
  std::vector<int> const starts = {531, 139, 797, 221, 331, 942};
  auto const rows = batch(sampler, 7, 3, static_cast<int>(starts.size()));
  for (std::size_t r = 0; r < starts.size(); ++r) CHECK(rows[r] == slice(text, starts[r], starts[r] + 17));
}

TEST_CASE("sampler: batch k is the same whatever was drawn before it and however many rows are asked",
          "[tasks][sampler]") {
  auto const text = telling_text(5000);
  RowSampler const fresh(text, 31), used(text, 31);
  for (int k = 0; k < 5; ++k) batch(used, 11, k, 3);
  auto const five = batch(fresh, 11, 5, 8);
  CHECK(batch(used, 11, 5, 8) == five);
  auto const two = batch(used, 11, 5, 2);
  CHECK(std::equal(two.begin(), two.end(), five.begin()));
  CHECK(batch(fresh, 11, 6, 8) != five);
  CHECK(batch(fresh, 12, 5, 8) != five);
}

TEST_CASE("sampler: every start, the first and the last included, is drawn equally often", "[tasks][sampler]") {
  auto const text = telling_text(40 + 9);  // 40 starts for rows of 9 + 1
  RowSampler const sampler(text, 9);
  std::map<std::vector<int>, int> count;
  int const draws = 40000;
  for (int k = 0; k < 40; ++k)
    for (auto const& row : batch(sampler, 3, k, draws / 40)) ++count[row];
  REQUIRE(count.size() == 40);
  double chi_squared = 0;
  for (int start = 0; start < 40; ++start) {
    double const off = count[slice(text, start, start + 10)] - draws / 40.0;
    chi_squared += off * off / (draws / 40.0);
  }
  CHECK(chi_squared < 72.06);  // 39 degrees of freedom, p = 0.001 (tables)
}

TEST_CASE("sampler: a text shorter than a row is refused with both numbers", "[tasks][sampler]") {
  auto const text = telling_text(256);
  CHECK_NOTHROW(RowSampler(text, 255));
  CHECK_THROWS_MATCHES(RowSampler(text, 256), Error,
                       MessageMatches(ContainsSubstring("has 256 tokens") && ContainsSubstring("at least 257")));
  CHECK_THROWS_AS(RowSampler(text, 0), Error);
  Tokens const wrong("tokens", 2, 8);
  CHECK_THROWS_AS(RowSampler(text, 8).batch(Exec(), 1, 1, wrong), Error);
}

TEST_CASE("windows: the short window is the end of the long one", "[tasks][windows]") {
  auto const text = telling_text(3000);
  EvalWindows const windows(text, 7, 128);
  Tokens const longest("long", 7, 129), shorter("short", 7, 33);
  windows.rows(Exec(), 0, longest);
  windows.rows(Exec(), 0, shorter);
  auto const all = host_rows(longest), ends = host_rows(shorter);
  for (int w = 0; w < 7; ++w) {
    CHECK(std::equal(ends[w].begin(), ends[w].end(), all[w].end() - 33));
    CHECK(all[w] == slice(text, windows.ends()[w] - 129, windows.ends()[w]));
  }
}

TEST_CASE("windows: ends are spread evenly from the first possible to the end of the text", "[tasks][windows]") {
  auto const text = telling_text(1100);
  // From 100 to 1100 in five equal steps.
  CHECK(EvalWindows(text, 6, 99).ends() == std::vector<std::int64_t>{100, 300, 500, 700, 900, 1100});
  CHECK(EvalWindows(text, 1, 99).ends() == std::vector<std::int64_t>{1100});
}

TEST_CASE("windows: chunks of rows equal all rows at once", "[tasks][windows]") {
  auto const text = telling_text(2000);
  EvalWindows const windows(text, 5, 64);
  Tokens const all("all", 5, 65), last("last", 2, 65);
  windows.rows(Exec(), 0, all);
  windows.rows(Exec(), 3, last);
  auto const whole = host_rows(all), part = host_rows(last);
  CHECK(part[0] == whole[3]);
  CHECK(part[1] == whole[4]);
  CHECK_THROWS_AS(windows.rows(Exec(), 4, last), Error);
}

TEST_CASE("windows: a text with too few places is refused with the numbers", "[tasks][windows]") {
  auto const text = telling_text(300);
  CHECK_NOTHROW(EvalWindows(text, 44, 256));  // 256 + 1 bytes, and 43 places more
  CHECK_THROWS_MATCHES(EvalWindows(text, 45, 256), Error,
                       MessageMatches(ContainsSubstring("has 300 tokens") && ContainsSubstring("at least 301") &&
                                      ContainsSubstring("45 windows of length 256")));
}
