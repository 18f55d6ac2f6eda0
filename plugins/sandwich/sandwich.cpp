// Sandwich: the inner product of two sinusoidal rows as bias, scaled per head; nothing is trained.
//
//   logit(h, i, j) += H / (8 (h + 1)) ( sum_{n = 1 .. width/2} cos(d base^(-2n/width)) - width/2 )    d = p_i - p_j
//
// Source: Chi et al., "Dissecting Transformer Length Extrapolation", arXiv:2212.10356, section 5.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Sandwich {
  int width = 128;
  double base = 10000;
  bool from_zero = false;
  bool centered = true;

  static constexpr char const* summary = "the inner product of two sinusoidal rows, scaled per head";
  static constexpr char const* formula =
      "logit(i, j) += H/(8(h+1)) (sum_n cos((p_i - p_j) base^(-2n/width)) - width/2), n = 1 .. width/2";
  static constexpr bool relative = true;
  static constexpr bool stretches = true;

  static auto schema() {
    return Schema<Sandwich>{}
        .option("width", &Sandwich::width, "width of the sinusoidal rows: twice the number of cosines",
                between(2, 65536), Unit{"channels"})
        .option("base", &Sandwich::base, "theta of the ladder", above(1))
        .option("from_zero", &Sandwich::from_zero, "the sum starts at n = 0 and ends one earlier")
        .option("centered", &Sandwich::centered, "subtract width/2, so that the bias is 0 at distance 0");
  }
  void check(Shape const&) const {
    expect(width % 2 == 0, "sandwich.width is ", width, ", expected an even number; nearby: ", width - 1, ", ",
           width + 1);
  }

  template <class T>
  KOKKOS_FUNCTION T bias(NoWeights<T> const&, Site<T> const& at) const {
    double const d = at.distance();
    int const first = from_zero ? 0 : 1;
    double sum = 0;  // in double: the cosines nearly cancel width/2 when d is small
    for (int n = first; n < first + width / 2; ++n) sum += math::cos(d * math::pow(base, -2.0 * n / width)) - centered;
    return T(sum * at.head.count / (8.0 * (at.head.index + 1)));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Sandwich, "sandwich", "arXiv:2212.10356")
