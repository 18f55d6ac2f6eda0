// DroPE: positions dropped after training. No pair turns any more; the softmax may be sharpened.
//
//   inv_freq'_f = 0;  l_ij = temperature q_i . k_j / sqrt(D)
//
// Source: Gelberg et al., "Extending the Context of Pretrained LLMs by Dropping Their Positional Embeddings",
// arXiv:2512.12167: after a short recalibration at the trained length, which `vary` with stage train gives. The released
// code sets the scale of the softmax by hand, as `temperature` does.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Drope {
  double temperature = 1;

  static constexpr char const* summary = "drops the turn of query and key after training";
  static constexpr char const* formula = "inv_freq = 0; content logits times temperature";

  static auto schema() {
    return Schema<Drope>{}.option("temperature", &Drope::temperature,
                                  "multiplies query . key; above 1 sharpens the softmax", positive);
  }
  template <class T>
  T inv_freq(T const&, ScalingContext const&) const {
    return T(0);
  }
  double query_scale(double, int, ScalingContext const&) const { return temperature; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Drope, "drope", "arXiv:2512.12167")
