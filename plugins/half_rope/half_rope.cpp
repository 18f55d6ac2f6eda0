// Half-truncated RoPE: half of the pairs turn, on a ladder that reaches its slowest frequency exactly; the other half
// never turns.
//
//   t_f = (1/ratio)^(f / (m - 1)) for f < m = head_dim / 4,  t_f = 0 for the other m pairs
//
// Source: the modded-nanogpt speed run (K. Jordan and contributors, github.com/KellerJordan/modded-nanogpt): "half-truncate
// RoPE" by Y. Jiacheng, pairs (f, f + head_dim/2) turned clockwise, ratio 1024.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class HalfTurn { clockwise, counter_clockwise };

struct HalfRope {
  double ratio = 1024;
  Layout layout = Layout::half;
  HalfTurn turn = HalfTurn::clockwise;

  static constexpr char const* summary = "RoPE on half of the pairs with a short ladder; the other half never turns";
  static constexpr char const* formula = "t_f = ratio^(-f/(D/4 - 1)) for f < D/4, else 0";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;

  static auto schema() {
    return Schema<HalfRope>{}
        .option("ratio", &HalfRope::ratio, "fastest frequency over slowest", above(1))
        .choice("layout", &HalfRope::layout, "which channels form a pair: (f, f + D/2) or (2f, 2f + 1)",
                {{"half", Layout::half}, {"interleaved", Layout::interleaved}})
        .choice("orientation", &HalfRope::turn, "sense of the turn",
                {{"clockwise", HalfTurn::clockwise}, {"counter_clockwise", HalfTurn::counter_clockwise}});
  }
  void check(Shape const& shape) const {
    expect(shape.head_dim % 4 == 0 && shape.head_dim >= 8, "half_rope: head_dim is ", shape.head_dim,
           ", expected a multiple of 4 from 8 on");
  }

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = shape.head_dim, .layout = layout, .orientation = turn == HalfTurn::clockwise ? -1 : 1};
  }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    int const turning = form.rotary_dim / 4;
    return pair < turning ? T(std::pow(ratio, -double(pair) / (turning - 1))) : T(0);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::HalfRope, "half_rope", "github.com/KellerJordan/modded-nanogpt")
