// KERPLE: a conditionally positive definite kernel of the distance as bias, its two numbers per head trained.
//
//   log:    logit(h, i, j) += -r1 ln(1 + r2 d)        power:  logit(h, i, j) += -r1 d^r2          d = |p_i - p_j|
//
// Source: Chi et al., "KERPLE", arXiv:2205.09921, section 4. The kernel is legal for r1, r2 > 0 and, in the power form,
// r2 <= 2. The paper moves the numbers back after every step; here one outside its bounds acts as the bound.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Kernel { log, power };

struct Kerple {
  Kernel kernel = Kernel::log;

  static constexpr double least = 0.01, most_power = 2;
  static constexpr char const* summary = "a logarithm or a power of the distance, two trained numbers per head";
  static constexpr char const* formula = "logit(i, j) += -r1_h ln(1 + r2_h |p_i - p_j|), or -r1_h |p_i - p_j|^r2_h";
  static constexpr bool relative = true;
  static constexpr bool stretches = true;
  static constexpr char const* weight_name = "kernel";

  static std::vector<Equality> equals() {
    return {{"of form power at r1 = r2 = 1, which is alibi with every slope 1",
             {{{"form", std::string("power")}}, {}},
             {"alibi", {{"slope_exponent", 1e-300}}, {}},
             {{"kernel", 1.0}}}};
  }

  static auto schema() {
    return Schema<Kerple>{}.choice("form", &Kerple::kernel, "shape of the kernel",
                                   {{"log", Kernel::log}, {"power", Kernel::power}});
  }

  template <class T>
  struct Weights {
    T r1, r2;
  };
  Weights<double> init(int head, Shape const&, Stream const& stream) const {
    double const u = stream.uniform(2 * head), v = stream.uniform(2 * head + 1);
    return kernel == Kernel::log ? Weights<double>{legal(2 * u), legal(v)} : Weights<double>{legal(u), legal(2 * v)};
  }

  template <class T>
  static KOKKOS_FUNCTION T legal(T const& r) {
    return math::max(r, T(least));
  }
  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    Scalar<T> const d = at.distance();
    if (kernel == Kernel::log) return -legal(w.r1) * math::log1p(legal(w.r2) * T(d));
    if (d == 0) return T(0);  // 0^r2 = 0, and ln 0 is nothing to differentiate
    return -legal(w.r1) * math::exp(math::min(legal(w.r2), T(most_power)) * T(math::log(d)));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Kerple, "kerple", "arXiv:2205.09921")
