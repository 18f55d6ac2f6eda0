// T5's relative bias: offsets fall into buckets, exact when near and logarithmic when far, each with a trained bias.
//
//   logit(h, i, j) += W[h][bucket(p_j - p_i)]
//
// Source: Raffel et al., arXiv:1910.10683, section 2.1, and the released code's bucket rule. The floor is of the exact
// real number; 1e-9 is added before it so that exact integers fall in the upper bucket.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct T5 {
  int num_buckets = 32;
  double max_distance = 128;
  bool bidirectional = false;

  static constexpr char const* summary = "a trained bias per head and distance bucket, logarithmic when far";
  static constexpr char const* formula = "logit(i, j) += W[h][bucket(p_j - p_i)]";
  static constexpr bool relative = true;
  static constexpr bool stretches = true;
  static constexpr bool shared_by_layers = true;
  static constexpr char const* weight_name = "relative_bias";

  static std::vector<Equality> equals() {
    return {{"with every bias 0", {}, {"nope", {}, {}}, {{"relative_bias", 0.0}}}};
  }

  static auto schema() {
    return Schema<T5>{}
        .option("num_buckets", &T5::num_buckets, "biases per head", between(2, 1024))
        .option("max_distance", &T5::max_distance, "from here on all distances share the last bucket", above(1),
                Unit{"tokens"})
        .option("bidirectional", &T5::bidirectional, "half of the buckets for keys after the query");
  }
  void check(Shape const&) const {
    int const exact = (bidirectional ? num_buckets / 2 : num_buckets) / 2;
    expect(exact >= 1, "t5.num_buckets is ", num_buckets, ", expected at least ", bidirectional ? 4 : 2);
    expect(!bidirectional || num_buckets % 2 == 0, "t5.num_buckets is ", num_buckets,
           ", expected an even number with bidirectional");
    expect(max_distance > exact, "t5.max_distance is ", max_distance, ", expected more than the ", exact,
           " distances that have a bucket each");
  }

  template <class T>
  using Weights = WeightArray<T>;
  int weight_count(Shape const&) const { return num_buckets; }
  double init(int head, int n, Shape const& shape, Stream const& stream) const {
    return stream.normal(static_cast<std::uint64_t>(head) * num_buckets + n) / std::sqrt(shape.model_dim);
  }

  /// Bucket of key - query in tokens.
  KOKKOS_FUNCTION int bucket(double ahead) const {
    int const buckets = bidirectional ? num_buckets / 2 : num_buckets;
    int const start = bidirectional && ahead > 0 ? buckets : 0;
    double const n = bidirectional ? std::abs(ahead) : (ahead < 0 ? -ahead : 0);
    int const exact = buckets / 2;
    if (n < exact) return start + static_cast<int>(n);
    double const far = std::log(n / exact) / std::log(max_distance / exact) * (buckets - exact);
    int const at = exact + static_cast<int>(std::floor(far + 1e-9));
    return start + (at < buckets - 1 ? at : buckets - 1);
  }

  template <class T>
  KOKKOS_FUNCTION T bias(Weights<T> const& w, Site<T> const& at) const {
    return w[bucket(-static_cast<double>(at.offset()))];
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::T5, "t5", "arXiv:1910.10683")
