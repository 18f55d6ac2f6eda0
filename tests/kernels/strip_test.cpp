// Attention in strips: links that need whole rows, branches and a rule among them, against the plain loops and laws.
#include <catch2/catch_all.hpp>

#include "strip_case.hpp"
#include "support/on_threads.hpp"

namespace sextant {
namespace {
using test::CloseTo;
using test::Shape;
using test::StripCase;

template <class T>
void expect_same(StripCase<T>& fused, StripCase<T>& plain, double bound) {
  fused.forward(), fused.backward();
  plain.reference_forward(), plain.reference_backward();
  CHECK_THAT(fused.out, CloseTo(plain.out, bound));
  CHECK_THAT(fused.log_sum_exp, CloseTo(plain.log_sum_exp, bound));
  auto const found = fused.gradients(), expected = plain.gradients();
  for (std::size_t n = 0; n < found.size(); ++n) {
    CAPTURE(found[n].first);
    CHECK_THAT(found[n].second, CloseTo(expected[n].second, bound));
  }
}

char const* const all_parts[] = {"2", "3h", "h", "s", "v", "p", "m", "2s", "3hspmvbn", "2hbn", "svbn", "pm2h"};

template <class T>
constexpr double strip_bound = sizeof(T) == 4 ? 3e-4 : 1e-11;
}  // namespace

TEMPLATE_TEST_CASE("strips: every kind of link and branch equals the plain loops, over masks and lengths", "[strip]",
                   float, double) {
  using T = TestType;
  std::string const parts = GENERATE(from_range(std::begin(all_parts), std::end(all_parts)));
  for (int const length : {1, 2, 47, 96, 97, 200})
    for (int const mask : {0, 1, 2, 3}) {
      CAPTURE(parts, length, mask);
      Shape const shape{1, 4, 2, length, length, 7, 5};
      StripCase<T> fused(shape, parts), plain(shape, parts);
      for (auto* x : {&fused, &plain}) {
        x->in.mask.causal = mask != 1, x->in.mask.window = mask == 2 ? 37 : 0;
        std::vector<int> ids(length);
        for (int i = 0; i < length; ++i) ids[i] = i < 3 || i % 50 == 20 ? -1 : i / 60;
        if (mask == 3) x->documents({ids}, {ids});
      }
      expect_same(fused, plain, strip_bound<T>);
    }
}

TEMPLATE_TEST_CASE("strips: fewer or more queries than keys, wide heads and a batch equal the plain loops", "[strip]",
                   float, double) {
  using T = TestType;
  std::string const parts = GENERATE("3h", "spvm", "2sb");
  for (Shape const shape :
       {Shape{2, 2, 1, 1, 150, 32, 24}, Shape{2, 4, 4, 5, 131, 16, 16}, Shape{1, 2, 2, 9, 70, 64, 64},
        Shape{1, 2, 1, 60, 20, 8, 8}, Shape{2, 2, 2, 30, 30, 9, 33}, Shape{1, 2, 1, 4, 0, 8, 8}}) {
    CAPTURE(parts, shape.query_len, shape.key_len);
    StripCase<T> fused(shape, parts), plain(shape, parts);
    expect_same(fused, plain, strip_bound<T>);
  }
}

TEST_CASE("strips: gradients are the central differences of the loss", "[strip]") {
  std::string const parts = GENERATE("s", "v", "p", "m", "2h", "3hspmvb");
  Shape const shape{1, 2, 1, 9, 40, 3, 4};
  StripCase<double> at(shape, parts);
  at.forward(), at.backward();
  auto const gradients = at.gradients();
  auto const loss = [&] {
    at.forward();
    double sum = 0;
    auto const out = test::values(at.out).value, weight = test::values(at.grad_out).value;
    for (std::size_t i = 0; i < out.size(); ++i) sum += out[i] * weight[i];
    return sum;
  };
  auto const difference = [&](double& x) {
    double const step = 1e-5, before = x;
    x = before + step;
    double const up = loss();
    x = before - step;
    double const down = loss();
    x = before;
    return (up - down) / (2 * step);
  };
  auto const hold = [&](std::size_t n, auto const& slopes) {
    CAPTURE(parts, gradients[n].first);
    CHECK_THAT(gradients[n].second.value, CloseTo(slopes, 1e-7));
  };
  auto const hold_heads = [&](std::size_t n, Heads<double> const& of) {
    std::vector<double> slopes;
    for (std::size_t h = 0; h < of.extent(1); ++h)
      for (std::size_t i = 0; i < of.extent(2); ++i)
        for (std::size_t d = 0; d < of.extent(3); ++d) slopes.push_back(difference(of(0, h, i, d)));
    hold(n, slopes);
  };
  auto const writable = [](Heads<double const> const& x) {
    return Heads<double>(const_cast<double*>(x.data()), x.layout());
  };
  hold_heads(0, at.query), hold_heads(1, at.key), hold_heads(2, at.value);
  std::size_t n = 3;
  for (std::size_t k = 0; k < at.in.more_query.size(); ++k) {
    hold_heads(n++, writable(at.in.more_query[k]));
    hold_heads(n++, writable(at.in.more_key[k]));
  }
  for (auto const& link : at.links) {
    std::vector<double> slopes;
    for (double& weight : link->weight) slopes.push_back(difference(weight));
    hold(n++, slopes);
  }
}

TEST_CASE("strips: a rule that always names branch 1 gives what plain attention gives with that branch",
          "[strip][law]") {
  struct Second final : kernels::BranchRule {
    int uniform(int, double const*, int, double const*, int) const override { return 1; }
    void select(int, double const*, int rows, double const*, int cols, signed char* out) const override {
      std::fill_n(out, rows * cols, static_cast<signed char>(1));
    }
  } const second;
  Shape const shape{1, 4, 2, 130, 130, 16, 16};
  StripCase<double> strips(shape, "2");
  test::Attention<double> plain(shape);
  strips.in.branch_rule = &second;
  plain.in.query = strips.in.more_query[0], plain.in.key = strips.in.more_key[0];
  strips.forward(), strips.backward(), plain.forward(), plain.backward();
  CHECK_THAT(strips.out, CloseTo(plain.out, 1e-12));
  CHECK_THAT(strips.branch_grad.query[0], CloseTo(plain.grad_query, 1e-12));
  CHECK_THAT(strips.branch_grad.key[0], CloseTo(plain.grad_key, 1e-12));
  for (double x : test::values(strips.grad_query).value) CHECK(x == 0);
}

TEST_CASE("strips: NaN in padding stays in padding", "[strip]") {
  std::string const parts = GENERATE("2", "svm", "p3hb");
  for (int const queries : {6, 40}) {
    int const keys = 80, padding = 3;
    StripCase<float> a(Shape{1, 2, 1, queries, keys, 8, 8}, parts);
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
    for (double x : test::values(a.out).value) CHECK(std::isfinite(x));
    for (auto const& [name, gradient] : a.gradients())
      for (double x : gradient.value) CHECK(std::isfinite(x));
  }
}

TEMPLATE_TEST_CASE("strips: a batch row's bits do not depend on the rest of the batch", "[strip][law]", float, double) {
  using T = TestType;
  std::string const parts = GENERATE("3hs", "mvpb");
  for (int const queries : {1, 130}) {
    Shape const shape{3, 4, 2, queries, 130, 16, 16};
    StripCase<T> all(shape, parts), alone(Shape{1, 4, 2, queries, 130, 16, 16}, parts);
    auto const row = [&](auto const& from) {
      return Heads<T>(Kokkos::subview(from, std::pair(2, 3), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
    };
    auto const take = [&](auto const& from, auto const& to) {
      Kokkos::deep_copy(to, Kokkos::subview(from, std::pair(2, 3), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
    };
    take(all.query, alone.query), take(all.key, alone.key), take(all.value, alone.value);
    take(all.grad_out, alone.grad_out);
    for (std::size_t n = 0; n < all.in.more_query.size(); ++n) {
      Heads<T> const query = test::zero_heads<T>(1, 4, queries, 16), key = test::zero_heads<T>(1, 2, 130, 16);
      take(all.in.more_query[n], query), take(all.in.more_key[n], key);
      alone.in.more_query[n] = query, alone.in.more_key[n] = key;
    }
    for (auto* a : {&all, &alone}) a->forward(), a->backward();
    CHECK_THAT(row(all.out), CloseTo(alone.out, 0));
    CHECK_THAT(row(all.grad_query), CloseTo(alone.grad_query, 0));
    CHECK_THAT(row(all.grad_key), CloseTo(alone.grad_key, 0));
    CHECK_THAT(row(all.grad_value), CloseTo(alone.grad_value, 0));
    for (std::size_t n = 0; n < all.branch_grad.key.size(); ++n)
      CHECK_THAT(row(all.branch_grad.key[n]), CloseTo(alone.branch_grad.key[n], 0));
  }
}

TEMPLATE_TEST_CASE("strips: one pass, chunks and token by token agree", "[strip][law]", float, double) {
  using T = TestType;
  std::string const parts = GENERATE("3h", "svpm", "2sb");
  int const length = 130;
  StripCase<T> full(Shape{1, 2, 1, length, length, 16, 16}, parts);
  full.in.mask.window = GENERATE(0, 37);
  full.forward();
  kernels::AttentionWorkspace workspace;
  for (int const step : {1, 7, 64}) {
    Heads<T> const joined = test::zero_heads<T>(1, 2, length, 16);
    for (int at = 0; at < length; at += step) {
      int const end = std::min(length, at + step);
      auto const part = [&](auto const& x, int from) {
        return std::decay_t<decltype(x)>(
            Kokkos::subview(x, Kokkos::ALL, Kokkos::ALL, std::pair(from, end), Kokkos::ALL));
      };
      kernels::AttentionInput<T> in = full.in;
      in.query = part(full.query, at), in.key = part(full.key, 0), in.value = part(full.value, 0);
      for (auto& x : in.more_query) x = part(x, at);
      for (auto& x : in.more_key) x = part(x, 0);
      in.query_position = test::positions(end - at, at), in.key_position = test::positions(end);
      View3<T> const log_sum_exp("log_sum_exp", 1, 2, end - at);
      kernels::attention_forward<T>(Exec(), in, part(joined, at), log_sum_exp, workspace);
    }
    CHECK_THAT(joined, CloseTo(full.out, sizeof(T) == 4 ? 3e-5 : 1e-12));
  }
}

namespace {
test::Digest strip_digest() {
  test::Digest digest;
  for (char const* parts : {"3hsvb", "2spm"})
    for (Shape const shape : {Shape{2, 4, 2, 211, 211, 24, 24}, Shape{1, 8, 2, 3, 700, 32, 40}}) {
      StripCase<float> a(shape, parts);
      a.forward(), a.backward();
      for (double x : test::values(a.out).value) digest.add_number(x);
      for (auto const& [name, gradient] : a.gradients())
        for (double x : gradient.value) digest.add_number(x);
    }
  return digest;
}

/// Keeps four arrays of a strip's size and touches none of them.
struct Hoarder final : kernels::RowLink<float> {
  int notes() const override { return 4; }
};
}  // namespace

TEST_CASE("strip digest, printed for the test on threads", "[.][strip-digest]") {
  test::Digest const first = strip_digest();
  CHECK(first.value() == strip_digest().value());
  first.print();
}

TEST_CASE("strips: the same bits on 1 and 2 threads", "[strip][law]") {
  auto const digests = test::digests_on_threads("[strip-digest]", {1, 2});
  CHECK(digests[0] == digests[1]);
}

TEST_CASE("strips: 16384 keys and four notes stay below 32 MB a thread, and the memory is kept", "[strip][reports]") {
  StripCase<float> a(Shape{1, 1, 1, 200, 16384, 64, 64}, "2h");
  Hoarder hoarder;
  a.in.rows = {&hoarder};
  kernels::AttentionWorkspace workspace;
  auto const both = [&] {
    kernels::attention_forward<float>(Exec(), a.in, a.out, a.log_sum_exp, workspace);
    kernels::attention_backward<float>(Exec(), a.in, a.out, a.log_sum_exp, a.grad_out, a.grad_query, a.grad_key,
                                       a.grad_value, workspace, a.branch_grad);
  };
  both();
  std::size_t const bytes = workspace.bytes();
  CHECK(bytes > 0);
  CHECK(bytes < (std::size_t{32} << 20) * concurrency());
  both();
  CHECK(workspace.bytes() == bytes);
}

TEST_CASE("strips: branches, rules and links that do not fit are refused by name", "[strip][error]") {
  using Catch::Matchers::ContainsSubstring;
  auto const message = [](auto change) {
    StripCase<float> a(Shape{2, 4, 2, 16, 16, 6, 6}, "2p");
    change(a);
    try {
      a.forward(), a.backward();
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(message([](auto&) {}) == "accepted");
  CHECK_THAT(message([](auto& a) { a.in.more_key[0] = test::zero_heads<float>(2, 2, 15, 6); }),
             ContainsSubstring("more_key[0] is [2, 2, 15, 6], expected [2, 2, 16, 6] as key"));
  CHECK_THAT(message([](auto& a) { a.in.more_key.clear(); }),
             ContainsSubstring("more_key holds 0 branches, expected 1 as more_query"));
  CHECK_THAT(message([](auto& a) { a.in.branch_rule = nullptr; }), ContainsSubstring("branch_rule is null"));
  CHECK_THAT(message([](auto& a) { a.branch_grad.query.clear(); }),
             ContainsSubstring("grad_branches.query holds 0 branches, expected 1 as more_query"));
  CHECK_THAT(message([](auto& a) { a.in.query_position = {}; }),
             ContainsSubstring("query_position is [0, 0], expected [2 or 1, 16]"));
  CHECK_THAT(message([](auto& a) { a.in.rows.push_back(nullptr); }), ContainsSubstring("rows[1] is null"));
  CHECK_THAT(message([](auto& a) { a.in.rows.push_back(a.in.rows[0]); }),
             ContainsSubstring("2 links multiply for head 1, expected one at most"));
  CHECK_THAT(message([](auto& a) { a.rule->count = 3, a.in.key_position = test::positions(16, 100); }),
             ContainsSubstring("the branch rule names branch 2, expected one of 2"));
}

}  // namespace sextant
