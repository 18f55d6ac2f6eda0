#include <sextant/base/error.hpp>
#include <sextant/dialect/form.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::dialect {
using encoding::Auto;
using encoding::PositionChoice;
using encoding::Value;

void Remarks::assume(std::string sentence) { assumed.push_back(std::move(sentence)); }
void Remarks::lose(std::string sentence) { lost.push_back(std::move(sentence)); }

void expect_heeded(Given const& given, Form const& form, std::string const& source) {
  auto const same = [&](auto const& asked, auto const& said, char const* what, char const* option) {
    std::decay_t<decltype(asked)> const none{};
    expect(asked == none || said == none || asked == said, source, ": ", what, " is ", said, " there, and ", option,
           " says ", asked, ": leave ", option, " out, which is for a description without");
  };
  same(given.trained_length, form.trained_length, "the trained length", "--trained");
  same(given.head_width, form.head_width, "the width of a head", "--head-width");
  same(given.architecture, form.architecture, "the architecture", "--arch");
  std::vector<double> bases;
  for (auto const& kind : form.kinds)
    if (auto const base = number_of(kind.encoding.options, "base")) bases.push_back(*base);
  if (!bases.empty() && std::find(bases.begin(), bases.end(), given.base) == bases.end())
    same(given.base, bases.front(), "the base", "--base");
}

std::optional<double> number_of(Options const& options, std::string const& name) {
  auto const found = options.find(name);
  if (found == options.end()) return std::nullopt;
  if (auto const* whole = std::get_if<std::int64_t>(&found->second)) return static_cast<double>(*whole);
  auto const* number = std::get_if<double>(&found->second);
  return number ? std::optional(*number) : std::nullopt;
}

std::string word_of(Options const& options, std::string const& name, std::string const& fallback) {
  auto const found = options.find(name);
  return found == options.end() ? fallback : std::get<std::string>(found->second);
}

bool has(Options const& options, std::string const& name) { return options.contains(name); }

namespace {
Choice trimmed(Choice choice, Role role, Registry const& registry) {
  for (auto const& option : registry.describe(role, choice.use).options) {
    auto const given = choice.options.find(option.name);
    if (given == choice.options.end()) continue;
    given->second = option.accept(given->second);
    if (option.name == "factor" && std::holds_alternative<Auto>(given->second) && !option.fallback)
      fail(choice.use,
           ".factor is auto: it follows each evaluated length, and no other dialect says that; give a number");
    bool const same = option.fallback && option.accept(*option.fallback) == given->second;
    if (std::holds_alternative<Auto>(given->second) || (same && option.name != "base")) choice.options.erase(given);
  }
  return choice;
}
}  // namespace

Form canonical(Form form, Registry const& registry) {
  for (auto& kind : form.kinds) {
    kind.encoding = trimmed(std::move(kind.encoding), Role::encoding, registry);
    auto& options = kind.encoding.options;
    if (auto const share = number_of(options, "share"); share && form.head_width > 0) {
      registry.make_encoding(kind.encoding)->check({.head_dim = form.head_width});
      options["rotary_dim"] = static_cast<std::int64_t>(std::llround(*share * form.head_width));
      options.erase("share");
    }
    if (number_of(options, "rotary_dim") == form.head_width) options.erase("rotary_dim");
    for (auto& scaling : kind.scalings) {
      scaling = trimmed(std::move(scaling), Role::scaling, registry);
      auto const& known = registry.describe(Role::scaling, scaling.use).options;
      bool const takes =
          std::any_of(known.begin(), known.end(), [](auto const& o) { return o.name == "original_length"; });
      if (takes && !has(scaling.options, "original_length") && form.trained_length > 0)
        scaling.options["original_length"] = static_cast<std::int64_t>(form.trained_length);
    }
  }
  return form;
}

namespace {
// A constant factor on one plain ladder, as one segment of it.
Choice one_segment(Kind const& kind, double factor) {
  Choice out{"segmented_theta",
             {{"seg_start", std::vector<double>{0}},
              {"seg_base", std::vector<double>{number_of(kind.encoding.options, "base").value_or(0)}}},
             {},
             kind.encoding.layers};
  if (factor != 1) out.options["seg_rate"] = std::vector<double>{1 / factor};
  for (char const* same : {"rotary_dim", "layout"})
    if (auto const it = kind.encoding.options.find(same); it != kind.encoding.options.end()) out.options.insert(*it);
  return out;
}

Choice without_scaling(Kind const& kind) {
  if (kind.scalings.empty()) return kind.encoding;
  auto const& scaling = kind.scalings.front();
  bool const constant = kind.scalings.size() == 1 && scaling.use == "linear" && kind.encoding.use == "rope" &&
                        !has(kind.encoding.options, "turning");
  expect(constant, "layers of kind ", kind.name, " have the scaling ", scaling.use,
         " and others have another: a position block applies its scalings to every rotary encoding, and only a linear "
         "scaling of rope can be written into the encoding");
  return one_segment(kind, number_of(scaling.options, "factor").value_or(1));
}

bool alike(std::vector<Choice> const& a, std::vector<Choice> const& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](Choice const& x, Choice const& y) { return x.use == y.use && x.options == y.options; });
}
}  // namespace

PositionChoice position_of(Form const& form, Registry const& registry) {
  PositionChoice out;
  out.trained_length = form.trained_length;
  bool const one = std::all_of(form.kinds.begin(), form.kinds.end(),
                               [&](Kind const& kind) { return alike(kind.scalings, form.kinds.front().scalings); });
  Remarks ignored;
  for (auto const& kind : form.kinds) {
    expect(form.kinds.size() == 1 || kind.encoding.layers, "which layers are of kind ", kind.name,
           " is not said, expected layer_types, or num_hidden_layers with sliding_window_pattern");
    out.encodings.push_back(one ? kind.encoding : without_scaling(with_plain_base(kind, form, registry, ignored)));
  }
  if (one) out.scalings = form.kinds.front().scalings;
  return out;
}

PositionChoice completed(PositionChoice choice, Registry const& registry) {
  for (auto& encoding : choice.encodings) {
    auto const layers = encoding.layers;
    encoding = registry.complete(Role::encoding, encoding);
    encoding.layers = layers;
  }
  for (auto& scaling : choice.scalings) scaling = registry.complete(Role::scaling, scaling);
  return choice;
}

Kind with_plain_base(Kind kind, Form const& form, Registry const& registry, Remarks& remarks) {
  bool const first =
      !kind.scalings.empty() && (kind.scalings.front().use == "ntk" || kind.scalings.front().use == "abf");
  bool const reads_base = kind.scalings.size() > 1 && kind.scalings[1].use != "linear";
  if (!first || reads_base || kind.encoding.use != "rope" || !has(kind.encoding.options, "base")) return kind;
  bool const width = form.head_width > 0 || has(kind.encoding.options, "rotary_dim");
  expect(width || kind.scalings.front().use == "abf", kind.scalings.front().use,
         " becomes a base, which depends on how many channels turn: give --head-width");
  Kind changed = kind;
  changed.scalings.resize(1);
  auto const scaled = ladder(changed, form, registry, form.trained_length);
  int const d = scaled.form.rotary_dim;
  // inv_freq of the last pair is base^(-(d - 2) / d).
  double const base = std::pow(scaled.inv_freq.back(), -double(d) / (d - 2));
  remarks.lose(text("that the base ", spec::number_text(rounded(base)), " is ",
                    spec::number_text(*number_of(kind.encoding.options, "base")), " raised by ",
                    kind.scalings.front().use, ": only the raised base is written"));
  kind.encoding.options["base"] = rounded(base);
  kind.scalings.erase(kind.scalings.begin());
  return kind;
}

}  // namespace sextant::dialect
