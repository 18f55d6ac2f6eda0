#include <sextant/base/error.hpp>
#include <sextant/kernels/embedding.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>

using namespace sextant;
using namespace sextant::kernels;

namespace {
View1<int> tokens(int rows, int vocabulary) {
  View1<int> token("token", static_cast<std::size_t>(rows));
  Stream const stream(5, "token");
  for (int i = 0; i < rows; ++i) {  // skewed, as text is: low ids often
    double const u = stream.uniform(static_cast<std::uint64_t>(i));
    token(i) = static_cast<int>(vocabulary * u * u);
  }
  return token;
}
}  // namespace

TEST_CASE("embedding: each row is its token's row of the table", "[embedding]") {
  auto const table = test::random2<float>("table", 19, 7);
  auto const token = tokens(50, 19);
  View2<float> const out("out", 50, 7);
  embedding_forward<float>(Exec(), table, token, out);
  for (int i = 0; i < 50; ++i)
    for (int c = 0; c < 7; ++c) CHECK(out(i, c) == table(token(i), c));
}

TEST_CASE("embedding: the index lists every row once, by token and ascending", "[embedding][law]") {
  auto const token = tokens(500, 19);
  TokenIndex index;
  index_tokens(Exec(), token, 19, index);
  CHECK(index.start(0) == 0);
  CHECK(index.start(19) == 500);
  for (int v = 0; v < 19; ++v)
    for (int k = index.start(v); k < index.start(v + 1); ++k) {
      CHECK(token(index.order(k)) == v);
      if (k > index.start(v)) CHECK(index.order(k) > index.order(k - 1));
    }
}

TEST_CASE("embedding: the gradient adds rows in ascending order to what is there", "[embedding][gradient]") {
  int const rows = 700, vocabulary = 31, width = 13;
  auto const token = tokens(rows, vocabulary);
  auto const grad = test::random2<float>("grad", rows, width);
  auto const table = test::random2<float>("table", vocabulary, width);
  auto const expected = test::random2<float>("table", vocabulary, width);
  for (int i = 0; i < rows; ++i)
    for (int c = 0; c < width; ++c) expected(token(i), c) += grad(i, c);
  TokenIndex index;
  index_tokens(Exec(), token, vocabulary, index);
  embedding_backward<float>(Exec(), index, grad, table);
  CHECK(test::same_bits(table, expected));
}
