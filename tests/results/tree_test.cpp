#include <sextant/results/tree.hpp>

#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>

#include "scratch.hpp"

using namespace sextant::results;
using Catch::Matchers::Equals;
using sextant::test::complaint;

namespace {
Group sample() {
  Group root;
  root.set("seed", 11).set("rate", 2e-3).set("status", "done").set("tied", true);
  root.set("lengths", std::vector<int>{128, 256}).set("betas", std::vector<float>{0.5f, 0.25f});
  root.set("parents", std::vector<std::string>{"ab12"});
  Group& train = root["train"];
  train.put("step", std::vector<std::int64_t>{0, 1, 2}, "1", "optimiser step");
  train.put("loss", std::vector<float>{5.5f, 5.25f, 5.0f}, "nat/token", "training loss").along({"step"});
  root["spec"].put("source", std::string("sextant: 1\n"), "the spec");
  return root;
}
}  // namespace

TEST_CASE("a tree gives back what was put, by path and type", "[results]") {
  Group const root = sample();
  CHECK(root.values<float>("train/loss") == std::vector<float>{5.5f, 5.25f, 5.0f});
  CHECK(root.numbers("train/loss") == std::vector<double>{5.5, 5.25, 5.0});
  CHECK(root.integers("train/step") == std::vector<std::int64_t>{0, 1, 2});
  CHECK(root.text("spec/source") == "sextant: 1\n");
  CHECK(root.array("train/loss").units == "nat/token");
  CHECK(root.array("train/loss").axes == std::vector<std::string>{"step"});
  CHECK(root.attribute<int>("seed") == 11);
  CHECK(root.attribute<double>("seed") == 11.0);
  CHECK(root.attribute<double>("rate") == 2e-3);
  CHECK(root.attribute<bool>("tied"));
  CHECK(root.attribute<std::string>("status") == "done");
  CHECK(root.attribute<std::vector<std::int64_t>>("lengths") == std::vector<std::int64_t>{128, 256});
  CHECK(root.attribute<std::vector<double>>("betas") == std::vector<double>{0.5, 0.25});
  CHECK(root.attribute<std::vector<double>>("lengths") == std::vector<double>{128, 256});
  CHECK(root.attribute<std::vector<std::string>>("parents") == std::vector<std::string>{"ab12"});
  CHECK(root.attribute<int>("steps", 7) == 7);
}

TEST_CASE("a wrong name says where, and which name is near", "[results][errors]") {
  Group const root = sample();
  CHECK_THAT(complaint([&] { root.array("train/los"); }), Equals("/train: no array los; did you mean loss?"));
  CHECK_THAT(complaint([&] { root.group("trian"); }), Equals("/: no group trian; did you mean train?"));
  CHECK_THAT(complaint([&] { root.array("trian/loss"); }), Equals("/: no group trian; did you mean train?"));
  CHECK_THAT(complaint([&] { root.attribute<int>("sed"); }), Equals("/: no attribute sed; did you mean seed?"));
  CHECK_THAT(complaint([&] { root.array("train"); }), Equals("/train is a group, expected an array"));
  CHECK_THAT(complaint([&] { root.group("train/loss"); }),
             Equals("/train/loss is an array, float32 [3], expected a group"));
}

TEST_CASE("a wrong type or shape says what was found and what was expected", "[results][errors]") {
  Group const root = sample();
  CHECK_THAT(complaint([&] { root.values<double>("train/loss"); }),
             Equals("/train/loss is float32 [3], expected float64"));
  CHECK_THAT(complaint([&] { root.values<float>("train/loss", {4}); }),
             Equals("/train/loss is float32 [3], expected shape [4]"));
  CHECK_THAT(complaint([&] { root.integers("train/loss"); }), Equals("/train/loss is float32 [3], expected integers"));
  CHECK_THAT(complaint([&] { root.numbers("spec/source"); }), Equals("/spec/source is text [], expected numbers"));
  CHECK_THAT(complaint([&] { root.attribute<int>("status"); }),
             Equals("/: attribute status is text \"done\", expected an integer"));
  CHECK_THAT(complaint([&] { root.attribute<int>("rate", 1); }),
             Equals("/: attribute rate is float64 0.002, expected an integer"));
  CHECK_THAT(complaint([&] { root.attribute<std::vector<double>>("parents"); }),
             Equals("/: attribute parents is text list of 1, expected a list of numbers"));
}

TEST_CASE("an array without units or a name, or with too few values, is refused", "[results][errors]") {
  Group root;
  std::vector<double> const three{1, 2, 3};
  CHECK_THAT(complaint([&] { root["a"].put("x", three, "", "x"); }),
             Equals("/a/x has no units, expected e.g. nat/token, token, s, byte or 1"));
  CHECK_THAT(complaint([&] { root["a"].put("x", three, "s", ""); }),
             Equals("/a/x has no long_name, expected a few words that say what it is"));
  CHECK_THAT(complaint([&] { root.put("x", {2, 2}, three, "s", "time"); }), Equals("/x got 3 values for shape [2, 2]"));
  CHECK_THAT(complaint([&] {
               root.put("x", three, "s", "time").along({"a", "b"});
             }),
             Equals("time: 2 axes named for shape [3]"));
  CHECK_THAT(complaint([&] { root.put("a/b", three, "s", "time"); }),
             Equals("/: \"a/b\" cannot name an array or a group; expected one word of a path, without a slash"));
  CHECK_THAT(complaint([&] { root["x"]; }), Equals("/x is an array, expected a group"));
  CHECK_THAT(complaint([&] { root.put("a", three, "s", "time"); }), Equals("/a is a group, expected an array"));
  CHECK_THAT(complaint([&] { root.set("seed", 1ull << 63); }),
             Equals("attribute 9223372036854775808 does not fit into int64"));
}

TEST_CASE("references stay valid while other groups and arrays are added", "[results]") {
  Group root;
  Group& first = root["first"];
  Array& array = first.put("x", std::vector<double>{1}, "1", "one");
  for (int i = 0; i < 100; ++i) {
    root[sextant::text("other", i)];
    first.put(sextant::text("y", i), std::vector<double>{0}, "1", "zero");
  }
  CHECK(&first == &root.group("first"));
  CHECK(&array == &root.array("first/x"));
}

TEST_CASE("an integer beyond 2^53 is not passed off as a float64", "[results][errors]") {
  Group root;
  root.put("n", std::vector<std::int64_t>{(1LL << 53) + 1}, "1", "count");
  CHECK_THAT(complaint([&] { root.numbers("n"); }), Equals("/n is int64 [1], expected integers that float64 can hold"));
  CHECK(root.integers("n")[0] == (1LL << 53) + 1);
}

TEST_CASE("a plot names its signal and axes, and they must be there", "[results][errors]") {
  Group root = sample();
  root["train"].plot("loss", {"step"});
  Group const& train = root.group("train");
  CHECK(train.attribute<std::string>("NX_class") == "NXdata");
  CHECK(train.attribute<std::string>("signal") == "loss");
  CHECK(train.attribute<std::vector<std::string>>("axes") == std::vector<std::string>{"step"});
  CHECK(train.attribute<int>("step_indices") == 0);
  CHECK_THAT(complaint([&] { root["train"].plot("loss", {"token"}); }),
             Equals("/train: no array token; known: step, loss"));
}
