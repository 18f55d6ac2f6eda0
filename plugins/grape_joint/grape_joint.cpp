// GRAPE's joint lift: one action in GL(d + 2) that turns query and key and shifts their product.
//
//   q^ = [s q; 1; 0],  k^ = [k; 0; 1],  A = blockdiag(L_rope, 0) - beta_h e_{d+2} e_{d+1}^T,  G(n) = exp(n A)
//   logit(h, i, j) = (G(p_i) q^) . (G(p_j)^-T k^) = s q_i^T R(-(p_i - p_j) t) k_j - beta_h (p_i - p_j)
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, appendix E, with the signs of its section 5. The
// two blocks commute, so the action is the turn of interleaved pairs and, in the lifted coordinates, a bias.
#include <sextant/encoding/ladder.hpp>
#include <sextant/encoding/slopes.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct GrapeJoint {
  double base = 10000;

  static constexpr char const* summary =
      "one action that turns query and key and subtracts a trained slope of distance";
  static constexpr char const* formula = "logit(i, j) = s q_i^T R(-(p_i - p_j) t) k_j - beta_h (p_i - p_j)";
  static constexpr bool relative = true;
  static constexpr bool group = true;
  static constexpr bool additive = true;
  static constexpr char const* weight_name = "beta";

  static std::vector<Equality> equals() {
    return {{"with beta 0", {}, {"rope", {{"layout", std::string("interleaved")}}, {}}, {{"beta", 0.0}}}};
  }

  static auto schema() {
    return Schema<GrapeJoint>{}.option("base", &GrapeJoint::base, "theta of the ladder", above(1));
  }
  void check(Shape const& shape) const {
    expect(shape.head_dim >= 2 && shape.head_dim % 2 == 0, "grape_joint: head_dim is ", shape.head_dim,
           ", expected an even number");
  }

  template <class T>
  struct Weights {
    T beta;
  };
  Weights<double> init(int head, int heads) const { return {alibi_slope(head, heads, 8, SlopeOrder::press)}; }

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = shape.head_dim, .layout = Layout::interleaved, .base = base};
  }
  template <class T>
  T inv_freq(Weights<T> const&, int pair, Rotary const& form) const {
    return T(ladder(base, pair, form.rotary_dim));
  }
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.beta * T(at.offset());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeJoint, "grape_joint", "arXiv:2512.07805")
