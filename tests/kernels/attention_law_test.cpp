// What must hold whatever the numbers: bits that do not depend on threads or batch, paths that agree, bounded memory.
#include <catch2/catch_all.hpp>

#include "attention_case.hpp"
#include "support/on_threads.hpp"

namespace sextant {
namespace {
using test::Attention;
using test::Bf16;
using test::CloseTo;
using test::Shape;

template <class Kind>
void add_all_paths(test::Digest& digest) {
  auto const add = [&](test::Values const& x) {
    for (double value : x.value) digest.add_number(value);
  };
  for (Shape const shape : {Shape{2, 4, 2, 333, 333, 24, 24}, Shape{1, 8, 2, 3, 1500, 32, 40}}) {
    Attention<Kind> a(shape);
    std::vector<double> const slopes(shape.heads, 0.05);
    test::LinearBias<float> bias(shape.batch, slopes);
    for (bool const biased : {false, true}) {
      if (biased) a.in.modifiers = {&bias};
      a.forward(), a.backward();
      for (auto const& view : {a.out, a.grad_query, a.grad_key, a.grad_value}) add(test::values(view));
      add(test::values(a.log_sum_exp));
      add(test::values(bias.grad));
    }
  }
}
test::Digest digest_of_all_paths() {
  test::Digest digest;
  add_all_paths<float>(digest), add_all_paths<Bf16>(digest);
  return digest;
}

template <class T>
struct Thrower final : kernels::TileModifier<T> {
  void forward(kernels::Tile<T> const& t) const override {
    if (t.row >= 96) throw Error("bias: no weights for this row");
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
};
}  // namespace

TEST_CASE("attention digest, printed for the test on threads", "[.][attention-digest]") {
  test::Digest const first = digest_of_all_paths();
  CHECK(first.value() == digest_of_all_paths().value());
  first.print();
}

TEST_CASE("attention: the same bits on 1, 2 and 4 threads", "[attention][law]") {
  auto const digests = test::digests_on_threads("[attention-digest]", {1, 2, 4});
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] == digests[2]);
}

TEMPLATE_TEST_CASE("attention: a batch row's bits do not depend on the rest of the batch", "[attention][law]", float,
                   double, Bf16) {
  for (int const queries : {1, 130}) {
    Shape const shape{3 * concurrency(), 4, 2, queries, 130, 16, 16};  // enough that a worker packs for itself
    Attention<TestType> all(shape), alone(Shape{1, 4, 2, queries, 130, 16, 16});
    int const row = 2;
    auto const take = [&](auto const& from, auto const& to) {
      Kokkos::deep_copy(to, Kokkos::subview(from, std::pair(row, row + 1), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
    };
    take(all.query, alone.query), take(all.key, alone.key), take(all.value, alone.value);
    take(all.grad_out, alone.grad_out);
    for (auto* a : {&all, &alone}) a->forward(), a->backward();
    Attention<TestType> taken(alone.shape);
    take(all.out, taken.out), take(all.grad_query, taken.grad_query), take(all.grad_key, taken.grad_key);
    CHECK_THAT(taken.out, CloseTo(alone.out, 0));
    CHECK_THAT(taken.grad_query, CloseTo(alone.grad_query, 0));
    CHECK_THAT(taken.grad_key, CloseTo(alone.grad_key, 0));
  }
}

TEMPLATE_TEST_CASE("attention: one pass, chunks and token by token agree", "[attention][law]", float, double, Bf16) {
  using T = test::Number<TestType>;
  int const length = 130, window = GENERATE(0, 37);
  test::LinearBias<T> bias(1, {0.02, 0.2});
  Attention<TestType> full(Shape{1, 2, 1, length, length, 16, 16});
  full.in.modifiers = {&bias}, full.in.mask.window = window;
  full.forward();
  kernels::AttentionWorkspace workspace;
  for (int const step : {1, 7, 64}) {
    Heads<T> const joined = test::zero_heads<T>(1, 2, length, 16);
    for (int at = 0; at < length; at += step) {
      int const end = std::min(length, at + step);
      auto const part = [&](Heads<T> const& x, int from) {
        return Heads<T>(Kokkos::subview(x, Kokkos::ALL, Kokkos::ALL, std::pair(from, end), Kokkos::ALL));
      };
      kernels::AttentionInput<T> in = full.in;
      in.query = part(full.query, at), in.key = part(full.key, 0), in.value = part(full.value, 0);
      in.query_position = test::positions(end - at, at), in.key_position = test::positions(end);
      View3<T> const log_sum_exp("log_sum_exp", 1, 2, end - at);
      kernels::attention_forward<T>(Exec(), in, part(joined, at), log_sum_exp, workspace);
    }
    CHECK_THAT(joined, CloseTo(full.out, test::bound<TestType>));
  }
}

TEST_CASE("attention: memory grows with the length, not its square, and is kept between calls",
          "[attention][reports]") {
  int const length = 16384;
  Attention<float> a(Shape{1, 1, 1, length, length, 64, 64});
  test::LinearBias<float> bias(1, {0.01});
  a.in.modifiers = {&bias};
  a.in.mask.window = 64;  // the scratch is the same with all keys in sight; the work is not
  kernels::AttentionWorkspace workspace;
  auto const both = [&] {
    kernels::attention_forward<float>(Exec(), a.in, a.out, a.log_sum_exp, workspace);
    kernels::attention_backward<float>(Exec(), a.in, a.out, a.log_sum_exp, a.grad_out, a.grad_query, a.grad_key,
                                       a.grad_value, workspace);
  };
  both();
  std::size_t const bytes = workspace.bytes();
  CHECK(bytes < (std::size_t{64} << 20) * std::max(1, concurrency() / 4));
  CHECK(bytes > 0);
  both();
  CHECK(workspace.bytes() == bytes);
}

TEST_CASE("attention: 2^31 pairs and more, in bounded memory, with the right last rows", "[attention][reports]") {
  Shape const shape = GENERATE(Shape{1, 32, 1, 8192, 8192, 4, 4}, Shape{1, 1, 1, 65536, 65536, 4, 4});
  int const length = shape.query_len, last = 150, window = 64;
  Attention<float> a(shape);
  test::LinearBias<float> bias(1, std::vector<double>(shape.heads, 0.01));
  a.in.modifiers = {&bias}, a.in.mask.window = window;
  kernels::AttentionWorkspace workspace;
  kernels::attention_forward<float>(Exec(), a.in, a.out, a.log_sum_exp, workspace);
  CHECK(workspace.bytes() < (std::size_t{64} << 20));
  auto const tail = [&](Heads<float> const& x, int rows) {  // of the last head
    int const head = x.extent_int(1) - 1;
    return Heads<float>(
        Kokkos::subview(x, Kokkos::ALL, std::pair(head, head + 1), std::pair(length - rows, length), Kokkos::ALL));
  };
  Attention<float> plain(Shape{1, 1, 1, last, last, 4, 4});
  plain.in.query = tail(a.query, last), plain.in.key = tail(a.key, last), plain.in.value = tail(a.value, last);
  plain.in.modifiers = a.in.modifiers, plain.in.mask = a.in.mask;
  plain.reference_forward();
  int const whole = last - window;  // rows whose window lies in the slice
  auto const rows = Kokkos::subview(plain.out, Kokkos::ALL, Kokkos::ALL, std::pair(window, last), Kokkos::ALL);
  CHECK_THAT(tail(a.out, whole), CloseTo(Heads<float>(rows), 1e-5));
}

TEST_CASE("attention: what a modifier throws reaches the caller, and the workspace can be used again", "[attention]") {
  Attention<float> a(Shape{1, 2, 2, 200, 200, 8, 8});
  Thrower<float> thrower;
  a.in.modifiers = {&thrower};
  kernels::AttentionWorkspace workspace;
  auto const run = [&] { kernels::attention_forward<float>(Exec(), a.in, a.out, a.log_sum_exp, workspace); };
  CHECK_THROWS_WITH(run(), "bias: no weights for this row");
  a.in.modifiers.clear();
  run();
  for (double x : test::values(a.out).value) CHECK(std::isfinite(x));
}

TEST_CASE("attention: shapes that disagree are refused by name, found and expected", "[attention][error]") {
  using Catch::Matchers::ContainsSubstring;
  auto const message = [](auto change) {
    Attention<float> a(Shape{2, 8, 4, 16, 16, 6, 6});
    change(a);
    try {
      a.forward();
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string("accepted");
  };
  CHECK(message([](auto& a) { a.in.key = test::zero_heads<float>(2, 4, 16, 5); }) ==
        "attention: key is [2, 4, 16, 5], expected [2, 4, 16, 6] in batch and head_dim as query is [2, 8, 16, 6]");
  CHECK_THAT(message([](auto& a) { a.in.value = test::zero_heads<float>(2, 4, 10, 6); }),
             ContainsSubstring("value is [2, 4, 10, 6], expected [2, 4, 16, 6]"));
  CHECK_THAT(message([](auto& a) { a.in.query = test::zero_heads<float>(2, 6, 16, 6); }),
             ContainsSubstring("expected kv_heads 4 to divide heads 6"));
  CHECK_THAT(message([](auto& a) { a.out = test::zero_heads<float>(2, 8, 16, 3); }),
             ContainsSubstring("out is [2, 8, 16, 3], expected [2, 8, 16, 6]"));
  CHECK_THAT(message([](auto& a) { a.in.mask.window = -3; }), ContainsSubstring("window is -3"));
  CHECK_THAT(message([](auto& a) { a.in.mask.key_document = View2<int>("ids", 2, 16); }),
             ContainsSubstring("query_document is [0, 0], expected [2, 16]"));
  test::LinearBias<float> bias(2, std::vector<double>(8, 0.1));
  CHECK_THAT(message([&](auto& a) { a.in.modifiers = {&bias}, a.in.key_position = {}; }),
             ContainsSubstring("key_position is [0, 0], expected [2 or 1, 16]"));
  CHECK_THAT(message([](auto& a) { a.in.scale = NAN; }), ContainsSubstring("scale is nan"));
}

}  // namespace sextant
