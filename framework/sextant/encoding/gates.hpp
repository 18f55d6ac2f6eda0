// Per-token gates: z = (w . input) / divisor + b, an activation, a scan along the row; and all of it backwards.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/encoding/token_state.hpp>

namespace sextant::encoding {

/// One gate of one term of one layer, with its weights in double.
struct GateWork {
  Term const* term = nullptr;
  GateSpec spec;
  int index = 0;  ///< which gate of its encoding
  double divisor = 1;
  std::vector<double> projection;  ///< [heads, width], normalised if the spec says so; empty: none
  std::vector<double> norm;        ///< per head: what the raw projection was divided by
  std::vector<double> bias;        ///< [heads] or empty
  std::vector<double> weights;     ///< formula weights [heads or 1, weight_count]
  int weight_count = 0;

  int heads() const { return spec.shared_by_heads ? 1 : term->heads; }
  double const* weights_of(int head) const {
    bool const own = weights.size() > static_cast<std::size_t>(weight_count);
    return weights.data() + (own ? static_cast<std::size_t>(head) * weight_count : 0);
  }
  Head formula_head(int head) const { return {term->first_head.index + head, term->first_head.count}; }
};

/// Where a gate's input lies: element c of token i of row b for the term's head h.
template <class T>
struct GateInputRows {
  T* data = nullptr;
  std::int64_t batch = 0, head = 0, row = 0;
  int group = 1;  ///< query heads that share one input head
  int width = 0;
  T* at(int b, int h, int i) const { return data + b * batch + (h / group) * head + i * row; }
};

/// Fills z and value of tokens [first, first + count).
template <class T>
void gate_forward(Exec const& exec, GateWork const& work, GateInputRows<T const> const& input, Tokens const& tokens,
                  GateState const& gate);

struct GateGradients {
  std::vector<double> projection, bias, weights;  ///< shapes of GateWork's, raw projection
};

/// Consumes gate.grad; adds to grad_input and returns the gradients of what the gate owns. Tokens start at 0.
template <class T>
GateGradients gate_backward(Exec const& exec, GateWork const& work, GateInputRows<T const> const& input,
                            GateInputRows<T> const& grad_input, Tokens const& tokens, GateState const& gate);

}  // namespace sextant::encoding
