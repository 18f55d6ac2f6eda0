// ABF, adjusted base frequency: the trained model turns on a ladder of another base.
//
//   inv_freq'_f = base'^(-2f / d)
//
// Source: Xiong et al., "Effective Long-Context Scaling of Foundation Models", arXiv:2309.16039 (base 500000); Code Llama,
// arXiv:2308.12950 (base 1000000).
#include <common/scaling.hpp>

namespace sextant::plugins {
struct Abf {
  double base = 500000;

  static constexpr char const* summary = "another base under trained weights";
  static constexpr char const* formula = "inv_freq_f * (base'/base)^(-2f/d)";

  static auto schema() { return Schema<Abf>{}.option("base", &Abf::base, "theta of the new ladder", above(1)); }
  void check(ScalingContext const& at) const { check_rebased("abf", at); }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return rebased(plain, base, at);
  }
  Ladder ladder(Ladder const& before, ScalingContext const&) const { return {base, before.first}; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Abf, "abf", "arXiv:2309.16039")
