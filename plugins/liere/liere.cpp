// LieRE: a rotation of each block of channels for every point, learned as one generator an axis.
//
//   R(p) = exp(sum over axes a of p[a] S_a), blockwise with blocks of n channels, S_a skew from n(n-1)/2 numbers
//   q~ = R(p_i) q,  k~ = R(p_j) k
//
// With several axes and n > 2 the S_a do not commute: logits then depend on more than p_i - p_j. That takes one
// exponential per token, block and head, kept until the layer's next call: n D numbers per token and head. One axis takes
// none of that (line.hpp).
//
// Source: Ostmeier et al., "LieRE: Lie Rotational Positional Encodings", arXiv:2406.10322.
#include "line.hpp"

#include <common/partial_sums.hpp>
#include <common/raster.hpp>
#include <common/skew.hpp>
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {

/// Several axes. Tensors: upper [H or 1, axes, blocks, n(n-1)/2].
template <class T>
class LiereTransform final : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  LiereTransform(int axes, int block, bool per_head) : axes_(axes), block_(block), per_head_(per_head) {}

  void prepare(Exec const& exec, Inputs const& in) override {
    bool const same = in.tensors == in_.tensors && in.channels == in_.channels && same_points(in);
    in_ = in;
    exec_ = exec;
    if (!same) form_rotations(exec);
    if (!in.want_gradient) return;
    std::size_t const rows = static_cast<std::size_t>(in.batch) * (in.heads + in.kv_heads) * in.count * in.channels;
    kept_in_.resize(rows);
    kept_grad_.resize(rows);
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    for (int i = 0; i < in_.count; ++i)
      for (int c = 0; c < in_.channels; c += block_) {
        T const *r = rotation(b, i, h, c / block_), *x = in + i * in_stride + c;
        T* y = out + i * out_stride + c;
        for (int row = 0; row < block_; ++row) {
          T sum = 0;
          for (int col = 0; col < block_; ++col) sum += r[row * block_ + col] * x[col];
          y[row] = sum;
        }
      }
  }

  /// What the rotations get from this head waits for finish(), where one derivative serves all rows that share a point.
  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    std::size_t const from = kept_row(side, b, h);
    for (int i = 0; i < in_.count; ++i) {
      T const *x = in + i * in_stride, *g = grad_out + i * grad_out_stride;
      T* dx = grad_in + i * grad_in_stride;
      std::copy_n(x, in_.channels, &kept_in_[from + static_cast<std::size_t>(i) * in_.channels]);
      std::copy_n(g, in_.channels, &kept_grad_[from + static_cast<std::size_t>(i) * in_.channels]);
      std::fill_n(dx, in_.channels, T(0));
      for (int c = 0; c < in_.channels; c += block_) {
        T const* r = rotation(b, i, h, c / block_);
        for (int row = 0; row < block_; ++row)
          for (int col = 0; col < block_; ++col) dx[c + col] += r[row * block_ + col] * g[c + row];
      }
    }
  }

  void finish(Tensors& gradient) override {
    int const chunks = (points() + token_block - 1) / token_block, blocks = in_.channels / block_;
    std::size_t const width = static_cast<std::size_t>(axes_) * blocks * triangle();
    std::vector<double> part(static_cast<std::size_t>(rows()) * chunks * width, 0.0);
    for_each_index(exec_, static_cast<std::int64_t>(rows()) * chunks, [&, this](std::int64_t n) {
      int const h = static_cast<int>(n / chunks), first = static_cast<int>(n % chunks) * token_block;
      for (int point = first; point < std::min(points(), first + token_block); ++point)
        for (int block = 0; block < blocks; ++block) add_point(point, h, block, &part[n * width]);
    });
    for (int h = 0; h < rows(); ++h)
      for (int chunk = 0; chunk < chunks; ++chunk)
        for (std::size_t c = 0; c < width; ++c)
          gradient[0][h * width + c] += part[(static_cast<std::size_t>(h) * chunks + chunk) * width + c];
  }

 private:
  int rows() const { return per_head_ ? in_.heads : 1; }
  int sets() const { return static_cast<int>(in_.coordinates.extent(0)); }
  int points() const { return sets() * in_.count; }
  std::size_t triangle() const { return upper_count(block_); }
  std::size_t square() const { return static_cast<std::size_t>(block_) * block_; }
  double const* coordinates(int point) const { return &in_.coordinates(point / in_.count, point % in_.count, 0); }

  T const* rotation(int b, int i, int h, int block) const {
    std::size_t const point = (sets() > 1 ? b : 0) * static_cast<std::size_t>(in_.count) + i;
    return &rotations_[((point * rows() + (per_head_ ? h : 0)) * (in_.channels / block_) + block) * square()];
  }
  std::size_t kept_row(Side side, int b, int h) const {
    std::size_t const head = static_cast<std::size_t>(b) * (in_.heads + in_.kv_heads) + h;
    return (side == Side::query ? head : head + in_.heads) * in_.count * in_.channels;
  }

  bool same_points(Inputs const& in) const {
    if (in.coordinates.size() != in_.coordinates.size() || in.count != in_.count) return false;
    return std::equal(in.coordinates.data(), in.coordinates.data() + in.coordinates.size(), points_.begin());
  }

  /// S of one point, head and block: sum over axes of coordinate * S_axis.
  SkewSpectrum spectrum(int point, int h, int block) const {
    std::vector<double> upper(triangle(), 0.0), s(square());
    for (int a = 0; a < axes_; ++a) {
      std::size_t const at = ((static_cast<std::size_t>(h) * axes_ + a) * (in_.channels / block_) + block) * triangle();
      for (std::size_t n = 0; n < triangle(); ++n) upper[n] += coordinates(point)[a] * in_.tensors[0][at + n];
    }
    skew_from_upper(upper.data(), block_, s.data());
    return skew_spectrum(s.data(), block_);
  }

  void form_rotations(Exec const& exec) {
    points_.assign(in_.coordinates.data(), in_.coordinates.data() + in_.coordinates.size());
    int const blocks = in_.channels / block_;
    rotations_.resize(static_cast<std::size_t>(points()) * rows() * blocks * square());
    for_each_index(exec, static_cast<std::int64_t>(points()) * rows() * blocks, [&, this](std::int64_t n) {
      std::vector<double> r(square());
      skew_exp(spectrum(static_cast<int>(n / blocks / rows()), static_cast<int>(n / blocks % rows()),
                        static_cast<int>(n % blocks)),
               1, r.data());
      for (std::size_t c = 0; c < square(); ++c) rotations_[n * square() + c] = static_cast<T>(r[c]);
    });
  }

  /// part [axes, blocks, n(n-1)/2] += what all rows at this point say of one head's generators.
  void add_point(int point, int h, int block, double* part) const {
    std::vector<double> outer(square(), 0.0), of_skew(square(), 0.0);
    int const i = point % in_.count, set = point / in_.count;
    for (int b = sets() > 1 ? set : 0; b < (sets() > 1 ? set + 1 : in_.batch); ++b)
      for (Side side : {Side::query, Side::key})
        for (int head = per_head_ ? h : 0; head < (per_head_ ? h + 1 : heads_of(side)); ++head) {
          std::size_t const at = kept_row(side, b, head) + static_cast<std::size_t>(i) * in_.channels +
                                 static_cast<std::size_t>(block) * block_;
          for (int row = 0; row < block_; ++row)
            for (int col = 0; col < block_; ++col)
              outer[row * block_ + col] += static_cast<double>(kept_grad_[at + row]) * kept_in_[at + col];
        }
    add_skew_exp_gradient(spectrum(point, h, block), 1, outer.data(), of_skew.data());
    for (int a = 0; a < axes_; ++a)
      add_upper_gradient(of_skew.data(), block_, coordinates(point)[a],
                         part + (static_cast<std::size_t>(a) * (in_.channels / block_) + block) * triangle());
  }
  int heads_of(Side side) const { return side == Side::query ? in_.heads : in_.kv_heads; }

  int axes_, block_;
  bool per_head_;
  Inputs in_;
  Exec exec_;
  std::vector<double> points_;          // the coordinates that rotations_ stand for
  std::vector<T> rotations_;            // [points, rows, blocks, n, n]
  std::vector<T> kept_in_, kept_grad_;  // [batch, query and key heads, count, channels]
};

struct Liere {
  int axis_count = 1;
  int block = 0;
  bool per_head = true;
  Numbers grid;

  static constexpr char const* summary = "a trained rotation per point, one generator for each axis of the position";
  static constexpr char const* formula =
      "R(p) = exp(sum_a p[a] S_a) in blocks, logit = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D)";
  static constexpr bool orthogonal = true;

  static std::vector<Example> examples() {
    return {{{}, {}}, {{{"axes", std::int64_t{2}}, {"grid", std::vector<double>{4, 4}}}, {}}};
  }

  static auto schema() {
    return Schema<Liere>{}
        .option("axes", &Liere::axis_count, "coordinates of a position", between(1, 8))
        .option("block", &Liere::block, "channels that a rotation mixes; 0: the whole head", at_least(0),
                Unit{"channels"})
        .option("per_head", &Liere::per_head, "generators of its own for every head")
        .option("grid", &Liere::grid,
                "extent of each axis, the first runs fastest: counts positions along it in raster order and scales "
                "coordinates to [0, 1]; absent: one axis takes positions as they are, several want coordinates",
                at_least(1));
  }

  int width(Shape const& shape) const { return block > 0 ? block : shape.head_dim; }

  void check(Shape const& shape) const {
    if (per_head) expect_equal_heads("liere", shape);
    expect(width(shape) >= 2 && shape.head_dim % width(shape) == 0, "liere.block is ", width(shape),
           ", expected a divisor of head_dim ", shape.head_dim, " of at least 2");
    expect_grid("liere", grid, axis_count);
    for (int a = 0; a < grid.count; ++a)
      expect(grid[a] >= 2, "liere.grid entry ", a + 1,
             " is 1, and an axis of one place says nothing: expected 2 or more");
  }

  void coordinates(double position, double* out) const {
    if (axis_count == 1 && grid.count == 0) {
      *out = position;
      return;
    }
    raster("liere", grid, position, axis_count, out);
    for (int a = 0; a < axis_count; ++a) out[a] /= grid[a] - 1;
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const n = width(shape), blocks = shape.head_dim / n, a = axis_count;
    return {{"upper",
             {per_head ? static_cast<std::size_t>(shape.heads) : 1, a, blocks, n * (n - 1) / 2},
             [](Stream const& stream, std::size_t i) { return 2 * std::numbers::pi * stream.uniform(i); },
             true,
             per_head}};
  }
  int axes() const { return axis_count; }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const& shape) const {
    if (axis_count == 1) return std::make_unique<LiereLine<T>>(width(shape), per_head);
    return std::make_unique<LiereTransform<T>>(axis_count, width(shape), per_head);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Liere, "liere", "arXiv:2406.10322")
