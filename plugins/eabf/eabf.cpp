// EABF, entropy-aware ABF: another base, and queries past the trained length sharpened by the logarithm of their position,
// from the third layer on.
//
//   inv_freq'_f = base'^(-2f / d);  q_i times max(1, ln(p_i + 1) / ln L)  in layers first_layer, first_layer + 1, ...
//
// Source: Zhang et al., "Extending LLMs' Context Window with 100 Samples", arXiv:2401.07004, and the released code, whose
// first two layers keep their queries.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct Eabf : ByLength {
  double base = 500000;
  int first_layer = 2;

  static constexpr char const* summary = "another base, and sharper attention for queries past the trained length";
  static constexpr char const* formula = "inv_freq_f * (base'/base)^(-2f/d); q_i times max(1, ln(p_i + 1)/ln L)";

  static auto schema() {
    return length_option(Schema<Eabf>{}.option("base", &Eabf::base, "theta of the new ladder", above(1)))
        .option("first_layer", &Eabf::first_layer, "layers before this one, counted from 0, keep their queries",
                at_least(0));
  }
  void check(ScalingContext const& at) const {
    check_rebased("eabf", at);
    check_length("eabf", at);
    expect(trained(at) > 1, "eabf.original_length is ", trained(at), ", expected at least 2");
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return rebased(plain, base, at);
  }
  Ladder ladder(Ladder const& before, ScalingContext const&) const { return {base, before.first}; }
  double query_scale(double position, int layer, ScalingContext const& at) const {
    if (layer < first_layer || position <= 0) return 1;
    return std::max(1.0, std::log1p(position) / std::log(trained(at)));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Eabf, "eabf", "arXiv:2401.07004")
