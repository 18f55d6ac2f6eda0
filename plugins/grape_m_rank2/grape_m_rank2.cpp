// GRAPE-M, rank 2: every head turns one plane of its own and leaves the rest of the head alone.
//
//   G(p) = exp(p omega L),  L = a b^T - b a^T;  q~ = G(p_i) q,  k~ = G(p_j) k
//
// With a = e_1 and b = e_2 the plane turns clockwise by p omega: the paper's section 2 (its eq. 3.1, which the RoPE-like
// forms follow, turns the other way). Closed form in O(D), no matrix; a and b need not be normal to one another.
//
// Source: "Group Representational Position Encoding", arXiv:2512.07805, section 2.
#include "rank2.hpp"

#include <common/partial_sums.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {

/// a and b of one head, and their products.
template <class T>
struct Plane {
  std::vector<T> a, b;
  double aa = 0, bb = 0, ab = 0, omega = 0;
  double area() const { return std::max(0.0, aa * bb - ab * ab); }  // |a|^2 |b|^2 sin^2 of their angle
};

template <class T>
class Rank2Transform final : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  explicit Rank2Transform(bool tied) : tied_(tied) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    std::size_t const n = in.channels;
    planes_.assign(in.heads, {});
    for (int h = 0; h < in.heads; ++h) {
      double const* a = in.tensors[0].data() + h * n;
      std::vector<double> b(n);
      if (tied_)
        for (std::size_t c = 0; c < n; ++c) b[c] = c % 2 ? a[c - 1] : -a[c + 1];
      else
        std::copy_n(in.tensors[1].data() + h * n, n, b.data());
      auto& plane = planes_[h];
      for (std::size_t c = 0; c < n; ++c) {
        plane.a.push_back(static_cast<T>(a[c]));
        plane.b.push_back(static_cast<T>(b[c]));
        plane.aa += a[c] * a[c];
        plane.bb += b[c] * b[c];
        plane.ab += a[c] * b[c];
      }
      plane.omega = in.tensors.back()[h];
    }
    if (in.want_gradient) sums_.reset(in.batch, in.heads, in.kv_heads, 2 * n + 4);
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    auto const& plane = planes_[h];
    for (int i = 0; i < in_.count; ++i) {
      T const* x = in + i * in_stride;
      T* y = out + i * out_stride;
      auto const f = plane_turn(*in_.at(b, i) * plane.omega, plane.area());
      double const u = dot(plane.a, x), w = dot(plane.b, x);
      T const along_a = static_cast<T>(f.f1 * w + f.f2 * (plane.ab * w - plane.bb * u));
      T const along_b = static_cast<T>(-f.f1 * u + f.f2 * (plane.ab * u - plane.aa * w));
      for (int c = 0; c < in_.channels; ++c) y[c] = x[c] + along_a * plane.a[c] + along_b * plane.b[c];
    }
  }

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    auto const& plane = planes_[h];
    int const n = in_.channels;
    double *const da = sums_.at(side, b, h), *const db = da + n, *const rest = db + n;
    for (int i = 0; i < in_.count; ++i) {
      T const *x = in + i * in_stride, *g = grad_out + i * grad_out_stride;
      T* dx = grad_in + i * grad_in_stride;
      double const p = *in_.at(b, i);
      auto const f = plane_turn(p * plane.omega, plane.area());
      double const u = dot(plane.a, x), w = dot(plane.b, x), ga = dot(plane.a, g), gb = dot(plane.b, g);
      double const along_a = f.f1 * w + f.f2 * (plane.ab * w - plane.bb * u);
      double const along_b = -f.f1 * u + f.f2 * (plane.ab * u - plane.aa * w);
      double const du = -ga * f.f2 * plane.bb + gb * (f.f2 * plane.ab - f.f1);
      double const dw = ga * (f.f1 + f.f2 * plane.ab) - gb * f.f2 * plane.aa;
      double const df1 = ga * w - gb * u;
      double const df2 = ga * (plane.ab * w - plane.bb * u) + gb * (plane.ab * u - plane.aa * w);
      double const area = df1 * f.f1_area + df2 * f.f2_area;
      rest[0] += area * plane.bb - f.f2 * gb * w;
      rest[1] += area * plane.aa - f.f2 * ga * u;
      rest[2] += f.f2 * (ga * w + gb * u) - 2 * area * plane.ab;
      rest[3] += p * (df1 * f.f1_eta + df2 * f.f2_eta);
      for (int c = 0; c < n; ++c) {
        dx[c] = static_cast<T>(g[c] + du * plane.a[c] + dw * plane.b[c]);
        da[c] += along_a * g[c] + du * x[c];
        db[c] += along_b * g[c] + dw * x[c];
      }
    }
  }

  void finish(Tensors& gradient) override {
    int const n = in_.channels;
    for (int h = 0; h < in_.heads; ++h) {
      auto const sum = sums_.total(h, true);
      double const *da = sum.data(), *db = da + n, *rest = db + n;
      auto const& plane = planes_[h];
      double* out_a = gradient[0].data() + static_cast<std::size_t>(h) * n;
      for (int c = 0; c < n; ++c) {
        out_a[c] += da[c] + 2 * rest[0] * plane.a[c] + rest[2] * plane.b[c];
        double const of_b = db[c] + 2 * rest[1] * plane.b[c] + rest[2] * plane.a[c];
        if (!tied_)
          gradient[1][static_cast<std::size_t>(h) * n + c] += of_b;
        else if (c % 2)
          out_a[c - 1] += of_b;
        else
          out_a[c + 1] -= of_b;
      }
      gradient.back()[h] += rest[3];
    }
  }

 private:
  double dot(std::vector<T> const& a, T const* x) const {
    T sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int c = 0; c < in_.channels; ++c) sum += a[c] * x[c];
    return static_cast<double>(sum);
  }

  bool tied_;
  Inputs in_;
  std::vector<Plane<T>> planes_;
  PartialSums sums_;
};

struct GrapeMRank2 {
  bool b_is_Ja = false;
  double omega = 1;

  static constexpr char const* summary = "every head turns one trained plane (GRAPE's rank-2 multiplicative form)";
  static constexpr char const* formula =
      "G(p) = exp(p omega (a b^T - b a^T)), logit = (G(p_i) q_i) . (G(p_j) k_j) / sqrt(D)";
  static constexpr bool relative = true;
  static constexpr bool orthogonal = true;
  static constexpr bool group = true;

  static auto schema() {
    return Schema<GrapeMRank2>{}
        .option("b_is_Ja", &GrapeMRank2::b_is_Ja, "b is a with each adjacent pair (x, y) taken to (-y, x), not trained")
        .option("omega", &GrapeMRank2::omega, "where the trained speed starts; radians per token for unit a and b",
                positive);
  }

  void check(Shape const& shape) const {
    expect_equal_heads("grape_m_rank2", shape);
    expect(shape.head_dim >= 2, "grape_m_rank2 turns a plane, and head_dim is ", shape.head_dim,
           ", expected at least 2");
    expect(!b_is_Ja || shape.head_dim % 2 == 0, "grape_m_rank2.b_is_Ja pairs up channels, and head_dim is ",
           shape.head_dim, ", expected an even number");
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const heads = shape.heads, n = shape.head_dim;
    std::vector<ParameterInfo> out;
    // Unit vectors that are normal to one another: a lives on the even channels, b on the odd ones.
    out.push_back({"a", {heads, n}, [n, step = b_is_Ja ? 1 : 2](Stream const& stream, std::size_t i) {
                     return unit_entry(stream, i, n, 0, step);
                   }});
    if (!b_is_Ja)
      out.push_back(
          {"b", {heads, n}, [n](Stream const& stream, std::size_t i) { return unit_entry(stream, i, n, 1, 2); }});
    out.push_back({"omega", {heads}, [start = omega](Stream const&, std::size_t) { return start; }});
    return out;
  }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const&) const {
    return std::make_unique<Rank2Transform<T>>(b_is_Ja);
  }

  /// Entry i of [heads, n]: each row a random unit vector on the channels first, first + step, ...
  static double unit_entry(Stream const& stream, std::size_t i, std::size_t n, std::size_t first, std::size_t step) {
    std::size_t const row = i / n * n;
    if ((i - row) % step != first) return 0;
    double square = 0;
    for (std::size_t c = first; c < n; c += step) square += stream.normal(row + c) * stream.normal(row + c);
    return stream.normal(i) / std::sqrt(square);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::GrapeMRank2, "grape_m_rank2", "arXiv:2512.07805")
