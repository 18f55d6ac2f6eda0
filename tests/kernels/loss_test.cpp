#include <sextant/base/error.hpp>
#include <sextant/kernels/loss.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>

using namespace sextant;
using namespace sextant::kernels;

namespace {
View1<int> targets(int rows, int vocabulary, bool with_gaps) {
  View1<int> target("target", static_cast<std::size_t>(rows));
  Stream const stream(3, "target");
  for (int i = 0; i < rows; ++i)
    target(i) =
        with_gaps && i % 5 == 2 ? -1 : static_cast<int>(stream.below(vocabulary, static_cast<std::uint64_t>(i)));
  return target;
}
}  // namespace

TEST_CASE("loss: equal logits cost the logarithm of the vocabulary", "[loss][law]") {
  View2<float> const logits("logits", 4, 256);
  Kokkos::deep_copy(logits, 3.25f);
  View1<double> const nll("nll", 4);
  cross_entropy<float>(Exec(), logits, targets(4, 256, false), nll);
  for (int i = 0; i < 4; ++i) CHECK(nll(i) == Catch::Approx(std::log(256.0)).epsilon(1e-6));
}

TEMPLATE_TEST_CASE("loss: by token it equals the plain sum, and a row without a target costs nothing",
                   "[loss][reference]", float, double) {
  int const rows = 37, vocabulary = 301;
  auto const logits = test::random2<TestType>("logits", rows, vocabulary, 20);
  auto const target = targets(rows, vocabulary, true);
  View1<double> const nll("nll", rows), again("again", rows);
  cross_entropy<TestType>(Exec(), logits, target, nll);
  for (int i = 0; i < rows; ++i) {
    double total = 0, largest = -1e300;
    for (int v = 0; v < vocabulary; ++v) largest = std::max(largest, static_cast<double>(logits(i, v)));
    for (int v = 0; v < vocabulary; ++v) total += std::exp(logits(i, v) - largest);
    double const expected = target(i) < 0 ? 0.0 : std::log(total) + largest - logits(i, target(i));
    CHECK(nll(i) == Catch::Approx(expected).epsilon(1e-6).margin(1e-6));
  }
  cross_entropy_with_gradient<TestType>(Exec(), logits, target, 0.5, again);
  CHECK(test::same_bits(nll, again));
}

TEST_CASE("loss: the gradient equals central differences and is zero where there is no target", "[loss][gradient]") {
  int const rows = 11, vocabulary = 23;
  double const scale = 0.37;
  auto const logits = test::random2<double>("logits", rows, vocabulary, 2);
  auto const grad = test::random2<double>("logits", rows, vocabulary, 2);
  auto const target = targets(rows, vocabulary, true);
  View1<double> const nll("nll", rows);
  auto const loss = [&] {
    cross_entropy<double>(Exec(), logits, target, nll);
    double total = 0;
    for (int i = 0; i < rows; ++i) total += nll(i);
    return scale * total;
  };
  cross_entropy_with_gradient<double>(Exec(), grad, target, scale, nll);
  CHECK(test::gradient_error(logits.data(), grad.data(), rows * vocabulary, loss) < 1e-9);
  for (int v = 0; v < vocabulary; ++v) CHECK(grad(2, v) == 0);
}
