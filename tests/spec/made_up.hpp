// Made-up plugins to read specs with: the reader knows plugins by description alone.
#pragma once
#include <sextant/spec/spec.hpp>

namespace sextant::test {

inline encoding::Option option(std::string name, encoding::Kind kind, std::optional<encoding::Value> fallback,
                               encoding::Range range = {}, std::string auto_meaning = "",
                               std::vector<std::string> choices = {}) {
  return {.name = std::move(name),
          .help = "made up",
          .unit = "",
          .kind = kind,
          .fallback = std::move(fallback),
          .auto_meaning = std::move(auto_meaning),
          .choices = std::move(choices),
          .range = range};
}

inline encoding::Description plugin(std::string name, encoding::Role role, std::vector<encoding::Option> options = {},
                                    bool takes_parts = false) {
  encoding::Description description;
  description.name = std::move(name);
  description.role = role;
  description.options = std::move(options);
  description.takes_parts = takes_parts;
  return description;
}

inline spec::Catalogue const& made_up_plugins() {
  using namespace encoding;
  using enum Role;
  Value const automatic = Auto{};
  static spec::Catalogue const catalogue({
      plugin("nope", encoding),
      plugin("sinusoidal", encoding),
      plugin("rope", encoding,
             {option("base", Kind::number, 10000.0, positive),
              option("layout", Kind::text, std::string("half"), {}, "", {"half", "interleaved"}),
              option("rotary_dim", Kind::integer, automatic, at_least(2), "the head width")}),
      plugin("alibi", encoding,
             {option("train_slopes", Kind::boolean, false), option("slope_scale", Kind::number, 1.0, positive)}),
      plugin("direct_sum", encoding,
             {option("over", Kind::text, std::string("channels"), {}, "", {"channels", "heads"}),
              option("shares", Kind::integers, std::vector<double>{1, 1}, at_least(1))},
             true),
      plugin("linear", scaling, {option("factor", Kind::number, {}, at_least(1), "evaluated length / trained length")}),
      plugin("ntk", scaling, {option("factor", Kind::number, {}, at_least(1), "evaluated length / trained length")}),
      plugin("yarn", scaling,
             {option("factor", Kind::number, {}, at_least(1), "evaluated length / trained length"),
              option("original_length", Kind::integer, automatic, at_least(1), "trained_length"),
              option("attention_factor", Kind::number, automatic, positive, "0.1 ln factor + 1")}),
  });
  return catalogue;
}

}  // namespace sextant::test
