#include <sextant/base/error.hpp>
#include <sextant/check/conformance_probe.hpp>
#include <sextant/encoding/choice_text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Example;
using encoding::Kind;
using encoding::Option;
using encoding::Options;
using encoding::Value;

std::string text_of(std::vector<double> const& numbers) {
  std::vector<std::string> out;
  for (double n : numbers) out.push_back(encoding::to_text(n));
  return text("[", join(out), "]");
}

void add_new(std::vector<Value>& values, Option const& option, Value const& value) {
  try {
    Value const accepted = option.accept(value);
    if (std::find(values.begin(), values.end(), accepted) == values.end()) values.push_back(accepted);
  } catch (Error const&) {  // outside the option's range
  }
}

std::vector<double> worth_trying(Option const& option) {
  auto const& range = option.range;
  if (std::isfinite(range.least) && std::isfinite(range.most)) {
    double const span = range.most - range.least;
    if (option.kind == Kind::integer)
      return {range.least + std::floor(span / 3), range.least + 1, range.least + 2, range.least + 3, range.most};
    return {range.least + span / 2, range.least + span / 4, range.least + 3 * span / 4, range.least, range.most};
  }
  std::vector<double> out;
  double d = 0;
  if (option.fallback && std::holds_alternative<double>(*option.fallback)) d = std::get<double>(*option.fallback);
  if (option.fallback && std::holds_alternative<std::int64_t>(*option.fallback))
    d = static_cast<double>(std::get<std::int64_t>(*option.fallback));
  bool const whole = option.kind == Kind::integer || option.kind == Kind::integers;
  if (d != 0) out = {whole ? std::floor(d / 2) : d / 2, 2 * d};
  for (double more : {2.0, 4.0, 1.0, 3.0, 0.5, 8.0, 100.0, 0.0, -1.0}) out.push_back(more);
  return out;
}

/// Lists of the lengths that other lists of the plugin have, and short ones.
std::vector<Value> lists(Option const& option, std::vector<std::size_t> lengths) {
  for (std::size_t n : {1, 2, 3, 4}) lengths.push_back(n);
  std::vector<Value> out;
  for (std::size_t n : lengths)
    for (auto const& [start, step] : {std::pair{1.0, 0.0}, {1.0, 1.0}, {0.0, 1.0}, {0.0, 2.0}, {0.5, 0.25}, {2.0, 0.0}})
      add_new(out, option, run_of(static_cast<int>(n), start, step));
  return out;
}
}  // namespace

std::vector<double> run_of(int count, double start, double step) {
  std::vector<double> out;
  for (int i = 0; i < count; ++i) out.push_back(start + i * step);
  return out;
}

std::string text_of(encoding::PositionChoice const& choice) {
  std::vector<std::string> parts;
  for (auto const& part : choice.encodings) parts.push_back(text_of(part));
  std::string out = join(parts, " + ");
  for (auto const& scaling : choice.scalings) out += " scaled by " + text_of(scaling);
  return out;
}

encoding::Shape Trial::shape() const {
  return {.heads = heads, .kv_heads = kv_heads, .head_dim = head_dim, .model_dim = model_dim};
}

std::vector<double> Trial::at() const { return positions.empty() ? run_of(length) : positions; }

std::string Trial::text() const {
  std::string out = sextant::text(text_of(choice), "; batch ", batch, ", ", heads, " heads over ", kv_heads,
                                  " key heads, head_dim ", head_dim, ", model width ", model_dim, "; ", length,
                                  length == 1 ? " token" : " tokens", causal ? "" : ", not causal");
  if (!positions.empty()) out += " at " + text_of(positions);
  if (!documents.empty()) out += " of documents " + sextant::text(documents);
  if (choice.trained_length) out += sextant::text("; trained at ", choice.trained_length);
  if (target_length > 0) out += sextant::text(", target length ", target_length);
  return out;
}

Subject::Subject(encoding::Registry const& registry, encoding::Role role, std::string const& name)
    : registry_(registry), role_(role), about_(registry.describe(role, name)) {
  find_shape();
  draw();
}

bool Subject::claims(std::string const& law) const {
  return std::any_of(about_.laws.begin(), about_.laws.end(), [&](auto const& l) { return l.name == law; });
}

std::vector<Value> Subject::values_of(Option const& option) const {
  std::vector<Value> out;
  if (option.fallback) add_new(out, option, *option.fallback);
  std::vector<std::size_t> lengths;
  for (auto const& example : about_.examples) {
    auto const given = example.options.find(option.name);
    if (given != example.options.end()) add_new(out, option, given->second);
    for (auto const& [_, value] : example.options)
      if (auto const* list = std::get_if<std::vector<double>>(&value)) lengths.push_back(list->size());
  }
  switch (option.kind) {
    case Kind::boolean:
      for (bool flag : {false, true}) add_new(out, option, flag);
      break;
    case Kind::text:
      for (auto const& word : option.choices) add_new(out, option, word);
      break;
    case Kind::integer:
    case Kind::number:
      for (double number : worth_trying(option)) add_new(out, option, number);
      break;
    case Kind::integers:
    case Kind::numbers:
      for (auto const& list : lists(option, lengths)) add_new(out, option, list);
  }
  return out;
}

namespace {
/// False where some scaled frequency stays the same while the plain one moves a little, or tables are rounded: trained ones
/// then have no say.
bool moves_with_frequencies(encoding::Scaling const& scaling) {
  bool moves = !scaling.stages().rounds;
  for (int pair = 0; pair < 4; ++pair) {
    double const plain = std::pow(10000.0, -pair / 4.0);
    encoding::ScalingContext const at{
        .pair = pair, .rotary_dim = 8, .base = 10000.0, .trained_length = 16, .target_length = 16, .head_dim = 8};
    moves = moves && scaling.inv_freq(plain, at) != scaling.inv_freq(plain * 1.0001, at);
  }
  return moves;
}
}  // namespace

Trial Subject::trial(Choice const& choice) const {
  Trial out = fit_;
  if (role_ == encoding::Role::encoding) {
    out.choice.encodings = {choice};
  } else {
    // Trained frequencies or slopes, where there are any, show whether the scaling's derivative is right.
    bool const trained = registry_.has(encoding::Role::encoding, "grape_m");
    out.choice.encodings = {
        {trained && moves_with_frequencies(*registry_.make_scaling(choice)) ? "grape_m" : "rope", {}, {}}};
    if (about_.family == "biases") out.choice.encodings = {{"alibi", {{"train_slopes", true}}, {}}};
    out.choice.scalings = {choice};
  }
  out.choice.trained_length = 16;
  return out;
}

std::optional<std::string> Subject::refusal(Trial const& trial) const {
  try {
    Probe<double>(trial, registry_).attend();
    Probe<double>(trial, registry_).embed();
    return {};
  } catch (Error const& error) {
    return error.what();
  }
}

void Subject::find_shape() {
  std::vector<Choice> starts;
  for (auto const& example : about_.examples) starts.push_back({about_.name, example.options, example.parts});
  if (starts.empty()) {
    Choice plain{about_.name, {}, {}};
    for (auto const& option : about_.options)
      if (!option.fallback) plain.options[option.name] = values_of(option).front();
    if (about_.takes_parts)
      for (auto const& parts : {std::vector<Choice>{{"rope", {}, {}}}, {{"rope", {}, {}}, {"alibi", {}, {}}}}) {
        starts.push_back(plain);
        starts.back().parts = parts;
      }
    else
      starts.push_back(std::move(plain));
  }
  std::string first;
  for (int head_dim : {8, 12, 16, 24, 32, 64, 128}) {
    fit_.head_dim = head_dim;
    for (auto const& start : starts) {
      auto const reason = refusal(trial(start));
      if (!reason) {
        for (auto const& more : starts)
          if (!refusal(trial(more))) samples_.push_back({more, ""});
        return;
      }
      if (first.empty()) first = *reason;
    }
  }
  fail(about_.name, " accepts none of the shapes and options tried, with 4 heads of 8 to 128 channels: ", first,
       about_.examples.empty() ? "; a plugin may say what fits it: static std::vector<Example> examples()" : "");
}

void Subject::draw() {
  std::size_t const starts = samples_.size();
  for (auto const& option : about_.options) {
    int wanted = option.kind == Kind::text ? 100 : 2;
    auto const values = values_of(option);
    for (std::size_t start = 0; start < starts && wanted > 0; ++start)
      for (auto const& value : values) {
        Choice const full = registry_.complete(role_, samples_[start].choice);
        if (wanted == 0 || full.options.at(option.name) == value) continue;
        Sample sample{samples_[start].choice, option.name};
        sample.choice.options[option.name] = value;
        bool const known = std::any_of(samples_.begin(), samples_.end(), [&](Sample const& other) {
          return other.option == option.name && other.choice.options.at(option.name) == value;
        });
        if (known || refusal(trial(sample.choice))) continue;
        samples_.push_back(std::move(sample));
        --wanted;
      }
  }
}

}  // namespace sextant::check
