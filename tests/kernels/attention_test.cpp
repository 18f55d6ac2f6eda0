// The blocked kernel against the plain loops, over everything that can be combined.
#include <catch2/catch_all.hpp>

#include "attention_case.hpp"

namespace sextant {
namespace {
using test::Attention;
using test::Bf16;
using test::CloseTo;
using test::compare, test::name, test::shapes;
using test::Offsets;
using test::Shape;

/// Sums of dS times distances, which reach 300.
template <class Kind>
constexpr double slope_bound = std::is_same_v<Kind, Bf16>        ? 0x1p-3
                               : sizeof(test::Number<Kind>) == 4 ? 1e-4
                                                                 : 1e-11;

/// Has a table, and counts the tiles it is called for all the same.
template <class T>
struct Tabled final : Offsets<T> {
  mutable std::atomic<long> called{0};
  Tabled(int batch, int first, int count) : Offsets<T>(batch, first, count, 700) {}
  void forward(kernels::Tile<T> const& t) const override { ++called, Offsets<T>::forward(t); }
  kernels::OffsetTable<T> table() override { return this->as_table(); }
};
}  // namespace

TEMPLATE_TEST_CASE("attention: blocks equal the plain loops for any shape, causal or not, with any window",
                   "[attention]", float, double, Bf16) {
  Shape const shape = GENERATE(from_range(shapes));
  bool const causal = GENERATE(true, false);
  int const window = GENERATE(0, 1, 40);
  CAPTURE(name(shape), causal, window);
  Attention<TestType> fast(shape), plain(shape);
  for (auto* a : {&fast, &plain}) a->in.mask.causal = causal, a->in.mask.window = window;
  compare(fast, plain);
}

TEMPLATE_TEST_CASE("attention: a chain of a trained bias, a sieve and a window equals the plain loops", "[attention]",
                   float, double, Bf16) {
  Shape const shape = GENERATE(from_range(shapes));
  bool const causal = GENERATE(true, false);
  CAPTURE(name(shape), causal);
  std::vector<double> slopes;
  for (int h = 0; h < shape.heads; ++h) slopes.push_back(0.01 + 0.02 * h);
  using T = test::Number<TestType>;
  test::LinearBias<T> bias(shape.batch, slopes), plain_bias(shape.batch, slopes);
  test::Near<T> near(60, shape.key_len - shape.query_len), plain_near(60, shape.key_len - shape.query_len);
  test::Sieve<T> sieve;
  Attention<TestType> fast(shape), plain(shape);
  fast.in.modifiers = {&bias, &sieve, &near}, plain.in.modifiers = {&plain_bias, &sieve, &plain_near};
  for (auto* a : {&fast, &plain}) a->in.mask.causal = causal;
  compare(fast, plain);
  CHECK_THAT(bias.grad_slope(), CloseTo(plain_bias.grad_slope(), slope_bound<TestType>));
}

TEMPLATE_TEST_CASE("attention: a table joins the products where keys are neighbours, and is called for elsewhere",
                   "[attention]", float, double, Bf16) {
  using T = test::Number<TestType>;
  bool const causal = GENERATE(true, false);
  int const window = GENERATE(0, 90), keys = GENERATE(256, 300), stride = GENERATE(1, 2);
  CAPTURE(causal, window, keys, stride);
  Shape const shape{2, 4, 2, 150, keys, 16, 20};
  Tabled<T> one(2, 1, 2), other(2, 2, 2);  // of heads 1 and 2, and of 2 and 3
  Offsets<T> plain_one(2, 1, 2, 700), plain_other(2, 2, 2, 700);
  Attention<TestType> fast(shape), plain(shape);
  for (auto* a : {&fast, &plain}) {
    a->in.mask.causal = causal, a->in.mask.window = window;
    for (int i = 0; i < shape.query_len; ++i) a->in.query_position(0, i) *= stride;
    for (int j = 0; j < keys; ++j) a->in.key_position(0, j) *= stride;
  }
  fast.in.modifiers = {&one}, plain.in.modifiers = {&plain_one};
  compare(fast, plain);
  bool const neighbours = stride == 1, whole = keys % 64 == 0;
  CHECK((one.called == 0) == (neighbours && whole));
  CHECK_THAT(one.grad, CloseTo(plain_one.grad, slope_bound<TestType>));

  fast.in.modifiers = {&one, &other}, plain.in.modifiers = {&plain_one, &plain_other};
  compare(fast, plain);
  if (neighbours && whole) CHECK(one.called == other.called);  // for head 2, which both reach
  CHECK(other.called > 0);
  CHECK_THAT(other.grad, CloseTo(plain_other.grad, slope_bound<TestType>));
}

TEMPLATE_TEST_CASE("attention: packed documents and padding equal the plain loops", "[attention]", float, double,
                   Bf16) {
  using T = test::Number<TestType>;
  Shape const shape{3, 2, 1, 150, 210, 16, 16};
  bool const causal = GENERATE(true, false);
  int const window = GENERATE(0, 30);
  bool const biased = GENERATE(true, false);
  CAPTURE(causal, window, biased);
  std::vector<std::vector<int>> query(3), key(3);
  for (int j = 0; j < 210; ++j) {
    key[0].push_back(j < 70 ? -1 : 0);              // left padding
    key[1].push_back(j < 90 ? 3 : j < 97 ? 1 : 7);  // three documents
    key[2].push_back(j % 3);                        // interleaved, and one kind that no query has
  }
  for (int b = 0; b < 3; ++b) query[b].assign(key[b].end() - 150, key[b].end());
  for (int& id : query[2]) id = id == 2 ? 9 : id;
  test::LinearBias<T> bias(3, {0.02, 0.1}), plain_bias(3, {0.02, 0.1});
  Attention<TestType> fast(shape), plain(shape);
  if (biased) fast.in.modifiers = {&bias}, plain.in.modifiers = {&plain_bias};
  for (auto* a : {&fast, &plain}) {
    a->documents(query, key);
    a->in.mask.causal = causal, a->in.mask.window = window;
  }
  compare(fast, plain);
  CHECK_THAT(bias.grad_slope(), CloseTo(plain_bias.grad_slope(), slope_bound<TestType>));
}

TEMPLATE_TEST_CASE("attention: a given scale, large logits and positions of each batch row equal the plain loops",
                   "[attention]", float, double, Bf16) {
  using T = test::Number<TestType>;
  Shape const shape{2, 2, 2, 40, 100, 16, 16};
  test::LinearBias<T> bias(2, {0.3, 1.7}), plain_bias(2, {0.3, 1.7});
  Attention<TestType> fast(shape), plain(shape);
  for (auto* a : {&fast, &plain}) {
    a->in.scale = 3.5;
    a->in.query_position = View2<double>("query_position", 2, 40);
    a->in.key_position = View2<double>("key_position", 2, 100);
    for (int b = 0; b < 2; ++b) {
      for (int i = 0; i < 40; ++i) a->in.query_position(b, i) = 60 + i + 0.5 * b;
      for (int j = 0; j < 100; ++j) a->in.key_position(b, j) = j * (b + 1);
    }
  }
  fast.in.modifiers = {&bias}, plain.in.modifiers = {&plain_bias};
  double const bound = sizeof(T) == 4 ? 2e-4 : 1e-12;  // logits near 200: float holds them to 1.5e-5
  bool const rounded = std::is_same_v<TestType, Bf16>;
  compare(fast, plain, {rounded ? 0x1p-8 : bound, bound, rounded ? 3.5 * 0x1p-5 : bound});
}

TEST_CASE("attention: a window longer than the keys hides nothing", "[attention]") {
  for (int const queries : {3, 70}) {
    Attention<float> wide(Shape{1, 2, 1, queries, 70, 8, 8}), all(wide.shape);
    wide.in.mask.window = std::numeric_limits<int>::max();
    bool const causal = queries == 3;
    for (auto* a : {&wide, &all}) a->in.mask.causal = causal, a->forward(), a->backward();
    CHECK_THAT(wide.out, CloseTo(all.out, 0));
    CHECK_THAT(wide.grad_key, CloseTo(all.grad_key, 0));
  }
}

TEST_CASE("attention: no queries, no keys, no batch", "[attention]") {
  for (Shape const shape : {Shape{1, 2, 1, 0, 5, 4, 4}, Shape{1, 2, 1, 20, 0, 4, 4}, Shape{1, 2, 1, 3, 0, 4, 4},
                            Shape{0, 2, 1, 5, 5, 4, 4}}) {
    CAPTURE(name(shape));
    Attention<float> fast(shape), plain(shape);
    compare(fast, plain);
  }
}

TEMPLATE_TEST_CASE("attention: heads side by side in memory and head by head give the same bits", "[attention]", float,
                   double, Bf16) {
  using T = test::Number<TestType>;
  Shape const shape{2, 4, 2, 70, 70, 24, 24};
  Attention<TestType> model(shape), split(shape);
  auto const copy = [](Heads<T> const& from) {
    View4<T> to("contiguous", from.extent(0), from.extent(1), from.extent(2), from.extent(3));
    Heads<T> const view(to);
    Kokkos::deep_copy(view, from);
    return view;
  };
  split.in.query = copy(split.query), split.in.key = copy(split.key), split.in.value = copy(split.value);
  for (auto* a : {&model, &split}) a->forward(), a->backward();
  CHECK_THAT(split.out, CloseTo(model.out, 0));
  CHECK_THAT(split.grad_query, CloseTo(model.grad_query, 0));
  CHECK_THAT(split.grad_key, CloseTo(model.grad_key, 0));
}

TEST_CASE("attention: bf16 equals the plain loops for head sizes of models and any number of keys",
          "[attention][bf16]") {
  for (int const dim : {16, 32, 64, 80, 128}) {
    Shape const shape{1, 4, 2, 130, 130, dim, dim};
    CAPTURE(name(shape));
    Attention<Bf16> fast(shape), plain(shape);
    compare(fast, plain);
  }
  for (int length = 1; length <= 130; ++length) {
    Shape const shape{1, 2, 1, length, length, length % 2 ? 15 : 32, length % 3 ? 16 : 21};
    CAPTURE(name(shape));
    Attention<Bf16> fast(shape), plain(shape);
    compare(fast, plain);
  }
}

TEST_CASE("attention: bf16 leaves log-sum-exp to float, and a row that sees one key is that key's value",
          "[attention][bf16]") {
  Shape const shape{1, 2, 2, 100, 100, 32, 32};
  Attention<Bf16> narrow(shape);
  Attention<float> wide(shape);
  wide.in.query = narrow.query, wide.in.key = narrow.key, wide.in.value = narrow.value;
  narrow.forward(), wide.forward();
  CHECK_THAT(narrow.log_sum_exp, CloseTo(wide.log_sum_exp, 1e-6));
  for (int h = 0; h < 2; ++h)
    for (int d = 0; d < 32; ++d) CHECK(narrow.out(0, h, 0, d) == narrow.value(0, h, 0, d));
}

TEST_CASE("attention: bf16 is for floats", "[attention][bf16][error]") {
  Attention<double> a(Shape{1, 1, 1, 10, 10, 4, 4});
  a.in.precision = kernels::Precision::bf16;
  CHECK_THROWS_WITH(a.forward(), "attention: precision is bf16 and the numbers are double, expected fp32 or floats");
}

}  // namespace sextant
