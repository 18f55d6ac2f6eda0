// The nonlinearities of the feed-forward block, forward and backward.
#pragma once
#include <sextant/base/kokkos.hpp>

namespace sextant::kernels {

/// out = gate / (1 + e^-gate) * up.
///   gate_up [rows, 2 * width], a row's gates before its ups      out [rows, width]
template <class T>
void swiglu_forward(Exec const& exec, View2<T const> const& gate_up, View2<T> const& out);

/// grad_gate_up may be gate_up itself.
template <class T>
void swiglu_backward(Exec const& exec, View2<T const> const& gate_up, View2<T const> const& grad_out,
                     View2<T> const& grad_gate_up);

/// out = x / 2 * (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3))), as GPT-2 has it. All [rows, width]; out may be x.
/// Source: Hendrycks and Gimpel, "Gaussian Error Linear Units", arXiv:1606.08415, section 2.
template <class T>
void gelu_forward(Exec const& exec, View2<T const> const& x, View2<T> const& out);

/// grad_x may be x or grad_out.
template <class T>
void gelu_backward(Exec const& exec, View2<T const> const& x, View2<T const> const& grad_out, View2<T> const& grad_x);

/// out = gelu(gate) * up; views as swiglu's.
template <class T>
void geglu_forward(Exec const& exec, View2<T const> const& gate_up, View2<T> const& out);

/// grad_gate_up may be gate_up itself.
template <class T>
void geglu_backward(Exec const& exec, View2<T const> const& gate_up, View2<T const> const& grad_out,
                    View2<T> const& grad_gate_up);

}  // namespace sextant::kernels
