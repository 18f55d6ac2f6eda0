// LongRoPE: a divisor for every pair, from one list within the original length and from another beyond it.
//
//   inv_freq_f / short_factor[f]  if the sequence is at most L tokens long, else  inv_freq_f / long_factor[f]
//   cos and sin times sqrt(1 + ln s / ln L), in both regimes
//   tokens before kept_tokens turn as trained: frequencies and magnitude stay
//
// The regime is that of the sequence itself, whatever is allocated or stands beside it. Source: Ding et al., "LongRoPE",
// arXiv:2402.13753, equation 3 (lambda_i for n >= n-hat, 1 before); attention factor and regimes as released with Phi-3;
// first tokens as in the authors' MixedLongRoPEScaledRotaryEmbedding.
#include <common/scaling.hpp>

namespace sextant::plugins {
struct LongRope : ByFactor, ByLength {
  Numbers short_factor, long_factor;
  std::optional<double> attention_factor_;
  int kept_tokens = 0;

  static constexpr char const* summary = "a divisor for every pair, one list for short sequences and one for long";
  static constexpr char const* formula =
      "inv_freq_f / short[f], or / long[f] past L; cos and sin times sqrt(1 + ln s/ln L)";
  static constexpr bool follows_length = true;

  static std::vector<Example> examples() {
    return {{{{"factor", 4.0}, {"short_factor", std::vector<double>{1}}, {"long_factor", std::vector<double>{4}}}, {}},
            {{{"factor", 4.0},
              {"original_length", std::int64_t{16}},
              {"short_factor", std::vector<double>{1, 1, 1.25, 1.5}},
              {"long_factor", std::vector<double>{1, 1.5, 3, 4}}},
             {}},
            {{{"factor", 4.0},
              {"original_length", std::int64_t{16}},
              {"short_factor", std::vector<double>{1}},
              {"long_factor", std::vector<double>{1, 1.5, 3, 4}},
              {"kept_tokens", std::int64_t{4}}},
             {}}};
  }

  static auto schema() {
    return length_option(factor_schema<LongRope>())
        .option("short_factor", &LongRope::short_factor,
                "divisor of each pair's frequency, or of all, up to original_length", positive, required)
        .option("long_factor", &LongRope::long_factor,
                "divisor of each pair's frequency, or of all, past original_length", positive, required)
        .option("attention_factor", &LongRope::attention_factor_,
                "multiplies cos and sin, in place of the computed value", positive,
                MayBeAuto{"sqrt(1 + ln factor / ln original_length)"})
        .option("kept_tokens", &LongRope::kept_tokens, "first tokens of a sequence, which turn as trained", at_least(0),
                Unit{"tokens"});
  }
  double kept() const { return kept_tokens; }
  void check(ScalingContext const& at) const {
    check_factor("longrope", at);
    check_length("longrope", at);
    expect(trained(at) > 1, "longrope.original_length is ", trained(at), ", expected at least 2");
    check_list("short_factor", short_factor, at);
    check_list("long_factor", long_factor, at);
  }
  static void check_list(char const* name, Numbers const& list, ScalingContext const& at) {
    expect(list.count == 1 || list.count == at.rotary_dim / 2, "longrope.", name, " has ", list.count,
           " entries, expected ", at.rotary_dim / 2, ", one a pair of rotary_dim ", at.rotary_dim, ", or one for all");
  }
  template <class T>
  T inv_freq(T const& plain, ScalingContext const& at) const {
    Numbers const& list = reach(at) > 1 ? long_factor : short_factor;
    return plain / T(list[list.count > 1 ? at.pair : 0]);
  }
  double attention_factor(ScalingContext const& at) const {
    if (attention_factor_) return *attention_factor_;
    return s(at) > 1 ? std::sqrt(1 + std::log(s(at)) / std::log(trained(at))) : 1;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::LongRope, "longrope", "arXiv:2402.13753")
