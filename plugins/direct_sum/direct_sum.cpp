// Direct sum: each part acts on its own channels of every head, or on its own heads.
//
//   channels: logit = (q1 . k1 + q2 . k2 + ...) / sqrt(D) with part n turning only its slice; its bias is added whole
//   heads:    head h belongs to one part alone
//
// The scale stays that of the whole head. Over channels, a part that only biases leaves its slice plain, so
// {rope, alibi} with shares 3:1 turns three quarters of each head and adds ALiBi's bias.
//
// Source: framework definition; formulas in docs/encodings.md.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Over { channels, heads };
enum class SlopeSet { subset, full };

struct DirectSum {
  Over over = Over::channels;
  Numbers shares;
  SlopeSet slope_set = SlopeSet::subset;

  static constexpr char const* summary = "splits a head's channels, or the heads, between encodings";
  static constexpr char const* formula = "V = V_1 + V_2 + ...: part n acts on slice n alone";

  static std::vector<Example> examples() {
    return {{{{"shares", std::vector<double>{1, 1}}}, {{"rope", {}, {}}, {"alibi", {}, {}}}}};
  }
  static std::vector<Equality> equals() {
    return {{"with one part", {{{"shares", std::vector<double>{1}}}, {{"rope", {}, {}}}}, {"rope", {}, {}}, {}}};
  }

  static auto schema() {
    return Schema<DirectSum>{}
        .choice("over", &DirectSum::over, "what is split", {{"channels", Over::channels}, {"heads", Over::heads}})
        .option("shares", &DirectSum::shares, "sizes of the parts relative to one another, e.g. [3, 1]", at_least(0),
                required)
        .choice("slope_set", &DirectSum::slope_set,
                "over heads: a part's formulas see its own heads as all there are, or its place among all heads",
                {{"subset", SlopeSet::subset}, {"full", SlopeSet::full}});
  }

  std::vector<Encoding::Region> regions(Shape const& shape, int parts) const {
    expect(shares.count == parts, "direct_sum.shares has ", shares.count, " entries, expected one for each of the ",
           parts, " parts");
    expect(over == Over::heads || slope_set == SlopeSet::subset,
           "direct_sum.slope_set is full, which is for a split over heads");
    double total = 0;
    for (int n = 0; n < parts; ++n) total += shares[n];
    expect(total > 0, "direct_sum.shares sum to 0");
    int const whole = over == Over::channels ? shape.head_dim : shape.heads;
    char const* const what = over == Over::channels ? "channels" : "heads";
    std::vector<Encoding::Region> out;
    int begin = 0;
    for (int n = 0; n < parts; ++n) {
      double const size = whole * shares[n] / total;
      int const count = static_cast<int>(std::llround(size));
      expect(std::abs(size - count) < 1e-9, "direct_sum gives part ", n + 1, " of ", parts, " ", size, " of ", whole,
             " ", what, ", expected a whole number");
      Encoding::Region region{0, shape.heads, 0, shape.head_dim, slope_set == SlopeSet::full};
      (over == Over::channels ? region.channel_begin : region.head_begin) = begin;
      (over == Over::channels ? region.channels : region.heads) = count;
      out.push_back(region);
      begin += count;
    }
    return out;
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::DirectSum, "direct_sum", "framework definition")
