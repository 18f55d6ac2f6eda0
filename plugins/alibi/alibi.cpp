// ALiBi: a bias linear in distance, one slope per head; query and key carry no position.
//
//   logit(h, i, j) += -min(slope(h) |i - j|, distance_cap)          i, j in tokens; slope in logits per token
//
// Source: Press, Smith and Lewis, "Train Short, Test Long", arXiv:2108.12409, section 3. Head counts that are not a
// power of two follow the authors' released code (`press`); `mpt` is the other published order. `slope_exponent` is
// what MPT's configuration calls alibi_bias_max; `bias_max` caps the bias itself.
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Alibi {
  bool train_slopes = false;
  double slope_scale = 1;
  double slope_exponent = 8;
  SlopeOrder slope_order = SlopeOrder::press;
  double bias_max = 0;
  double distance_cap = 0;

  static constexpr char const* summary = "a penalty linear in distance, one slope per head";
  static constexpr char const* formula = "logit(i, j) += -slope_h |p_i - p_j|";
  static constexpr bool relative = true;
  static constexpr char const* weight_name = "slope";

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
                at_least(0), Unit{"tokens"});
  }

  template <class T>
  struct Weights {
    T slope;
  };
  bool trains() const { return train_slopes; }
  Weights<double> init(int head, int heads) const {
    return {slope_scale * alibi_slope(head, heads, slope_exponent, slope_order)};
  }

  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    Scalar<T> distance = at.distance();
    if (distance_cap > 0 && distance > distance_cap) distance = Scalar<T>(distance_cap);
    T const penalty = w.slope * T(distance);
    if (bias_max > 0 && value_of(penalty) > bias_max) return T(-bias_max);
    return -penalty;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Alibi, "alibi", "arXiv:2108.12409")
