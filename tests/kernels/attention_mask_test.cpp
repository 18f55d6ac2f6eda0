// Which keys are seen, by count and by exact zeros, in all three paths: blocks, decode, backward.
#include <catch2/catch_all.hpp>

#include "attention_case.hpp"

namespace sextant {
namespace {
using test::Attention;
using test::Bf16;
using test::CloseTo;
using test::Shape;

// With equal scores a row's log-sum-exp is the logarithm of the number of keys it sees.
std::vector<double> seen(Attention<double>& a) {
  Kokkos::deep_copy(a.query, 0.0);
  a.forward();
  std::vector<double> count;
  for (double x : test::values(a.log_sum_exp).value) count.push_back(std::exp(x));
  return count;
}
template <class V>
void expect_zero_row(V const& view, int head, int row) {
  for (std::size_t d = 0; d < view.extent(3); ++d) CHECK(view(0, head, row, d) == 0);
}

/// Hides all of row `row`: writes the number, or adds it to the logit.
template <class T>
struct Blind final : kernels::TileModifier<T> {
  int row;
  T number;
  bool add;
  Blind(int row_, T number_, bool add_) : row(row_), number(number_), add(add_) {}
  void forward(kernels::Tile<T> const& t) const override {
    for (int r = 0; r < t.rows; ++r)
      for (int c = 0; c < t.cols; ++c)
        if (t.row + r == row) t.logit[r * t.stride + c] = add ? t.logit[r * t.stride + c] + number : number;
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
};
}  // namespace

TEST_CASE("attention: a window of 3 sees 1, 2, 3, 3, ... keys, the query's own included", "[attention][reports]") {
  int const window = 3;
  for (int const length : {8, 20}) {  // the decode path, the blocked path
    Attention<double> a(Shape{1, 1, 1, length, length, 4, 4});
    a.in.mask.window = window;
    std::vector<double> expected(length, 3);
    expected[0] = 1, expected[1] = 2;
    CHECK_THAT(seen(a), CloseTo(expected, 1e-14));
    Kokkos::deep_copy(a.grad_out, 1.0);  // then dV(j) is the sum of what the queries gave key j
    a.backward();
    std::vector<double> given(length), found(length);
    for (int i = 0; i < length; ++i)
      for (int j = std::max(0, i - 2); j <= i; ++j) given[j] += 1 / expected[i];
    for (int j = 0; j < length; ++j) found[j] = a.grad_value(0, 0, j, 0);
    CHECK_THAT(found, CloseTo(given, 1e-14));
  }
  for (int keys = 1; keys <= 8; ++keys) {  // token by token
    Attention<double> a(Shape{1, 1, 1, 1, keys, 4, 4});
    a.in.mask.window = window;
    CHECK_THAT(seen(a), CloseTo(std::vector<double>{std::min(3.0, double(keys))}, 1e-14));
  }
}

TEST_CASE("attention: with fewer queries than keys the last query sees the last key", "[attention][reports]") {
  Attention<double> one(Shape{1, 1, 1, 1, 16, 4, 4}), two(Shape{1, 1, 1, 2, 4, 4, 4}), five(Shape{1, 1, 1, 5, 2, 4, 4});
  CHECK_THAT(seen(one), CloseTo(std::vector<double>{16}, 1e-14));
  CHECK_THAT(seen(two), CloseTo(std::vector<double>{3, 4}, 1e-14));
  CHECK_THAT(seen(five), CloseTo(std::vector<double>{0, 0, 0, 1, 2}, 1e-14));
}

TEMPLATE_TEST_CASE("attention: rows above the keys' beginning give exact zeros and no gradient", "[attention][reports]",
                   float, double, Bf16) {
  Shape const shape = GENERATE(Shape{1, 2, 1, 5, 2, 4, 4}, Shape{1, 2, 1, 203, 90, 4, 4});
  Attention<TestType> a(shape);
  a.forward(), a.backward();
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < shape.query_len - shape.key_len; ++i) {
      CHECK(a.log_sum_exp(0, h, i) == -std::numeric_limits<test::Number<TestType>>::infinity());
      expect_zero_row(a.out, h, i);
      expect_zero_row(a.grad_query, h, i);
    }
  CHECK(a.log_sum_exp(0, 1, shape.query_len - shape.key_len) > -100);
}

TEMPLATE_TEST_CASE("attention: a row masked by -infinity or by a large negative number is zero and has no gradient",
                   "[attention][reports]", float, double, Bf16) {
  using T = test::Number<TestType>;
  T const number = GENERATE(-std::numeric_limits<T>::infinity(), std::numeric_limits<T>::lowest(), T(-1e9));
  bool const add = GENERATE(false, true);
  int const queries = GENERATE(2, 12);
  CAPTURE(number, add, queries);
  Attention<TestType> a(Shape{1, 1, 1, queries, queries + 1, 4, 4}), free(a.shape);
  Blind<T> blind(1, number, add);
  a.in.modifiers = {&blind};
  a.forward(), a.backward(), free.forward();
  CHECK(a.log_sum_exp(0, 0, 1) == -std::numeric_limits<T>::infinity());
  expect_zero_row(a.out, 0, 1);
  expect_zero_row(a.grad_query, 0, 1);
  for (double x : test::values(a.grad_key).value) CHECK(std::isfinite(x));
  for (int i : {0, queries - 1})
    for (int d = 0; d < 4 && i != 1; ++d) CHECK(a.out(0, 0, i, d) == free.out(0, 0, i, d));
  Attention<TestType> same(a.shape);  // dK, dV: as if the row were not there
  same.in.modifiers = {&blind};
  for (int d = 0; d < 4; ++d) same.grad_out(0, 0, 1, d) = 1e6;
  same.forward(), same.backward();
  CHECK_THAT(same.grad_key, CloseTo(a.grad_key, 0));
  CHECK_THAT(same.grad_value, CloseTo(a.grad_value, 0));
}

TEMPLATE_TEST_CASE("attention: a packed document neither feels its neighbour nor differs from its twin",
                   "[attention][reports]", float, double, Bf16) {
  int const length = 20;
  Shape const shape{1, 2, 2, 2 * length, 2 * length, 16, 16};
  std::vector<int> ids(2 * length, 0);
  std::fill(ids.begin() + length, ids.end(), 1);
  Attention<TestType> twins(shape), other(shape);
  for (auto* a : {&twins, &other})
    for (auto const& x : {a->query, a->key, a->value, a->grad_out})
      for (int h = 0; h < 2; ++h)
        for (int i = 0; i < length; ++i)
          for (int d = 0; d < 16; ++d) x(0, h, i, d) = x(0, h, length + i, d) + (a == &other);
  for (auto* a : {&twins, &other}) a->documents({ids}, {ids}), a->forward(), a->backward();
  for (int h = 0; h < 2; ++h)
    for (int i = 0; i < length; ++i)
      for (int d = 0; d < 16; ++d) {
        CHECK(std::abs(twins.out(0, h, i, d) - twins.out(0, h, length + i, d)) < test::bound<TestType>);
        CHECK(twins.out(0, h, length + i, d) == other.out(0, h, length + i, d));
        CHECK(twins.grad_key(0, h, length + i, d) == other.grad_key(0, h, length + i, d));
        CHECK(twins.grad_query(0, h, length + i, d) == other.grad_query(0, h, length + i, d));
      }
}

TEMPLATE_TEST_CASE("attention: NaN in padding stays in padding", "[attention]", float, Bf16) {
  for (int const queries : {6, 40}) {
    int const keys = 80, padding = 3;
    Attention<TestType> a(Shape{1, 2, 1, queries, keys, 8, 8});
    std::vector<int> key(keys, 0), query(queries, 0);
    for (int i = 0; i < padding; ++i) key[i] = key[50 + i] = query[i] = -1;
    a.documents({query}, {key});
    for (int d = 0; d < 8; ++d)
      for (int i = 0; i < padding; ++i)
        for (int h = 0; h < 2; ++h) {
          a.query(0, h, i, d) = a.grad_out(0, h, i, d) = NAN;
          for (int j : {i, 50 + i}) a.key(0, 0, j, d) = a.value(0, 0, j, d) = NAN;
        }
    a.forward(), a.backward();
    for (auto const& view : {a.out, a.grad_query, a.grad_key, a.grad_value})
      for (double x : test::values(view).value) CHECK(std::isfinite(x));
  }
}

TEST_CASE("attention: tiles that are wholly hidden are not worked on", "[attention]") {
  int const length = 2048;
  auto const shown = [&](auto set, int reach) {
    Attention<float> a(Shape{1, 1, 1, length, length, 8, 8});
    test::Near<float> count(reach, 0);
    a.in.modifiers = {&count};
    set(a);
    a.forward();
    return static_cast<double>(count.shown) / length;  // keys a query, on average
  };
  auto const nothing = [](auto&) {};
  CHECK(shown(nothing, length) < length / 2 + 160);
  CHECK(shown([](auto& a) { a.in.mask.window = 100; }, length) < 100 + 2 * 160);
  CHECK(shown(nothing, 100) < 100 + 2 * 160);
  CHECK(shown(
            [](auto& a) {
              std::vector<int> ids(length);
              for (int i = 0; i < length; ++i) ids[i] = i / 128;
              a.documents({ids}, {ids});
            },
            length) < 64 + 2 * 160);
}

}  // namespace sextant
