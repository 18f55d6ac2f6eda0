// Encodings through attention by teams, a device's path: biases from their tables or formulas, turns in query and key.
#include <sextant/base/error.hpp>

#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace {
/// Some of each kind: turned, tabulated and trained, tabulated over many weights, of gates, several at once.
std::vector<encoding::PositionChoice> const choices = {
    block("rope"),
    block("alibi", {{"train_slopes", true}}),
    block("t5"),
    block("kerple"),
    block("fox"),
    block("sliding_window", {{"window", 7.0}}),
    test::sum({{"rope", {}, {}}, {"alibi", {{"train_slopes", true}}, {}}, {"kerple", {}, {}}}),
};
}  // namespace

TEST_CASE("encodings by teams: outputs and gradients are those of the plain loops", "[encoding][team]") {
  auto const choice = GENERATE(from_range(choices));
  bool const apart = GENERATE(false, true);  // positions with gaps, where no diagonal is one offset
  Setting setting{choice};
  setting.length = 75;
  if (apart) {
    setting.positions.emplace_back();
    for (int i = 0; i < setting.length; ++i) setting.positions[0].push_back(i + i / 5);
  }
  CAPTURE(choice.encodings.front().use, apart);
  Setting by_teams = setting;
  by_teams.teams = true;
  Rig plain(setting), teams(by_teams);
  CHECK_THAT(teams.attend(), CloseTo(plain.attend(), 1e-12));
  auto const expected = plain.analytic(), found = teams.analytic();
  CHECK_THAT(found.q, CloseTo(expected.q, 1e-11));
  CHECK_THAT(found.k, CloseTo(expected.k, 1e-11));
  CHECK_THAT(found.x, CloseTo(expected.x, 1e-11));
  REQUIRE(found.parameters.size() == expected.parameters.size());
  for (std::size_t n = 0; n < found.parameters.size(); ++n)
    CHECK_THAT(found.parameters[n], CloseTo(expected.parameters[n], 1e-11));
}

TEST_CASE("encodings by teams: a bias of the offset alone has a table, and one of gates has none", "[encoding][team]") {
  auto const table = [](std::string const& name, bool gradient) {
    auto const encoding = encoding::Registry::global().make_encoding(block(name).encodings.front());
    encoding::Shape const shape{.heads = 2, .kv_heads = 2, .head_dim = 4, .model_dim = 8};
    auto const bias = encoding->bias<double>(shape);
    std::vector<double> ones(2 * 8, 1.0);
    encoding::Bias<double>::Inputs in;
    in.query_len = in.key_len = 8, in.most_offset = 7, in.least_offset = -7, in.heads = 2, in.want_gradient = gradient;
    in.weights = encoding->initial_weights(shape, Stream(1, "weights"));
    in.query_gates = in.key_gates = {{ones.data(), 16, 8}};
    bias->prepare(Exec(), in);
    return bias->table();
  };
  CHECK(table("alibi", false).bias != nullptr);
  CHECK(table("alibi", false).width == 15);
  CHECK(table("alibi", true).grad == nullptr);  // its slopes are constants
  CHECK(table("kerple", true).grad != nullptr);
  CHECK(table("fox", false).bias == nullptr);
}
