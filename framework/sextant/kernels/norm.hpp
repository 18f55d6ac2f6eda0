// RMSNorm and LayerNorm over the last axis, forward and backward, alone or together with a residual addition.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/kernels/reduce.hpp>

namespace sextant::kernels {

enum class NormKind { rmsnorm, layernorm };

/// out = gain * (x - mean) / sqrt(variance + eps) + bias for layernorm (biased variance);
/// out = gain * x / sqrt(mean(x^2) + eps) for rmsnorm, which has no bias.
template <class T>
struct Norm {
  NormKind kind = NormKind::rmsnorm;
  double eps = 1e-5;
  View1<T const> gain;  ///< [width]
  View1<T const> bias;  ///< [width], or empty
};

/// [rows, groups, width] with a contiguous last axis: one group for a layer's norm, one per head for the norm of query
/// and key, which then reads its heads where the projection left them.
template <class T>
using Groups = Kokkos::View<T***, Kokkos::LayoutStride, Memory>;

template <class T>
Groups<T> as_groups(T* data, int rows, int groups, int width, std::size_t row_stride) {
  return Groups<T>(data, Kokkos::LayoutStride(rows, row_stride, groups, static_cast<std::size_t>(width), width, 1));
}
template <class T>
Groups<T> as_groups(View2<T> const& x) {
  return as_groups(x.data(), x.extent_int(0), 1, x.extent_int(1), x.extent(1));
}

/// out [rows, groups, width]; stats [rows * groups, 2] keeps (mean, 1 / deviation) for the backward. out may be x.
template <class T>
void norm_forward(Exec const& exec, Norm<T> const& norm, Groups<T const> const& x, Groups<T> const& out,
                  View2<T> const& stats);

/// total = x + addend, out = norm(total), in one pass. All [rows, width]; stats [rows, 2]. total may be x.
template <class T>
void add_norm_forward(Exec const& exec, Norm<T> const& norm, View2<T const> const& x, View2<T const> const& addend,
                      View2<T> const& total, View2<T> const& out, View2<T> const& stats);

/// grad_x (into) = gradient of x; grad_gain and grad_bias are added to (grad_bias empty when bias is). Sums over rows
/// run in blocks of 64 rows that are added in order. grad_x may be grad_out when it is overwritten.
template <class T>
void norm_backward(Exec const& exec, Norm<T> const& norm, Groups<T const> const& x, View2<T const> const& stats,
                   Groups<T const> const& grad_out, Groups<T> const& grad_x, bool add_to_grad_x,
                   View1<T> const& grad_gain, View1<T> const& grad_bias, Scratch<T>& scratch);

}  // namespace sextant::kernels
