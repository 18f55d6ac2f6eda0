// The distance that each pair counts as, from positions alone: no attention, no angle.
#include <sextant/check/cases.hpp>
#include <sextant/results/file.hpp>

#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

#include <cstdlib>

using namespace sextant;
using check::Quantities;

namespace {
std::vector<double> distances(results::Group const& group, std::vector<double> positions, int batch = 1) {
  int const heads = 2, length = static_cast<int>(group.array("out/rho").shape.back());
  auto const made = check::encoding_case(group.attribute<std::string>("method"), check::options_of(group), heads, 8,
                                         [](std::string const&) { return false; });
  REQUIRE(made);
  encoding::Position const position(made->choice, encoding::Registry::global(),
                                    encoding::Shape{.heads = heads, .kv_heads = heads, .head_dim = 8, .model_dim = 16});
  check::CaseProbe probe{.group = group, .position = position};
  probe.positions = std::move(positions);
  probe.batch = batch;
  probe.length = length;
  Quantities out;
  made->own(probe, out);
  return out.at("out/rho");
}
}  // namespace

TEST_CASE("remap cases: every pair counts as far as the reference says, hidden ones as 0", "[check][remap]") {
  auto const file = results::read_file(std::string(std::getenv("SEXTANT_TEST_DATA")) + "/encodings.h5");
  int cases = 0;
  for (auto const& [name, group] : file.groups) {
    if (!group.has_array("out/rho")) continue;
    INFO(name);
    CHECK_THAT(distances(group, group.numbers("in/positions")), test::CloseTo(group.numbers("out/rho"), 1e-13));
    ++cases;
  }
  CHECK(cases == 10);
}

TEST_CASE("remap cases: each row of a batch has distances of its own positions", "[check][remap]") {
  results::Group group;
  group.set("method", "self_extend").set("group", 3).set("window", 2);
  group["in"].put("mask", {3, 3}, std::vector<std::int64_t>{1, 0, 0, 1, 1, 0, 1, 1, 1}, "1", "1 = allowed");
  group["out"].put("rho", {2, 3, 3}, std::vector<double>(18), "tokens", "counted distance");
  // floor(p / 3) is 0, 0, 1 in the first row and 1, 2, 3 in the second.
  std::vector<double> const expected{0, 0, 0, 2, 0, 0, 3, 3, 0, /**/ 0, 0, 0, 3, 0, 0, 4, 3, 0};
  CHECK(distances(group, {0, 2, 4, 5, 7, 9}, 2) == expected);
}
