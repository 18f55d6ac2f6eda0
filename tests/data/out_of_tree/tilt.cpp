// Tilt: the smallest encoding, one penalty per token of distance, the same in every head. Made up for the install test.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Tilt {
  double rate = 0.1;

  static constexpr char const* summary = "a penalty linear in distance, the same in every head";
  static constexpr char const* formula = "logit(i, j) += -rate |p_i - p_j|";
  static constexpr bool relative = true;

  static auto schema() { return Schema<Tilt>{}.option("rate", &Tilt::rate, "penalty per token", positive); }

  template <class T>
  struct Weights {
    T rate;
  };
  Weights<double> init(int, int) const { return {rate}; }

  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    return -w.rate * T(at.distance());
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Tilt, "tilt", "this repository")
