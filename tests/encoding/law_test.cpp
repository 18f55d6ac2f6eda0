// The laws that plugins declare, and the numbers that papers and bug reports give.
#include "encoding/rig.hpp"
#include "support/close_to.hpp"

#include <catch2/catch_all.hpp>

#include <cmath>

using namespace sextant;
using encoding::Choice;
using encoding::Options;
using test::block;
using test::CloseTo;
using test::Rig;
using test::Setting;

namespace {
std::vector<double> run(int length, double from) {
  std::vector<double> out;
  for (int i = 0; i < length; ++i) out.push_back(from + i);
  return out;
}
bool is_composite(std::string const& name) {
  return encoding::Registry::global().describe(encoding::Role::encoding, name).takes_parts;
}
/// Options without which a plugin cannot be made.
Options needed(std::string const& name) {
  if (name == "segmented_theta")
    return {{"seg_start", std::vector<double>{0, 2}}, {"seg_base", std::vector<double>{90, 4000}}};
  if (name == "logn") return {{"trained_length", 2.0}};
  if (name == "temperature") return {{"factor", 1.5}};
  if (name == "sliding_window") return {{"window", 3.0}};
  if (name == "grape_m_ctx") return {{"start_rate", 1.0}};
  if (name == "learned") return {{"max_length", std::int64_t{64}}};
  if (name == "fope") return {{"trained_length", 64.0}};
  if (name == "rope2d") return {{"grid", std::vector<double>{3}}};
  if (name == "rope3d") return {{"grid", std::vector<double>{2, 2}}, {"sections", std::vector<double>{1, 2, 1}}};
  return {};
}
bool claims(std::string const& name, std::string const& law) {
  for (auto const& l : encoding::Registry::global().describe(encoding::Role::encoding, name).laws)
    if (l.name == law) return true;
  return false;
}
std::vector<std::string> encodings_claiming(std::string const& law) {
  std::vector<std::string> out;
  for (auto const& name : encoding::Registry::global().names(encoding::Role::encoding))
    if (!is_composite(name) && claims(name, law)) out.push_back(name);
  return out;
}

/// x as query, head 0, turned by one position.
std::vector<double> turned(Options options, std::vector<double> const& x, double position,
                           std::string const& name = "rope") {
  Setting s{block(name, std::move(options))};
  s.batch = s.heads = s.kv_heads = s.length = 1;
  s.head_dim = static_cast<int>(x.size());
  s.positions = {{position}};
  Rig rig(s);
  for (std::size_t c = 0; c < x.size(); ++c) rig.q(0, 0, 0, c) = rig.k(0, 0, 0, c) = x[c];
  auto const out = rig.encode().q;
  return {out.data(), out.data() + out.size()};
}
double squared(std::vector<double> const& x) {
  double sum = 0;
  for (double v : x) sum += v * v;
  return sum;
}
}  // namespace

TEST_CASE("law: relative encodings leave logits unchanged when all positions shift", "[encoding][law]") {
  auto const names = encodings_claiming("relative");
  CHECK(names.size() >= 7);
  for (auto const& name : names) {
    DYNAMIC_SECTION(name) {
      Setting s{block(name, needed(name))};
      Setting shifted = s;
      s.positions = {run(s.length, 0)};
      shifted.positions = {run(s.length, 131)};
      CHECK_THAT(Rig(shifted).logits(), CloseTo(Rig(s).logits(), 1e-11));
    }
  }
}

TEST_CASE("law: an encoding that bends positions does not claim the relative law, and breaks it", "[encoding][law]") {
  Options const bent{{"axis", std::string("positions")},
                     {"seg_start", std::vector<double>{0, 4}},
                     {"seg_rate", std::vector<double>{1, 0.25}}};
  CHECK_FALSE(claims("segmented_theta", "relative"));
  Setting s{block("segmented_theta", bent)}, shifted = s;
  shifted.positions = {run(s.length, 3)};
  CHECK(Rig(shifted).logits() != Rig(s).logits());
}

TEST_CASE("law: orthogonal encodings keep the norm of every query and key", "[encoding][law]") {
  for (auto const& name : encodings_claiming("orthogonal")) {
    INFO(name);
    for (double position : {0.0, 1.0, 77.5, 1e6}) {
      if (position == 77.5 && needed(name).contains("grid")) continue;  // a raster has whole numbers only
      std::vector<double> const x{1, -2, 3, 0.5, 4, -1, 2, 2};
      CHECK(squared(turned(needed(name), x, position, name)) == Catch::Approx(squared(x)).epsilon(1e-13));
    }
  }
}

TEST_CASE("law: turning by a and then by b is turning by a + b, and 0 turns nothing", "[encoding][law]") {
  for (auto const& name : encodings_claiming("group")) {
    INFO(name);
    std::vector<double> const x{1, -2, 3, 0.5, 4, -1, 2, 2};
    CHECK_THAT(turned(needed(name), x, 0, name), CloseTo(x, 1e-14));
    auto const twice = turned(needed(name), turned(needed(name), x, 19, name), 23, name);
    CHECK_THAT(twice, CloseTo(turned(needed(name), x, 42, name), 1e-13));
  }
}

TEST_CASE("law: an additive bias composes over any key between", "[encoding][law]") {
  auto const names = encodings_claiming("additive");
  CHECK(names.size() >= 1);
  for (auto const& name : names) {
    Setting s{block(name, needed(name))};
    Rig rig(s);
    auto const bias = rig.logits_at(0);
    int const n = s.length;
    for (int row = 0; row < s.batch * s.heads; ++row)
      for (int i = 0; i < n; ++i)
        for (int m = 0; m <= i; ++m)
          for (int j = 0; j <= m; ++j) {
            auto const at = [&](int a, int b) { return bias[(row * n + a) * n + b]; };
            REQUIRE(at(i, j) == Catch::Approx(at(i, m) + at(m, j)).margin(1e-12));
          }
  }
}

TEST_CASE(
    "law: without encoding and mask, shuffled input gives shuffled output, and every other encoding tells the order",
    "[encoding][law]") {
  std::vector<int> const order{4, 0, 3, 1, 2};
  for (auto const& name : encoding::Registry::global().names(encoding::Role::encoding)) {
    if (is_composite(name)) continue;
    INFO(name);
    Setting s{block(name, needed(name))};
    s.causal = false;
    s.length = 5;
    s.batch = 1;
    Rig straight(s), shuffled(s);
    for (int i = 0; i < 5; ++i) {
      for (int h = 0; h < s.heads; ++h)
        for (int c = 0; c < s.head_dim; ++c) {
          shuffled.q(0, h, i, c) = straight.q(0, h, order[i], c);
          shuffled.k(0, h, i, c) = straight.k(0, h, order[i], c);
          if (c < s.value_dim) shuffled.v(0, h, i, c) = straight.v(0, h, order[i], c);
        }
      for (int c = 0; c < s.model_dim; ++c) shuffled.x(i, c) = straight.x(order[i], c);
    }
    auto const both = [](Rig& rig) {
      auto out = rig.attend();
      auto const y = rig.embed();
      out.insert(out.end(), y.begin(), y.end());
      return out;
    };
    auto const a = both(straight), b = both(shuffled);
    double apart = 0;
    std::size_t const rows = s.heads * 5, values = rows * s.value_dim;
    for (std::size_t at = 0; at < a.size(); ++at) {
      std::size_t const width = at < values ? s.value_dim : s.model_dim, from = at < values ? 0 : values;
      std::size_t const row = (at - from) / width, c = (at - from) % width;
      apart = std::max(apart, std::abs(b[at] - a[from + (row / 5 * 5 + order[row % 5]) * width + c]));
    }
    if (name == "nope" || name == "temperature")
      CHECK(apart < 1e-14);
    else
      CHECK(apart > 1e-3);
  }
}

TEST_CASE("rope: adjacent and half-split pairs give the published vectors, and one product", "[encoding][paper][R27]") {
  Options const adjacent{{"layout", std::string("interleaved")}};
  CHECK_THAT(turned(adjacent, {1, 2, 3, 4}, 1),
             CloseTo(std::vector<double>{-1.1426398, 1.9220756, 2.9598507, 4.0297995}, 2e-7));
  CHECK_THAT(turned({}, {1, 2, 3, 4}, 1),
             CloseTo(std::vector<double>{-1.9841106, 1.9599007, 2.4623779, 4.0197997}, 2e-7));
  auto const product = [](std::vector<double> const& a, std::vector<double> const& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
  };
  // (f, f + 2) <-> (2f, 2f + 1): the same channels under either convention.
  double const half = product(turned({}, {1, 2, 3, 4}, 9), turned({}, {5, 6, 7, 8}, 2));
  double const split = product(turned(adjacent, {1, 3, 2, 4}, 9), turned(adjacent, {5, 7, 6, 8}, 2));
  CHECK(half == Catch::Approx(split).epsilon(1e-14));
}

TEST_CASE("rope: a partial turn has its own ladder and leaves the rest alone", "[encoding][paper][R28]") {
  auto const out = turned({{"rotary_dim", std::int64_t{4}}}, {1, 2, 3, 4, 5, 6, 7, 8}, 3);
  CHECK_THAT(out, CloseTo(std::vector<double>{-1.4133525, 1.8791181, -2.8288575, 4.0581911, 5, 6, 7, 8}, 1e-7));
}

TEST_CASE("rope: far positions turn by the exact angle whatever the type of the result",
          "[encoding][paper][R01][R03]") {
  std::vector<double> one(32, 0.0);
  one[1] = 1;  // pair 1 is (1, 17)
  auto const near = turned({}, one, 1857);
  CHECK(near[1] == Catch::Approx(0.3066928).margin(5e-8));
  CHECK(near[17] == Catch::Approx(0.9518086).margin(5e-8));
  std::vector<double> wide(128, 0.0);
  wide[1] = 1;
  CHECK(turned({{"base", 500000.0}}, wide, 1048575)[1] == Catch::Approx(0.70395138).margin(5e-9));

  // In float32 the finished cosine is the exact one, rounded once.
  encoding::PositionChoice const choice = block("rope", {{"base", 500000.0}});
  auto const position = std::make_shared<encoding::Position const>(
      choice, encoding::Registry::global(),
      encoding::Shape{.heads = 1, .kv_heads = 1, .head_dim = 128, .model_dim = 128});
  encoding::Binding<float> binding(position, 1);
  encoding::Tokens tokens;
  tokens.batch = tokens.count = 1;
  tokens.position = View2<double>("ids", 1, 1);
  tokens.position(0, 0) = 1048575;
  binding.begin(Exec(), tokens);
  View4<float> q("q", 1, 1, 1, 128), k("k", 1, 1, 1, 128);
  q(0, 0, 0, 1) = 1;
  encoding::TokenState<float> state;
  binding.encode(Exec(), 0, View2<float const>(), Heads<float>(q), Heads<float>(k), state);
  CHECK(std::abs(q(0, 0, 0, 1) - 0.70395138) <= 0x1p-25 + 5e-9);
}

TEST_CASE("rope: neighbouring positions beyond 256, 2048 and 65536 stay apart", "[encoding][R02]") {
  auto const at = [](double position) { return turned({}, {1, 0}, position)[0]; };
  CHECK(at(256) == Catch::Approx(-0.0397908).margin(5e-8));
  CHECK(at(257) == Catch::Approx(0.8193055).margin(5e-8));
  CHECK(at(2048) != at(2049));
  for (int i = 0; i < 512; ++i) REQUIRE(at(65536 + i) == Catch::Approx(std::cos(65536.0 + i)).margin(1e-11));
}

TEST_CASE("linear: factor 8 turns position 8 by one radian", "[encoding][R17]") {
  Setting s{test::scaled({"rope", {}, {}}, {"linear", {{"factor", 8.0}}, {}})};
  s.batch = s.heads = s.kv_heads = s.length = 1;
  s.head_dim = 2;
  s.positions = {{8}};
  Rig rig(s);
  rig.q(0, 0, 0, 0) = 1;
  rig.q(0, 0, 0, 1) = 0;
  auto const q = rig.encode().q;
  CHECK(std::atan2(q(0, 0, 0, 1), q(0, 0, 0, 0)) == Catch::Approx(1).epsilon(1e-14));
}

TEST_CASE("alibi: with equal scores the weights rise towards the query as published", "[encoding][paper][R32]") {
  Setting s{block("alibi")};
  s.batch = 1;
  s.heads = s.kv_heads = 8;
  s.length = s.value_dim = 4;
  Rig rig(s);
  Kokkos::deep_copy(rig.q, 0.0);
  for (int h = 0; h < 8; ++h)
    for (int j = 0; j < 4; ++j)
      for (int c = 0; c < 4; ++c) rig.v(0, h, j, c) = c == j;  // the output is the weights
  auto const out = rig.attend();
  CHECK_THAT(std::vector<double>(out.begin() + 12, out.begin() + 16),
             CloseTo(std::vector<double>{0.10153632, 0.16740510, 0.27600434, 0.45505423}, 1e-8));
}

TEST_CASE("law: scalings that claim it change nothing at factor 1", "[encoding][law]") {
  auto const& registry = encoding::Registry::global();
  for (auto const& name : registry.names(encoding::Role::scaling)) {
    bool claimed = false;
    for (auto const& law : registry.describe(encoding::Role::scaling, name).laws)
      claimed |= law.name == "identity_at_factor_one";
    if (!claimed) continue;
    INFO(name);
    Choice const one{name, {{"factor", 1.0}}, {}};
    std::string const use = registry.make_scaling(one)->stages().biases ? "alibi" : "rope";
    Setting s{test::scaled({use, {}, {}}, one, 64)};
    CHECK(Rig(s).logits() == Rig(Setting{block(use)}).logits());
  }
}
