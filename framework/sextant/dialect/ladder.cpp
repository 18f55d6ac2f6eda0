#include <sextant/dialect/ladder.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>

namespace sextant::dialect {

int width_of(Kind const& kind, Form const& form) {
  if (form.head_width > 0) return form.head_width;
  if (auto const turned = number_of(kind.encoding.options, "rotary_dim")) return static_cast<int>(*turned);
  for (auto const& scaling : kind.scalings)
    for (auto const& [name, value] : scaling.options)
      if (auto const* list = std::get_if<std::vector<double>>(&value)) return static_cast<int>(2 * list->size());
  return 128;
}

encoding::Position::Frequencies ladder(Kind const& kind, Form const& form, Registry const& registry, double length) {
  Choice everywhere = kind.encoding;
  everywhere.layers.reset();
  int const width = width_of(kind, form);
  encoding::Shape const shape{.heads = 1, .kv_heads = 1, .head_dim = width, .model_dim = width};
  encoding::Position const position({{everywhere}, kind.scalings, form.trained_length}, registry, shape, length);
  auto const& term = position.terms().front();
  return position.frequencies(term, position.initial_weights(term), nullptr, length);
}

double largest_difference(encoding::Position::Frequencies const& a, encoding::Position::Frequencies const& b) {
  double const infinite = std::numeric_limits<double>::infinity();
  if (a.inv_freq.size() != b.inv_freq.size()) return infinite;
  double worst = std::abs(a.attention_factor / b.attention_factor - 1);
  for (std::size_t n = 0; n < a.inv_freq.size(); ++n) {
    if (a.inv_freq[n] == b.inv_freq[n]) continue;
    worst = std::max(worst, b.inv_freq[n] == 0 ? infinite : std::abs(a.inv_freq[n] / b.inv_freq[n] - 1));
  }
  return worst;
}

double magnitude(Choice const& scaling, Kind const& kind, Form const& form, Registry const& registry) {
  Kind alone = kind;
  alone.scalings = {scaling};
  return ladder(alone, form, registry, form.reach > 0 ? form.reach : form.trained_length).attention_factor;
}

double rounded(double value) {
  char digits[40];
  std::snprintf(digits, sizeof digits, "%.14g", value);
  return std::strtod(digits, nullptr);
}

std::string plain_number(double value) {
  bool const whole = value == std::floor(value) && std::abs(value) < 1e15;
  return whole ? std::to_string(static_cast<long long>(value)) : spec::number_text(value);
}

std::vector<double> lengths_of(Form const& form) {
  double const trained = form.trained_length > 0 ? form.trained_length : 2048;
  double const reach = form.reach > trained ? form.reach : 4 * trained;
  return {std::max(2.0, std::floor(trained / 2)), trained, trained + 1, reach};
}

}  // namespace sextant::dialect
