#include <sextant/base/error.hpp>
#include <sextant/kernels/norm.hpp>

#include <catch2/catch_all.hpp>
#include <kernels/dense_support.hpp>

using namespace sextant;
using namespace sextant::kernels;

namespace norm_test {
namespace {
constexpr int rows = 133, width = 37;  // neither divides a block nor a vector

template <class T>
Norm<T> make_norm(NormKind kind) {
  Norm<T> norm{kind, 1e-5, test::random1<T>("gain", width), {}};
  if (kind == NormKind::layernorm) norm.bias = test::random1<T>("bias", width);
  return norm;
}

// The definition, in double.
template <class T>
double plain_norm(Norm<T> const& norm, View2<T> const& x, int i, int c) {
  double mean = 0, variance = 0;
  bool const centred = norm.kind == NormKind::layernorm;
  for (int d = 0; d < width && centred; ++d) mean += static_cast<double>(x(i, d)) / width;
  for (int d = 0; d < width; ++d) variance += (x(i, d) - mean) * (x(i, d) - mean) / width;
  return norm.gain(c) * (x(i, c) - mean) / std::sqrt(variance + norm.eps) + (centred ? norm.bias(c) : 0.0);
}
}  // namespace

TEMPLATE_TEST_CASE("norm: rmsnorm and layernorm equal their definition", "[norm][reference]", float, double) {
  double const tolerance = std::is_same_v<TestType, float> ? 1e-5 : 1e-13;
  for (NormKind const kind : {NormKind::rmsnorm, NormKind::layernorm}) {
    auto const norm = make_norm<TestType>(kind);
    auto const x = test::random2<TestType>("x", rows, width, 3);
    View2<TestType> out("out", rows, width), stats("stats", rows, 2);
    norm_forward<TestType>(Exec(), norm, as_groups(x), as_groups(out), stats);
    double worst = 0;
    for (int i = 0; i < rows; ++i)
      for (int c = 0; c < width; ++c) worst = std::max(worst, std::abs(out(i, c) - plain_norm(norm, x, i, c)));
    CHECK(worst < tolerance);
  }
}

TEST_CASE("norm: adding and normalising in one pass gives the bits of two passes", "[norm]") {
  auto const norm = make_norm<float>(NormKind::rmsnorm);
  auto const x = test::random2<float>("x", rows, width), y = test::random2<float>("y", rows, width);
  View2<float> total("total", rows, width), out("out", rows, width), stats("stats", rows, 2);
  add_norm_forward<float>(Exec(), norm, x, y, total, out, stats);
  View2<float> sum("sum", rows, width), expected("expected", rows, width), expected_stats("stats", rows, 2);
  for (std::size_t i = 0; i < sum.size(); ++i) sum.data()[i] = x.data()[i] + y.data()[i];
  norm_forward<float>(Exec(), norm, as_groups(sum), as_groups(expected), expected_stats);
  CHECK(test::same_bits(total, sum));
  CHECK(test::same_bits(out, expected));
  CHECK(test::same_bits(stats, expected_stats));
}

TEST_CASE("norm: gradients of input, gain and bias equal central differences", "[norm][gradient]") {
  for (NormKind const kind : {NormKind::rmsnorm, NormKind::layernorm}) {
    auto const norm = make_norm<double>(kind);
    auto const x = test::random2<double>("x", rows, width), weight = test::random2<double>("weight", rows, width);
    View2<double> out("out", rows, width), stats("stats", rows, 2), grad_x("grad_x", rows, width);
    View1<double> grad_gain("grad_gain", width), grad_bias("grad_bias", norm.bias.extent(0));
    auto const forward = [&] { norm_forward<double>(Exec(), norm, as_groups(x), as_groups(out), stats); };
    auto const loss = [&] {
      forward();
      return test::weighted(out, weight);
    };
    forward();
    Scratch<double> scratch;
    norm_backward<double>(Exec(), norm, as_groups(x), stats, as_groups(weight), as_groups(grad_x), false, grad_gain,
                          grad_bias, scratch);
    double* const gain = const_cast<double*>(norm.gain.data());
    double* const bias = const_cast<double*>(norm.bias.data());
    CHECK(test::gradient_error(x.data(), grad_x.data(), 20 * width, loss) < 1e-8);
    CHECK(test::gradient_error(gain, grad_gain.data(), width, loss) < 1e-8);
    CHECK(test::gradient_error(bias, grad_bias.data(), norm.bias.extent_int(0), loss) < 1e-8);

    View2<double> added("added", rows, width);  // accumulation: twice the gradient on top of zero
    View1<double> twice_gain("twice", width), twice_bias("twice", norm.bias.extent(0));
    for (int pass = 0; pass < 2; ++pass)
      norm_backward<double>(Exec(), norm, as_groups(x), stats, as_groups(weight), as_groups(added), true, twice_gain,
                            twice_bias, scratch);
    for (std::size_t i = 0; i < added.size(); ++i)
      CHECK(added.data()[i] == Catch::Approx(2 * grad_x.data()[i]).margin(1e-12));
    for (int c = 0; c < width; ++c) CHECK(twice_gain(c) == Catch::Approx(2 * grad_gain(c)).margin(1e-12));
  }
}

TEST_CASE("norm: heads inside a wider row are normalised where they stand", "[norm]") {
  int const heads = 3, head_dim = 8, stride = 40;
  auto const packed = test::random2<float>("packed", 5, stride);
  auto const kept = test::random2<float>("packed", 5, stride);
  Norm<float> const norm{NormKind::rmsnorm, 1e-6, test::random1<float>("gain", head_dim), {}};
  View2<float> stats("stats", 5 * heads, 2);
  auto const view = as_groups(packed.data() + 4, 5, heads, head_dim, stride);
  norm_forward<float>(Exec(), norm, view, view, stats);
  for (int i = 0; i < 5; ++i)
    for (int c = 0; c < stride; ++c) {
      int const head = (c - 4) / head_dim;
      if (c < 4 || head >= heads) {
        CHECK(packed(i, c) == kept(i, c));
        continue;
      }
      double square = 0;
      for (int d = 0; d < head_dim; ++d) square += kept(i, 4 + head * head_dim + d) * kept(i, 4 + head * head_dim + d);
      double const expected = norm.gain((c - 4) % head_dim) * kept(i, c) / std::sqrt(square / head_dim + 1e-6);
      CHECK(packed(i, c) == Catch::Approx(expected).epsilon(1e-5));
    }
}

TEST_CASE("norm: a gain of the wrong width is named", "[norm][error]") {
  View2<float> const x("x", 2, 8), stats("stats", 2, 2);
  Norm<float> const norm{NormKind::rmsnorm, 1e-5, View1<float>("gain", 7), {}};
  CHECK_THROWS_WITH(norm_forward<float>(Exec(), norm, as_groups(x), as_groups(x), stats),
                    "norm: gain has 7 entries, expected the width 8");
}
}  // namespace norm_test
