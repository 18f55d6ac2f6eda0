// ALiBi: a bias linear in distance, one slope per head; query and key carry no position.
//
//   logit(h, i, j) += -slope(h) |i - j|          i, j in tokens; slope in logits per token
//
// Source: Press, Smith and Lewis, "Train Short, Test Long", arXiv:2108.12409, section 3. Head counts that are not a
// power of two follow the authors' released code (`press`); `mpt` is the other published order. `slope_exponent` is
// what MPT's configuration calls alibi_bias_max; `bias_max` caps the bias itself. Without a causal mask keys lie on both
// sides: `sides` asymmetric gives those ahead of the query a slope of their own, as the authors suggest for encoders.
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Sides { symmetric, asymmetric };

struct Alibi {
  bool train_slopes = false;
  double slope_scale = 1;
  double slope_exponent = 8;
  SlopeOrder slope_order = SlopeOrder::press;
  double bias_max = 0;
  double distance_cap = 0;
  std::optional<int> biased_heads;
  Sides sides = Sides::symmetric;
  double ahead_scale = 1;

  static constexpr char const* summary = "a penalty linear in distance, one slope per head";
  static constexpr char const* formula = "logit(i, j) += -slope_h |p_i - p_j|";
  static constexpr bool relative = true;
  static constexpr bool stretches = true;
  static constexpr char const* weight_name = "slope";

  static std::vector<Equality> equals() {
    return {
        {"in MPT's order of slopes", {{{"slope_order", std::string("mpt")}}, {}}, {"alibi", {}, {}}, {}},
        {"with slopes that start the same and train", {{{"train_slopes", true}}, {}}, {"alibi", {}, {}}, {}},
        {"asymmetric with the same slopes ahead", {{{"sides", std::string("asymmetric")}}, {}}, {"alibi", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<Alibi>{}
        .option("train_slopes", &Alibi::train_slopes, "let the optimiser move the slopes")
        .option("slope_scale", &Alibi::slope_scale, "multiplies every slope", positive)
        .option("slope_exponent", &Alibi::slope_exponent,
                "the 8 in 2^(-8(h+1)/heads); MPT's alibi_bias_max, which limits the exponent and not the distance",
                positive)
        .choice("slope_order", &Alibi::slope_order, "order of slopes when the head count is no power of two",
                {{"press", SlopeOrder::press}, {"mpt", SlopeOrder::mpt}})
        .option("bias_max", &Alibi::bias_max, "largest penalty; 0 means none", at_least(0), Unit{"logits"})
        .option("distance_cap", &Alibi::distance_cap, "distance beyond which the penalty stays; 0 means none",
                at_least(0), Unit{"tokens"})
        .option("biased_heads", &Alibi::biased_heads,
                "the first so many heads share the slopes, the others have no bias", at_least(1), Unit{"heads"},
                MayBeAuto{"all heads"})
        .choice("sides", &Alibi::sides, "whether keys ahead of the query have slopes of their own",
                {{"symmetric", Sides::symmetric}, {"asymmetric", Sides::asymmetric}})
        .option("ahead_scale", &Alibi::ahead_scale,
                "asymmetric: slope of keys ahead, in terms of those behind; 0: they are free", at_least(0));
  }
  void check(Shape const& shape) const {
    expect(biased_heads.value_or(1) <= shape.heads, "alibi.biased_heads is ", biased_heads.value_or(1),
           ", expected at most the ", shape.heads, " heads there are");
    expect(sides == Sides::asymmetric || ahead_scale == 1, "alibi.ahead_scale is ", ahead_scale,
           ", which is for sides asymmetric");
  }

  template <class T>
  using Weights = WeightArray<T>;  // the slope; asymmetric: and that of keys ahead
  int weight_count(Shape const&) const { return sides == Sides::asymmetric ? 2 : 1; }
  bool trains() const { return train_slopes; }
  double init(int head, int side, Shape const& shape, Stream const&) const {
    int const biased = biased_heads.value_or(shape.heads);
    if (head >= biased) return 0;
    return (side == 0 ? 1 : ahead_scale) * slope_scale * alibi_slope(head, biased, slope_exponent, slope_order);
  }

  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    if (biased_heads && at.head.index >= *biased_heads) return T(0);  // not trained either
    Scalar<T> distance = at.distance();
    if (distance_cap > 0 && distance > distance_cap) distance = Scalar<T>(distance_cap);
    T const penalty = w[sides == Sides::asymmetric && at.offset() < 0 ? 1 : 0] * T(distance);
    if (bias_max > 0 && value_of(penalty) > bias_max) return T(-bias_max);
    return -penalty;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Alibi, "alibi", "arXiv:2108.12409")
