// GRAPE-M, commuting and without context: RoPE whose frequencies are trained.
//
//   angle of pair f = orientation * p * theta_f,  theta_f = exp(log_freq_f / log_freq_scale)
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 3. The defaults are the paper's
// (interleaved, counter-clockwise, scale 1); the released code has half, -1 and 16.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Turn { counter_clockwise, clockwise };

struct GrapeM {
  double base = 10000;
  Layout layout = Layout::interleaved;
  Turn turn = Turn::counter_clockwise;
  bool per_head = false;
  double log_freq_scale = 1;

  static constexpr char const* summary = "RoPE with trained frequencies (GRAPE's commuting multiplicative form)";
  static constexpr char const* formula = "logit(i, j) = q_i^T R(-(p_i - p_j) theta) k_j / sqrt(D), theta trained";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;
  static constexpr char const* weight_name = "log_freq";

  static std::vector<Equality> equals() {
    return {{"with its frequencies at their start",
             {{{"base", 500.0}}, {}},
             {"rope", {{"base", 500.0}, {"layout", std::string("interleaved")}}, {}},
             {}}};
  }

  static auto schema() {
    return Schema<GrapeM>{}
        .option("base", &GrapeM::base, "theta of the ladder it starts from", above(1))
        .choice("layout", &GrapeM::layout, "which channels form a pair",
                {{"interleaved", Layout::interleaved}, {"half", Layout::half}})
        .choice("orientation", &GrapeM::turn, "sense of the turn: the paper's, or the released code's",
                {{"counter_clockwise", Turn::counter_clockwise}, {"clockwise", Turn::clockwise}})
        .option("per_head", &GrapeM::per_head, "frequencies of its own for every head")
        .option("log_freq_scale", &GrapeM::log_freq_scale,
                "divides the trained logarithm, which tempers its gradient (released code: 16)", positive);
  }

  template <class T>
  using Weights = WeightArray<T>;
  bool shared_by_heads() const { return !per_head; }
  int weight_count(Shape const& shape) const { return shape.head_dim / 2; }
  double init(int, int pair, Shape const& shape, Stream const&) const {
    return log_freq_scale * (-2.0 * pair / (shape.head_dim / 2 * 2)) * std::log(base);
  }

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = shape.head_dim / 2 * 2,
            .layout = layout,
            .orientation = turn == Turn::clockwise ? -1 : 1,
            .per_head = per_head,
            .base = base};
  }
  template <class T>
  T inv_freq(Weights<T> const& log_freq, int pair, Rotary const&) const {
    return math::exp(log_freq[pair] / T(log_freq_scale));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeM, "grape_m", "arXiv:2512.07805")
