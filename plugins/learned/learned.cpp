// Learned absolute encoding: a trained row per position, added to the token embedding.
//
//   y_i = c x_i + W[p_i],  W [max_length, model_dim]
//
// A position past the table is an error: the table has no row for it, and no clamp or wrap stands in for one.
//
// Source: Gehring et al. arXiv:1705.03122; Devlin et al. arXiv:1810.04805.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
struct Learned {
  int max_length = 2048;
  double embed_scale = 1;

  static constexpr char const* summary =
      "a trained table of positions, added to the token embedding; ends with its table";
  static constexpr char const* formula = "y_i = embed_scale x_i + W[p_i]";

  static std::vector<Example> examples() { return {{{{"max_length", std::int64_t{64}}}, {}}}; }
  static std::vector<Equality> equals() {
    return {{"with an empty table", {{{"max_length", std::int64_t{64}}}, {}}, {"nope", {}, {}}, {{"table", 0.0}}}};
  }

  static auto schema() {
    return Schema<Learned>{}
        .option("max_length", &Learned::max_length, "rows of the table: the longest input it can ever read",
                at_least(1), Unit{"tokens"})
        .option("embed_scale", &Learned::embed_scale, "multiplies the token embedding", positive);
  }
  int table_length() const { return max_length; }
  double token_scale(Shape const&) const { return embed_scale; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Learned, "learned", "arXiv:1705.03122")
