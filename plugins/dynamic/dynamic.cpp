// Dynamic NTK: the base grows with the length of each sequence, and is the trained one within the trained length.
//
//   base' = base (s n / L - (s - 1))^(d / (d - 2)),  n = max(length of the sequence, L)
//
// Source: emozilla's dynamic scaling of bloc97's NTK-aware method; Peng et al., YaRN, arXiv:2309.00071, section 3.3; the
// rule with s is that of transformers. A sequence is a row and document: its largest position + 1 tokens long.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct DynamicNtk : ByLength {
  double factor = 1;

  static constexpr char const* summary = "raises the base as far as each sequence is longer than the trained length";
  static constexpr char const* formula = "inv_freq_f * (s n/L - (s-1))^(-2f/(d-2)), n = max(length, L)";
  static constexpr bool follows_length = true;

  static auto schema() {
    return length_option(Schema<DynamicNtk>{}.option(
        "factor", &DynamicNtk::factor,
        "s: how fast the base grows; 1: the slowest pair slows by length / trained length", at_least(1)));
  }
  void check(ScalingContext const& at) const {
    check_length("dynamic", at);
    check_raised("dynamic", at);
  }
  double grown(ScalingContext const& at) const {
    double const reached = reach(at);
    return reached > 1 ? factor * reached - (factor - 1) : 1;
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    return raised(plain, grown(at), at);
  }
  Ladder ladder(Ladder const& before, ScalingContext const& at) const { return raised(before, grown(at), at); }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::DynamicNtk, "dynamic", "arXiv:2309.00071")
