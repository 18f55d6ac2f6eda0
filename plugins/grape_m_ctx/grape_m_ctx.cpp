// GRAPE-M with context: RoPE whose clock runs at a rate that each token sets.
//
//   omega_m = softplus(w . x_m + b),  Phi_i = sum over m < i of omega_m,  angle of pair f = orientation Phi_i theta_f
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 3, whose rate only has to be
// non-negative. The released code has sigmoid(z / 16), half and clockwise. theta_f = exp(log_freq_f / log_freq_scale).
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Rate { softplus, sigmoid };
enum class CtxTurn { counter_clockwise, clockwise };

struct GrapeMCtx {
  Rate rate = Rate::softplus;
  double gate_scale = 1;
  double start_rate = 1e-3;
  bool per_head_phase = false;
  bool per_head_freq = false;
  double base = 10000;
  Layout layout = Layout::interleaved;
  CtxTurn turn = CtxTurn::counter_clockwise;
  double log_freq_scale = 1;

  static constexpr char const* summary = "RoPE turned by a running sum of rates that the tokens set";
  static constexpr char const* formula =
      "logit(i, j) = q_i^T R(-(Phi_i - Phi_j) theta) k_j / sqrt(D), Phi_i = sum_{m<i} g(w . x_m + b)";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr int gate_count = 1;
  static constexpr char const* weight_name = "log_freq";

  static std::vector<Equality> equals() {
    return {{"with every rate 1",
             {{{"start_rate", 1.0}}, {}},
             {"rope", {{"layout", std::string("interleaved")}}, {}},
             {{"omega_weight", 0.0}}}};
  }

  static auto schema() {
    return Schema<GrapeMCtx>{}
        .choice("gate", &GrapeMCtx::rate, "what makes the rate non-negative",
                {{"softplus", Rate::softplus}, {"sigmoid", Rate::sigmoid}})
        .option("gate_scale", &GrapeMCtx::gate_scale, "divides what enters the gate (released code: 16)", positive)
        .option("start_rate", &GrapeMCtx::start_rate,
                "b starts where softplus gives this rate: near 0 at nope, at 1 (and gate_scale 1) at rope", positive)
        .option("per_head_phase", &GrapeMCtx::per_head_phase, "rates of its own for every head")
        .option("per_head_freq", &GrapeMCtx::per_head_freq, "frequencies of its own for every head")
        .option("base", &GrapeMCtx::base, "theta of the ladder it starts from", above(1))
        .choice("layout", &GrapeMCtx::layout, "which channels form a pair",
                {{"interleaved", Layout::interleaved}, {"half", Layout::half}})
        .choice("orientation", &GrapeMCtx::turn, "sense of the turn: the paper's, or the released code's",
                {{"counter_clockwise", CtxTurn::counter_clockwise}, {"clockwise", CtxTurn::clockwise}})
        .option("log_freq_scale", &GrapeMCtx::log_freq_scale,
                "divides the trained logarithm, which tempers its gradient (released code: 16)", positive);
  }

  template <class T>
  using Weights = WeightArray<T>;  // log_freq
  bool shared_by_heads() const { return !per_head_freq; }
  int weight_count(Shape const& shape) const { return shape.head_dim / 2; }
  double init(int, int pair, Shape const& shape, Stream const&) const {
    return log_freq_scale * (-2.0 * pair / (shape.head_dim / 2 * 2)) * std::log(base);
  }

  GateSpec gate_spec(int) const {
    return {.input = GateInput::token,
            .scan = Scan::exclusive,
            .weight_name = "omega_weight",
            .bias_name = "omega_bias",
            .weight_zero = true,
            .shared_by_heads = !per_head_phase};
  }
  double gate_bias(int, Shape const&) const { return math::inverse_softplus(start_rate); }
  template <class T>
  T gate(Weights<T> const&, int, Head, T const& z) const {
    T const scaled = z / T(gate_scale);
    return rate == Rate::softplus ? math::softplus(scaled) : math::sigmoid(scaled);
  }

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = shape.head_dim / 2 * 2,
            .layout = layout,
            .orientation = turn == CtxTurn::clockwise ? -1 : 1,
            .per_head = per_head_freq,
            .base = base,
            .phase_gate = 0};
  }
  template <class T>
  T inv_freq(Weights<T> const& log_freq, int pair, Rotary const&) const {
    return math::exp(log_freq[pair] / T(log_freq_scale));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeMCtx, "grape_m_ctx", "arXiv:2512.07805")
