// Drives a Transform by hand, as one layer would: points, tensors, rows in and out, gradients.
#pragma once
#include "support/plugin.hpp"

#include <functional>

namespace sextant::test {
using encoding::Side;
using Rows = std::vector<double>;  // [count, width] of one head

/// One batch row, one head of the term at a time; points [count, axes].
template <class T = double>
class TransformRig {
 public:
  TransformRig(encoding::Encoding const& e, encoding::Shape shape, std::vector<double> const& points, int axes = 1)
      : shape_(shape), width_(e.lifted(shape)) {
    if constexpr (std::is_same_v<T, double>)
      transform_ = e.transform_double(shape);
    else
      transform_ = e.transform_float(shape);
    REQUIRE(transform_ != nullptr);
    in_.batch = 1;
    in_.count = static_cast<int>(points.size()) / axes;
    in_.heads = shape.heads, in_.kv_heads = shape.kv_heads, in_.channels = shape.head_dim;
    in_.first_head = {0, shape.heads};
    in_.coordinates = View3<double>("points", 1, in_.count, axes);
    std::copy(points.begin(), points.end(), in_.coordinates.data());
    for (auto const& info : e.tensors(shape)) {
      in_.tensors.emplace_back();
      for (std::size_t i = 0; i < info.size(); ++i) in_.tensors.back().push_back(info.init(Stream(3, info.name), i));
    }
  }
  encoding::Tensors& tensors() { return in_.tensors; }
  int width() const { return width_; }
  /// Moves every tensor by `by` times a normal number.
  void shake(double by) {
    for (std::size_t t = 0; t < in_.tensors.size(); ++t)
      for (std::size_t i = 0; i < in_.tensors[t].size(); ++i)
        in_.tensors[t][i] += by * Stream(7 + t, "shake").normal(i);
  }

  Rows forward(Rows const& x, Side side = Side::query, int h = 0) {
    in_.want_gradient = false;
    transform_->prepare(Exec(), in_);
    std::vector<T> const from(x.begin(), x.end());
    std::vector<T> out(static_cast<std::size_t>(in_.count) * width_);
    transform_->forward(side, 0, h, from.data(), shape_.head_dim, out.data(), width_);
    return {out.begin(), out.end()};
  }
  /// The matrix of token i: column c is what it makes of the c-th unit vector.
  Rows matrix(int i, int h = 0, Side side = Side::query) {
    int const n = shape_.head_dim;
    Rows out(static_cast<std::size_t>(width_) * n);
    for (int c = 0; c < n; ++c) {
      Rows x(static_cast<std::size_t>(in_.count) * n, 0.0);
      x[static_cast<std::size_t>(i) * n + c] = 1;
      auto const y = forward(x, side, h);
      for (int r = 0; r < width_; ++r)
        out[static_cast<std::size_t>(r) * n + c] = y[static_cast<std::size_t>(i) * width_ + r];
    }
    return out;
  }

  struct Gradients {
    Rows query, key;
    encoding::Tensors tensors;
  };
  /// Of loss = sum over sides and heads of w . forward(x); x and w [count, ...] serve all of them.
  Gradients gradients(Rows const& x, Rows const& w) {
    in_.want_gradient = true;
    transform_->prepare(Exec(), in_);
    std::vector<T> const from(x.begin(), x.end()), grad(w.begin(), w.end());
    Gradients out{Rows(x.size(), 0.0), Rows(x.size(), 0.0), {}};
    for (Side side : {Side::query, Side::key})
      for (int h = 0; h < (side == Side::query ? shape_.heads : shape_.kv_heads); ++h) {
        std::vector<T> part(x.size());
        transform_->backward(side, 0, h, from.data(), shape_.head_dim, grad.data(), width_, part.data(),
                             shape_.head_dim);
        for (std::size_t i = 0; i < x.size(); ++i) (side == Side::query ? out.query : out.key)[i] += part[i];
      }
    for (auto const& tensor : in_.tensors) out.tensors.emplace_back(tensor.size(), 0.0);
    transform_->finish(out.tensors);
    return out;
  }
  double loss(Rows const& x, Rows const& w) {
    double sum = 0;
    for (Side side : {Side::query, Side::key})
      for (int h = 0; h < (side == Side::query ? shape_.heads : shape_.kv_heads); ++h) {
        auto const y = forward(x, side, h);
        for (std::size_t i = 0; i < y.size(); ++i) sum += y[i] * w[i];
      }
    return sum;
  }
  /// Every gradient against central differences.
  void check_gradients(double bound = 2e-8) {
    auto const x = numbers("x", static_cast<std::size_t>(in_.count) * shape_.head_dim);
    auto const w = numbers("w", static_cast<std::size_t>(in_.count) * width_);
    auto const got = gradients(x, w);
    double const step = 1e-5;
    auto const slope = [&](double& at, std::function<double()> const& f) {
      double const kept = at;
      at = kept + step;
      double const above = f();
      at = kept - step;
      double const below = f();
      at = kept;
      return (above - below) / (2 * step);
    };
    for (std::size_t t = 0; t < in_.tensors.size(); ++t)
      for (std::size_t i = 0; i < in_.tensors[t].size(); ++i) {
        double const wanted = slope(in_.tensors[t][i], [&] { return loss(x, w); });
        INFO("tensor " << t << " entry " << i);
        CHECK(got.tensors[t][i] == Catch::Approx(wanted).epsilon(bound).margin(bound));
      }
    Rows moved = x;
    for (std::size_t i = 0; i < x.size(); ++i) {
      double const wanted = slope(moved[i], [&] { return loss(moved, w); });
      INFO("input " << i);
      CHECK(got.query[i] + got.key[i] == Catch::Approx(wanted).epsilon(bound).margin(bound));
    }
  }
  static Rows numbers(char const* name, std::size_t count) {
    Rows out;
    for (std::size_t i = 0; i < count; ++i) out.push_back(Stream(5, name).normal(i));
    return out;
  }

 private:
  encoding::Shape shape_;
  int width_;
  std::unique_ptr<encoding::Transform<T>> transform_;
  typename encoding::Transform<T>::Inputs in_;
};

/// The largest difference of two lists of equal length.
inline double worst(Rows const& a, Rows const& b) {
  REQUIRE(a.size() == b.size());
  double out = 0;
  for (std::size_t i = 0; i < a.size(); ++i) out = std::max(out, std::abs(a[i] - b[i]));
  return out;
}
/// a [n, n] times b [n, n], and a transposed.
inline Rows product(Rows const& a, Rows const& b) {
  auto const n = static_cast<std::size_t>(std::lround(std::sqrt(a.size())));
  Rows out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t k = 0; k < n; ++k)
      for (std::size_t j = 0; j < n; ++j) out[i * n + j] += a[i * n + k] * b[k * n + j];
  return out;
}
inline Rows transposed(Rows const& a) {
  auto const n = static_cast<std::size_t>(std::lround(std::sqrt(a.size())));
  Rows out(n * n);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) out[j * n + i] = a[i * n + j];
  return out;
}
inline Rows unit_matrix(std::size_t n) {
  Rows out(n * n, 0.0);
  for (std::size_t i = 0; i < n; ++i) out[i * n + i] = 1;
  return out;
}
/// exp(a) by its series after halving, and squaring back: an oracle that knows nothing of eigenvectors.
inline Rows series_exp(Rows a) {
  auto const n = static_cast<std::size_t>(std::lround(std::sqrt(a.size())));
  double norm = 0;
  for (double v : a) norm += v * v;
  int halvings = 0;
  for (; norm > 0.01; norm /= 4) ++halvings;
  for (double& v : a) v = std::ldexp(v, -halvings);
  Rows out = unit_matrix(n), term = out;
  for (int k = 1; k < 20; ++k) {
    term = product(term, a);
    for (std::size_t i = 0; i < term.size(); ++i) out[i] += term[i] /= k;
  }
  while (halvings-- > 0) out = product(out, out);
  return out;
}
/// RoPE of adjacent pairs, turned by sense * angle[f].
inline Rows pair_turns(std::vector<double> const& angle, double sense = 1) {
  std::size_t const n = 2 * angle.size();
  Rows out(n * n, 0.0);
  for (std::size_t f = 0; f < angle.size(); ++f) {
    double const c = std::cos(angle[f]), s = sense * std::sin(angle[f]);
    out[2 * f * n + 2 * f] = out[(2 * f + 1) * n + 2 * f + 1] = c;
    out[2 * f * n + 2 * f + 1] = -s;
    out[(2 * f + 1) * n + 2 * f] = s;
  }
  return out;
}
}  // namespace sextant::test
