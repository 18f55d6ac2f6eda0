// Attention by teams, a device's path, on a host space: against the plain loops, with the same inputs as the host's kernel.
#include <catch2/catch_all.hpp>
#include <sextant/base/error.hpp>

#include "attention_case.hpp"
#include "support/complaint.hpp"
#include "support/on_threads.hpp"

namespace sextant {
namespace {
using test::Attention;
using test::CloseTo;
using test::compare, test::name, test::shapes;
using test::Offsets;
using test::Shape;

template <class T>
struct Tabulated final : kernels::TileModifier<T> {
  Offsets<T> of;
  explicit Tabulated(Offsets<T> const& offsets) : of(offsets) {}
  void forward(kernels::Tile<T> const&) const override { FAIL("asked for tiles, not for the table"); }
  void backward(kernels::Tile<T> const&, T const*, int) override { FAIL("asked for tiles, not for the table"); }
  kernels::OffsetTable<T> table() override { return of.as_table(); }
};
}  // namespace

TEMPLATE_TEST_CASE("team attention: tiles equal the plain loops for any shape, causal or not, with any window",
                   "[attention][team]", float, double) {
  Shape const shape = GENERATE(from_range(shapes));
  bool const causal = GENERATE(true, false);
  int const window = GENERATE(0, 1, 40);
  CAPTURE(name(shape), causal, window);
  Attention<TestType> teams(shape), plain(shape);
  for (auto* a : {&teams, &plain}) a->in.mask.causal = causal, a->in.mask.window = window;
  teams.teams = true;
  compare(teams, plain);
}

TEMPLATE_TEST_CASE("team attention: the host kernel's own chain equals the plain loops", "[attention][team]", float,
                   double) {
  using T = TestType;
  Shape const shape = GENERATE(from_range(shapes));
  CAPTURE(name(shape));
  std::vector<double> slopes;
  for (int h = 0; h < shape.heads; ++h) slopes.push_back(0.01 + 0.02 * h);
  test::LinearBias<T> bias(shape.batch, slopes), plain_bias(shape.batch, slopes);
  test::Near<T> near(60, shape.key_len - shape.query_len), plain_near(60, shape.key_len - shape.query_len);
  test::Sieve<T> sieve;
  sieve.hidden = GENERATE(T(-1e9), -std::numeric_limits<T>::infinity());
  Attention<T> teams(shape), plain(shape);
  teams.in.modifiers = {&bias, &sieve, &near}, plain.in.modifiers = {&plain_bias, &sieve, &plain_near};
  teams.teams = true;
  compare(teams, plain);
  CHECK_THAT(bias.grad_slope(), CloseTo(plain_bias.grad_slope(), sizeof(T) == 4 ? 1e-4 : 1e-11));
}

TEMPLATE_TEST_CASE("team attention: tables of offsets equal the biases that they tabulate", "[attention][team]", float,
                   double) {
  using T = TestType;
  Shape const shape{2, 4, 2, 70, 101, 16, 20};
  int const stride = GENERATE(1, 2);  // 2: no run of neighbours, so that diagonals do not do
  CAPTURE(stride);
  Offsets<T> one(2, 0, 4, 400), other(2, 1, 2, 400);  // of all heads, and of two of them
  Tabulated<T> one_table(one), other_table(other);
  Attention<T> teams(shape), plain(shape);
  for (auto* a : {&teams, &plain}) {
    a->in.query_position = test::positions(shape.query_len, shape.key_len - shape.query_len);
    for (int i = 0; i < shape.query_len; ++i) a->in.query_position(0, i) *= stride;
    for (int j = 0; j < shape.key_len; ++j) a->in.key_position(0, j) = stride * (j / stride);  // doubled, for 2
  }
  teams.in.modifiers = {&one_table, &other_table}, plain.in.modifiers = {&one, &other};
  teams.teams = true;
  REQUIRE(kernels::team::takes(teams.in));
  compare(teams, plain);
  double const bound = sizeof(T) == 4 ? 1e-5 : 1e-12;
  CHECK_THAT(one_table.of.grad, CloseTo(one.grad, bound));
  CHECK_THAT(other_table.of.grad, CloseTo(other.grad, bound));
}

TEST_CASE("team attention: two threads of a team share a tile, and wait for each other", "[attention][team]") {
  if (concurrency() < 2) SKIP("one thread");
  Shape const shape{2, 4, 2, 70, 101, 16, 20};
  for (int repeat = 0; repeat < 20; ++repeat) {
    Offsets<double> offsets(2, 1, 2, 400);
    Tabulated<double> table(offsets);
    Attention<double> teams(shape, repeat), plain(shape, repeat);
    for (int i = 0; i < shape.query_len && repeat % 2; ++i) teams.in.query_position(0, i) = 31 + i + i / 9;
    plain.in.query_position = teams.in.query_position;
    teams.in.modifiers = {&table}, plain.in.modifiers = {&offsets};
    teams.teams = true, teams.team_size = 2;
    compare(teams, plain);
    CHECK_THAT(table.of.grad, CloseTo(offsets.grad, 1e-12));
  }
}

TEMPLATE_TEST_CASE("team attention: documents and padding equal the plain loops, whatever the padding holds",
                   "[attention][team]", float, double) {
  using T = TestType;
  Shape const shape{2, 2, 1, 90, 130, 16, 16};
  bool const causal = GENERATE(true, false);
  std::vector<std::vector<int>> query(2), key(2);
  for (int j = 0; j < 130; ++j) {
    key[0].push_back(j < 50 ? -1 : 0);              // left padding
    key[1].push_back(j < 60 ? 3 : j < 67 ? 1 : 7);  // three documents
  }
  for (int b = 0; b < 2; ++b) query[b].assign(key[b].end() - 90, key[b].end());
  Attention<T> teams(shape), plain(shape);
  for (auto* a : {&teams, &plain}) a->documents(query, key), a->in.mask.causal = causal;
  for (int j = 0; j < 50; ++j)
    for (int d = 0; d < 16; ++d) teams.key(0, 0, j, d) = teams.value(0, 0, j, d) = std::numeric_limits<T>::quiet_NaN();
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 16; ++d) teams.query(0, h, 3, d) = std::numeric_limits<T>::quiet_NaN();
  teams.teams = true;
  compare(teams, plain);
}

TEST_CASE("team attention digest, printed for the test on threads", "[.][team-digest]") {
  Attention<float> teams(Shape{2, 4, 2, 70, 90, 24, 24});
  test::LinearBias<float> bias(2, {0.1, 0.2, 0.3, 0.4});
  teams.in.modifiers = {&bias}, teams.teams = true;
  teams.forward(), teams.backward();
  test::Digest digest;
  for (auto const& x : {teams.out, teams.grad_query, teams.grad_key, teams.grad_value}) digest.add(x);
  digest.add(bias.grad);
  digest.print();
}

TEST_CASE("team attention: the same bits on 1, 2 and 4 threads", "[attention][team]") {
  auto const digests = test::digests_on_threads("[team-digest]", {1, 2, 4});
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] == digests[2]);
}

TEST_CASE("team attention: no queries, no keys, no batch", "[attention][team]") {
  for (Shape const shape : {Shape{1, 2, 1, 0, 5, 4, 4}, Shape{1, 2, 1, 20, 0, 4, 4}, Shape{0, 2, 1, 5, 5, 4, 4}}) {
    CAPTURE(name(shape));
    Attention<float> teams(shape), plain(shape);
    teams.teams = true;
    compare(teams, plain);
  }
}

TEST_CASE("team attention: rows, branches and shapes that disagree are refused", "[attention][team]") {
  Attention<float> attention(Shape{1, 2, 1, 5, 5, 4, 4});
  attention.teams = true;
  struct Row final : kernels::RowLink<float> {
  } row;
  attention.in.rows = {&row};
  CHECK_FALSE(kernels::team::takes(attention.in));
  CHECK(test::complaint([&] { attention.forward(); }) ==
        "attention by teams: takes no whole rows and no branches, and on a device at most 4 modifiers, each with a "
        "table; "
        "found 1 rows, 0 branches and 0 modifiers");
  attention.in.rows.clear();
  attention.out = test::zero_heads<float>(1, 2, 5, 3);
  CHECK(test::complaint([&] { attention.forward(); }) ==
        "attention: out is [1, 2, 5, 3], expected [1, 2, 5, 4] as query and value set it");
}

}  // namespace sextant
