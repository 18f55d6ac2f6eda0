// RoPE for points (x, y): every pair of channels turns by an angle that is linear in both coordinates.
//
//   axial      pairs 0 .. D/4-1 turn by x t_f, pairs D/4 .. D/2-1 by y t_f,  t_f = base^(-4f/D), base 100
//   mixed      pair f of head h turns by x F[h,0,f] + y F[h,1,f], F trained; starts as the axial ladder (base 10) in a
//              random direction per head and the one normal to it
//   kronecker  R_y (x) R_x, the tensor product of a RoPE of rows (m pairs, t_g = base^(-g/m)) and one of columns (n pairs,
//              t_f = base^(-f/n)), 4 m n = D; a product of plane turns is a turn by the sum and one by the difference, so
//              in a fixed basis pairs 2(g n + f) and 2(g n + f) + 1 turn by y t_g + x t_f and y t_g - x t_f
//
// Source: Heo et al., "Rotary Position Embedding for Vision Transformer", arXiv:2403.13298 (axial, mixed); the tensor
// product of two one-dimensional representations (kronecker; framework definition).
#include <common/partial_sums.hpp>
#include <common/raster.hpp>
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

#include <numbers>
#include <optional>

namespace sextant::plugins {
enum class PlaneKind { axial, mixed, kronecker };

struct Rope2d {
  PlaneKind kind = PlaneKind::axial;
  std::optional<double> base;
  Layout layout = Layout::interleaved;
  std::optional<int> row_pairs;
  Numbers grid;

  static constexpr char const* summary = "RoPE for positions with two coordinates";
  static constexpr char const* formula = "angle of pair f = x w[0,f] + y w[1,f]";
  static constexpr bool orthogonal = true;
  static constexpr char const* weight_name = "freqs";

  static std::vector<Example> examples() {
    Value const row = std::vector<double>{3};
    return {{{{"grid", row}}, {}}, {{{"grid", row}, {"kind", std::string("kronecker")}}, {}}};
  }

  static auto schema() {
    return Schema<Rope2d>{}
        .choice("kind", &Rope2d::kind, "how pairs share the axes",
                {{"axial", PlaneKind::axial}, {"mixed", PlaneKind::mixed}, {"kronecker", PlaneKind::kronecker}})
        .option("base", &Rope2d::base, "theta of the ladder", above(1), MayBeAuto{"100; mixed: 10"})
        .choice("layout", &Rope2d::layout, "which channels form a pair",
                {{"interleaved", Layout::interleaved}, {"half", Layout::half}})
        .option("row_pairs", &Rope2d::row_pairs, "kronecker: pairs of the factor that turns by y", at_least(1),
                MayBeAuto{"the largest divisor of head_dim / 4 up to its root"})
        .option("grid", &Rope2d::grid,
                "[width]: position p is (p mod width, p / width); absent: positions are coordinates", at_least(1));
  }

  double theta() const { return base.value_or(kind == PlaneKind::mixed ? 10 : 100); }
  /// m of the tensor product.
  int rows(int pairs) const {
    if (row_pairs) return *row_pairs;
    int best = 1;
    for (int m = 1; m * m <= pairs / 2; ++m)
      if (pairs / 2 % m == 0) best = m;
    return best;
  }

  void check(Shape const& shape) const {
    expect(shape.head_dim % 4 == 0, "rope2d gives both axes as many pairs, and head_dim is ", shape.head_dim,
           ", expected a multiple of 4");
    expect(!row_pairs || kind == PlaneKind::kronecker, "rope2d.row_pairs is for kind kronecker");
    expect(shape.head_dim / 4 % rows(shape.head_dim / 2) == 0, "rope2d.row_pairs is ", rows(shape.head_dim / 2),
           ", expected a divisor of head_dim / 4 = ", shape.head_dim / 4);
    expect_grid("rope2d", grid, 1);
  }

  template <class T>
  using Weights = WeightArray<T>;
  bool trains() const { return kind == PlaneKind::mixed; }
  int weight_count(Shape const& shape) const { return trains() ? shape.head_dim : 0; }
  /// F[h] [2, D/2], flat.
  double init(int head, int n, Shape const& shape, Stream const& stream) const {
    int const pairs = shape.head_dim / 2, axis = n / pairs, f = n % pairs, quarter = pairs / 2;
    double const direction = 2 * std::numbers::pi * stream.uniform(head) + (f < quarter ? 0.0 : 0.5 * std::numbers::pi);
    double const speed = ladder(theta(), f % quarter, pairs);
    return speed * (axis == 0 ? std::cos(direction) : std::sin(direction));
  }

  Rotary rotary(Shape const& shape) const {
    return {.rotary_dim = shape.head_dim / 4 * 4, .layout = layout, .per_head = trains(), .axes = 2};
  }
  template <class T>
  T inv_freq(Weights<T> const& freqs, int axis, int pair, Rotary const& form) const {
    int const pairs = form.rotary_dim / 2, quarter = pairs / 2;
    if (kind == PlaneKind::mixed) return freqs[axis * pairs + pair];
    if (kind == PlaneKind::axial) return T(pair / quarter == axis ? ladder(theta(), pair % quarter, pairs) : 0.0);
    int const m = rows(pairs), n = quarter / m, g = pair / 2 / n, f = pair / 2 % n;
    if (axis == 1) return T(ladder(theta(), g, 2 * m));
    return T((pair % 2 ? -1 : 1) * ladder(theta(), f, 2 * n));
  }

  void coordinates(double position, double* out) const { raster("rope2d", grid, position, 2, out); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Rope2d, "rope2d", "arXiv:2403.13298")
