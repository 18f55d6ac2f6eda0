// log-n scaling: content logits grow with the logarithm of the position, so that a longer row is no flatter.
//
//   l_ij = tau_i s q_i.k_j + b_ij,  tau_i = ln(p_i + 1) / ln(trained_length), at least 1 with clip
//
// Source: Su 2021, kexue.fm/archives/8823; Chiang and Cholak, arXiv:2202.12172. Biases are not multiplied.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct LogN {
  double trained_length = 0;
  bool clip = true;

  static constexpr char const* summary = "multiplies content logits by the logarithm of the query's position";
  static constexpr char const* formula =
      "logit(i, j) = tau_i s q_i.k_j + b_ij, tau_i = ln(p_i + 1) / ln(trained_length)";

  static std::vector<Example> examples() { return {{{{"trained_length", 16.0}}, {}}}; }

  static std::vector<Equality> equals() {
    return {{"within the trained length", {{{"trained_length", 4096.0}}, {}}, {"nope", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<LogN>{}
        .option("trained_length", &LogN::trained_length, "N: a query at position N - 1 has the factor 1", above(1),
                Unit{"tokens"}, required)
        .option("clip", &LogN::clip, "never below 1: within the trained length nothing changes");
  }

  double query_scale(double position) const {
    double const tau = position > 0 ? std::log1p(position) / std::log(trained_length) : 0.0;
    return clip && tau < 1 ? 1.0 : tau;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LogN, "logn", "kexue.fm/archives/8823, arXiv:2202.12172")
