#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/encoding/gates.hpp>
#include <sextant/kernels/row_math.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::encoding {
namespace {

using Policy = Kokkos::RangePolicy<HostExec>;

/// Tokens whose inputs stay in the nearest cache while each head's projection passes over them.
constexpr int near_tokens = 8;

/// Whether the scan starts anew at token i of row b.
struct Restarts {
  View2<int> document;
  bool at(int b, int i) const { return i == 0 || (document.size() > 0 && document(b, i) != document(b, i - 1)); }
};

void scan_forward(Scan scan, Restarts const& restarts, int b, int first, int count, double* value, double before) {
  // On entry value holds the activations. `before`: the activation of token first - 1, for exclusive scans.
  if (scan == Scan::none) return;
  for (int i = first; i < first + count; ++i) {
    bool const anew = restarts.at(b, i);
    double const here = value[i];
    if (scan == Scan::inclusive)
      value[i] = (anew ? 0 : value[i - 1]) + here;
    else
      value[i] = anew ? 0 : value[i - 1] + before;
    before = here;
  }
}

void scan_backward(Scan scan, Restarts const& restarts, int b, int count, double* grad) {
  if (scan == Scan::none) return;
  double later = 0;  // sum of d loss / d C over later tokens of the segment
  for (int i = count - 1; i >= 0; --i) {
    double const here = grad[i];
    grad[i] = scan == Scan::inclusive ? here + later : later;
    later = restarts.at(b, i) ? 0 : later + here;
  }
}

}  // namespace

template <class T>
void gate_forward(Exec const& exec, GateWork const& work, GateInputRows<T const> const& input, Tokens const& tokens,
                  GateState const& gate) {
  int const heads = work.heads(), first = tokens.first, count = tokens.count, width = input.width;
  auto const z = gate.z, value = gate.value;
  bool const projects = !work.projection.empty(), biased = !work.bias.empty();
  std::int64_t const all = static_cast<std::int64_t>(tokens.batch) * count;
  launch_on_host(exec, "sextant::gate_projection", kernels::blocks_of(all, near_tokens),
                 std::int64_t(near_tokens) * heads * (projects ? width : 1), [=, &work](std::int64_t near) {
                   std::int64_t const begin = near * near_tokens, end = std::min(begin + near_tokens, all);
                   for (int h = 0; h < heads; ++h)
                     for (std::int64_t token = begin; token < end; ++token) {
                       int const b = static_cast<int>(token / count), i = static_cast<int>(token % count);
                       double sum = 0;
                       if (projects) {
                         double const* w = work.projection.data() + static_cast<std::size_t>(h) * width;
                         T const* x = input.at(b, h, i);
                         sum = kernels::row_sum<double>(width, [=](int c) { return w[c] * x[c]; });
                       }
                       z(b, h, first + i) = sum / work.divisor + (biased ? work.bias[h] : 0);
                     }
                 });
  Restarts const restarts{tokens.document};
  launch_on_host(exec, "sextant::gate_scan", static_cast<std::int64_t>(tokens.batch) * heads, 16 * std::int64_t(count),
                 [=, &work](std::int64_t row) {
                   int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
                   Encoding const& encoding = *work.term->encoding;
                   Head const head = work.formula_head(h);
                   double* zs = &z(b, h, 0);
                   double* values = &value(b, h, 0);
                   encoding.gate(work.index, head, work.weights_of(h), count, zs + first, values + first);
                   double before = 0;
                   if (first > 0) encoding.gate(work.index, head, work.weights_of(h), 1, zs + first - 1, &before);
                   scan_forward(work.spec.scan, restarts, b, first, count, values, before);
                 });
}

template <class T>
GateGradients gate_backward(Exec const& exec, GateWork const& work, GateInputRows<T const> const& input,
                            GateInputRows<T> const& grad_input, Tokens const& tokens, GateState const& gate) {
  int const heads = work.heads(), count = tokens.count, batch = tokens.batch, width = input.width;
  std::size_t const rows = static_cast<std::size_t>(batch) * heads;
  auto const z = gate.z, grad = gate.grad;
  bool const projects = !work.projection.empty();
  std::vector<double> weight_part(rows * work.weight_count, 0.0), bias_part(rows, 0.0);
  std::vector<double> projection_part(projects ? rows * width : 0, 0.0);
  Restarts const restarts{tokens.document};
  Kokkos::parallel_for("sextant::gate_backward", Policy(host_side(exec), 0, static_cast<std::int64_t>(rows)),
                       [=, &work, &weight_part, &bias_part, &projection_part](std::int64_t row) {
                         int const b = static_cast<int>(row / heads), h = static_cast<int>(row % heads);
                         double* g = &grad(b, h, 0);
                         scan_backward(work.spec.scan, restarts, b, count, g);
                         work.term->encoding->gate_backward(work.index, work.formula_head(h), work.weights_of(h), count,
                                                            &z(b, h, 0), g,
                                                            weight_part.data() + row * work.weight_count);
                         for (int i = 0; i < count; ++i) {
                           bias_part[row] += g[i];
                           if (!projects) continue;
                           T const* x = input.at(b, h, i);
                           double* out = projection_part.data() + row * width;
                           double const share = g[i] / work.divisor;
                           for (int c = 0; c < width; ++c) out[c] += share * x[c];
                         }
                       });
  if (projects) {
    Kokkos::parallel_for("sextant::gate_backward_input",
                         Policy(host_side(exec), 0, static_cast<std::int64_t>(batch) * count),
                         [=, &work](std::int64_t token) {
                           int const b = static_cast<int>(token / count), i = static_cast<int>(token % count);
                           for (int h = 0; h < heads; ++h) {
                             double const share = grad(b, h, i) / work.divisor;
                             double const* w = work.projection.data() + static_cast<std::size_t>(h) * width;
                             T* x = grad_input.at(b, h, i);
                             for (int c = 0; c < width; ++c) x[c] += static_cast<T>(share * w[c]);
                           }
                         });
  }
  exec.fence();

  GateGradients out;
  out.weights.assign(work.weights.size(), 0.0);
  out.bias.assign(work.bias.size(), 0.0);
  out.projection.assign(work.projection.size(), 0.0);
  for (std::size_t row = 0; row < rows; ++row) {
    std::size_t const h = row % heads;
    std::size_t const at = work.weights_of(static_cast<int>(h)) - work.weights.data();
    for (int n = 0; n < work.weight_count; ++n) out.weights[at + n] += weight_part[row * work.weight_count + n];
    if (!out.bias.empty()) out.bias[h] += bias_part[row];
    for (int c = 0; projects && c < width; ++c) out.projection[h * width + c] += projection_part[row * width + c];
  }
  if (work.spec.unit_weight)
    for (int h = 0; projects && h < heads; ++h) {  // through w / max(|w|, eps)
      double* g = out.projection.data() + static_cast<std::size_t>(h) * width;
      double const* unit = work.projection.data() + static_cast<std::size_t>(h) * width;
      double along = 0;
      if (work.norm[h] > work.spec.unit_eps)
        for (int c = 0; c < width; ++c) along += g[c] * unit[c];
      for (int c = 0; c < width; ++c) g[c] = (g[c] - along * unit[c]) / work.norm[h];
    }
  return out;
}

#define SEXTANT_INSTANTIATE(T)                                                                              \
  template void gate_forward<T>(Exec const&, GateWork const&, GateInputRows<T const> const&, Tokens const&, \
                                GateState const&);                                                          \
  template GateGradients gate_backward<T>(Exec const&, GateWork const&, GateInputRows<T const> const&,      \
                                          GateInputRows<T> const&, Tokens const&, GateState const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)

}  // namespace sextant::encoding
