// MLP bias: a small network maps the offset, or its logarithm, to one bias per head.
//
//   x = p_i - p_j, or sign(p_i - p_j) ln(1 + |p_i - p_j|)
//   a_0 = x,  a_l = relu(W_l a_{l-1} + b_l) for l = 1 .. layers,  logit(h, i, j) += w_h . a_layers + c_h
//
// Source: the dynamic position bias of CrossFormer, arXiv:2108.00154, and the log-spaced continuous position bias of Swin
// V2, arXiv:2111.09883, on a line of tokens. One network serves all heads of a layer.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct MlpBias {
  int width = 32;
  int layers = 1;
  bool logarithm = true;

  static constexpr int most_width = 256;
  static constexpr char const* summary = "a small trained network of the (log) offset, one output per head";
  static constexpr char const* formula = "logit(i, j) += MLP(sign(d) ln(1 + |d|))_h, d = p_i - p_j";
  static constexpr bool relative = true;
  static constexpr bool stretches = true;
  static constexpr char const* weight_name = "network";

  static std::vector<Equality> equals() { return {{"with every weight 0", {}, {"nope", {}, {}}, {{"network", 0.0}}}}; }

  static auto schema() {
    return Schema<MlpBias>{}
        .option("width", &MlpBias::width, "numbers in a hidden layer", between(1, most_width))
        .option("layers", &MlpBias::layers, "hidden layers", between(1, 4))
        .option("log", &MlpBias::logarithm, "read the logarithm of the offset instead of the offset");
  }

  template <class T>
  using Weights = WeightArray<T>;
  bool shared_by_heads() const { return true; }
  // [width] W_1, [width] b_1, then a layer each: [width, width] W, [width] b; then a head each: [width] w, c
  KOKKOS_FUNCTION int first_of_layer(int layer) const {
    return layer == 0 ? 0 : 2 * width + (layer - 1) * width * (width + 1);
  }
  KOKKOS_FUNCTION int first_of_head(int head) const { return first_of_layer(layers) + head * (width + 1); }
  int weight_count(Shape const& shape) const { return first_of_head(shape.heads); }
  /// Uniform within 1 / sqrt(inputs), weights and biases alike: kinks spread over the offsets that are common.
  double init(int, int n, Shape const&, Stream const& stream) const {
    return (2 * stream.uniform(n) - 1) / std::sqrt(n < first_of_layer(1) ? 1.0 : width);
  }

  template <class T>
  KOKKOS_FUNCTION T input(Site<T> const& at) const {
    Scalar<T> const d = at.distance(), x = logarithm ? math::log1p(d) : d;
    return T(at.offset() < 0 ? -x : x);
  }
  /// One unit of a hidden layer before its ReLU, or of the output.
  template <class T>
  static KOKKOS_FUNCTION T unit(T const* weight, T const& constant, T const* in, int inputs) {
    T sum = constant;
    for (int c = 0; c < inputs; ++c) sum += weight[c] * in[c];
    return sum;
  }
  /// The output of this head; a[layers + 1] gets every layer's activations if `all`, else a[2] serves for all in turn.
  template <class T>
  KOKKOS_FUNCTION T run(T const* w, Site<T> const& at, T (*a)[most_width], bool all) const {
    a[0][0] = input(at);
    for (int l = 0; l < layers; ++l) {
      int const inputs = l == 0 ? 1 : width;
      T const* const weight = w + first_of_layer(l);
      T const* const in = a[all ? l : l % 2];
      T* const out = a[all ? l + 1 : (l + 1) % 2];
      for (int u = 0; u < width; ++u)
        out[u] = math::max(unit(weight + u * inputs, weight[width * inputs + u], in, inputs), T(0));
    }
    T const* const last = w + first_of_head(at.head.index);
    return unit(last, last[width], a[all ? layers : layers % 2], width);
  }
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    T a[2][most_width];
    return run(w.data, at, a, false);
  }
  /// Adds g d bias / d weight: one backward pass, where forward mode would take one for every eight weights.
  void bias_gradient(double const* w, Site<double> const& at, double g, double* out) const {
    double a[5][most_width], grad[most_width], before[most_width];
    run(w, at, a, true);
    int const last = first_of_head(at.head.index);
    for (int u = 0; u < width; ++u) out[last + u] += g * a[layers][u], grad[u] = g * w[last + u];
    out[last + width] += g;
    for (int l = layers; l-- > 0;) {
      int const inputs = l == 0 ? 1 : width, first = first_of_layer(l);
      for (int c = 0; c < inputs; ++c) before[c] = 0;
      for (int u = 0; u < width; ++u) {
        if (a[l + 1][u] <= 0) continue;
        out[first + width * inputs + u] += grad[u];
        for (int c = 0; c < inputs; ++c) {
          out[first + u * inputs + c] += grad[u] * a[l][c];
          before[c] += grad[u] * w[first + u * inputs + c];
        }
      }
      std::copy(before, before + inputs, grad);
    }
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::MlpBias, "mlp_bias", "arXiv:2108.00154")
