// RoPE: query and key are turned by their positions, so that their product sees only the offset.
//
//   q~_i = R(p_i t) q_i,  k~_j = R(p_j t) k_j,  t_f = base^(-2f / rotary_dim)
//
// Source: Su et al., "RoFormer", arXiv:2104.09864. `half` pairs channels (f, f + n/2) as Llama does, `interleaved`
// (2f, 2f + 1) as the paper does. With rotary_dim below head_dim the ladder is that of rotary_dim and the remaining
// channels pass through. `turning` below 1 is p-RoPE (Barbero et al., arXiv:2410.06205): the ladder stays, and of its pairs
// only the fastest turn.
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Rope {
  double base = 10000;
  Layout layout = Layout::half;
  std::optional<int> rotary_dim;
  double share = 1;
  double turning = 1;

  static constexpr char const* summary = "turns query and key by position; their product depends on the offset alone";
  static constexpr char const* formula = "logit(i, j) = q_i^T R(-(p_i - p_j) t) k_j / sqrt(D), t_f = base^(-2f/n)";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;

  static std::vector<Equality> equals() {
    return {{"with no pair turning", {{{"turning", 0.0}}, {}}, {"nope", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<Rope>{}
        .option("base", &Rope::base, "theta: ratio of the slowest wavelength to the fastest", above(1))
        .choice("layout", &Rope::layout, "which channels form a pair: (f, f + n/2) or (2f, 2f + 1)", layouts())
        .option("rotary_dim", &Rope::rotary_dim, "channels of a head that turn; the others pass through", at_least(2),
                Unit{"channels"}, MayBeAuto{"share times head_dim"})
        .option("share", &Rope::share, "fraction of the head's channels that turn; must give an even whole number",
                Range{0, 1, true})
        .option("turning", &Rope::turning,
                "p-RoPE: fraction of the pairs that turn, fastest first; rounded down to whole pairs", between(0, 1));
  }

  void check(Shape const& shape) const {
    double const wanted = share * shape.head_dim;
    expect(!rotary_dim || share == 1, "rope was given both rotary_dim ", rotary_dim.value_or(0), " and share ", share,
           ": give one");
    bool const legal = std::abs(wanted - std::round(wanted)) < 1e-9 && std::llround(wanted) % 2 == 0;
    int const below = static_cast<int>(wanted / 2) * 2;
    expect(rotary_dim || legal, "rope.share ", share, " of head_dim ", shape.head_dim, " is ", wanted,
           " channels, expected an even whole number; nearby: ", below, " (share ", double(below) / shape.head_dim,
           "), ", below + 2, " (share ", double(below + 2) / shape.head_dim, ")");
  }

  Rotary rotary(Shape const& shape) const {
    int const turned = rotary_dim.value_or(static_cast<int>(std::llround(share * shape.head_dim)));
    return {.rotary_dim = turned, .layout = layout, .base = base};
  }
  template <class T>
  T inv_freq(NoWeights<T> const&, int pair, Rotary const& form) const {
    bool const turns = pair < static_cast<int>(turning * (form.rotary_dim / 2) + 1e-9);
    return turns ? T(ladder(base, pair, form.rotary_dim)) : T(0);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Rope, "rope", "arXiv:2104.09864")
