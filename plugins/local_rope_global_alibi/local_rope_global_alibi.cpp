// Local rotary, global linear: RoPE within a window; beyond it the angle stays and ALiBi's penalty takes over. Both in
// every head; rotary heads beside linear heads are a direct_sum over heads of rope and alibi.
//
//   rho = d for d < w;  w (saturate) or 0 (nope: the plain product) beyond;  d = p_i - p_j
//   logit(h, i, j) = q_i^T R(-rho t) k_j / sqrt(D) - slope_h max(0, |d| - w)      bias_from: window
//                                                  - slope_h |d|                  bias_from: zero
//
// Source: framework definition; slopes as in ALiBi, arXiv:2108.12409. With `saturate` and `window` the logit is
// continuous at d = w.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/remap.hpp>
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Beyond { saturate, nope };
enum class BiasFrom { window, zero };

struct LocalRopeGlobalAlibi : LadderTurn {
  int window = 512;
  Beyond beyond = Beyond::saturate;
  BiasFrom bias_from = BiasFrom::window;

  static constexpr char const* summary = "RoPE within a window, a penalty linear in distance beyond it";
  static constexpr char const* formula =
      "logit(i, j) = q_i^T R(-rho t) k_j / sqrt(D) - slope_h max(0, d - w), rho = d, from w on w or 0";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;

  static auto schema() {
    return ladder_schema<LocalRopeGlobalAlibi>()
        .option("window", &LocalRopeGlobalAlibi::window, "distance up to which positions turn", at_least(0),
                Unit{"tokens"})
        .choice("beyond", &LocalRopeGlobalAlibi::beyond, "angle past the window: that at its edge, or none",
                {{"saturate", Beyond::saturate}, {"nope", Beyond::nope}})
        .choice("bias_from", &LocalRopeGlobalAlibi::bias_from, "distance from which the penalty grows",
                {{"window", BiasFrom::window}, {"zero", BiasFrom::zero}});
  }

  template <class T>
  struct Weights {
    T slope;
  };
  static constexpr bool trains() { return false; }
  static Weights<double> init(int head, int heads) { return {alibi_slope(head, heads, 8, SlopeOrder::press)}; }

  static constexpr int branches() { return 2; }
  static constexpr int key_sets() { return 2; }
  static constexpr int key_set(int branch) { return branch; }
  int branch(double query, double key) const { return NearFar{double(window)}.of_pair(query, key); }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    return NearFar{double(window)}.of_block({query_least, query_most, key_least, key_most});
  }
  double query_phase(int branch, double position) const {
    if (branch == 0) return position;
    return beyond == Beyond::saturate ? window : 0;
  }
  double key_phase(int set, double position) const { return set == 0 ? position : 0; }

  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    Scalar<T> const past = at.distance() - Scalar<T>(bias_from == BiasFrom::window ? window : 0);
    return past > 0 ? -w.slope * T(past) : T(0);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LocalRopeGlobalAlibi, "local_rope_global_alibi", "framework definition")
