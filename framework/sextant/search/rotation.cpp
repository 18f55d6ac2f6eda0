#include <sextant/base/error.hpp>
#include <sextant/search/rotation.hpp>

#include <algorithm>

namespace sextant::search {
using encoding::Choice;
using encoding::Position;
using encoding::Role;

Rotation::Rotation(encoding::PositionChoice const& trained, encoding::Shape const& shape, int target,
                   encoding::Registry const& registry)
    : trained_(trained), shape_(shape), registry_(registry), target_(target) {
  int const length = trained.trained_length;
  expect(length > 1, "search: the model does not say at which length it was trained");
  expect(target > length, "search: the target is ", target, " tokens, expected more than the trained length, ", length);
  expect(trained.scalings.empty(), "search: the model has the scaling ",
         trained.scalings.empty() ? "" : trained.scalings.front().use,
         " already, expected plain frequencies: the lists replace a scaling");
  factor_ = static_cast<double>(target) / length;
  Position const position(trained, registry, shape, target);
  std::vector<std::size_t> turning;
  for (std::size_t t = 0; t < position.terms().size(); ++t)
    if (position.terms()[t].stages.rotate) turning.push_back(t);
  std::string const name = position.terms().front().label;
  expect(!turning.empty(), "search: ", name, " turns no pairs of channels, expected a rotary encoding");
  expect(turning.size() == 1, "search: ", turning.size(), " encodings turn channels, expected one");
  term_ = turning.front();
  auto const& term = position.terms()[term_];
  auto const found = frequencies({});
  expect(
      !found.form.per_head && found.form.axes == 1 && found.form.phase_gate < 0 && !term.encoding->trains(term.shape),
      "search: ", term.label, " has frequencies per head, several coordinates, gates or training, ",
      "expected one fixed frequency a pair");
  plain_ = found.inv_freq;
  expect(std::all_of(plain_.begin(), plain_.end(), [](double w) { return w > 0; }), "search: some pairs of ",
         term.label, " stand still, expected all to turn");
  scaling_of(Genome{std::vector<double>(plain_.size(), factor_), 0, 1});  // throws where longrope is not there
}

Position::Frequencies Rotation::frequencies(std::vector<Choice> const& scalings) const {
  auto choice = trained_;
  choice.scalings = scalings;
  Position const position(choice, registry_, shape_, target_);
  auto const& term = position.terms()[term_];
  return position.frequencies(term, position.initial_weights(term), nullptr, target_);
}

namespace {
/// Factors are quotients of rounded frequencies: where they fall by that alone, they are made to stay.
void straighten(std::vector<double>& factors) {
  double least = 1;
  for (double& factor : factors) {
    if (factor < least && factor > least * (1 - 1e-12)) factor = least;
    least = factor;
  }
}
}  // namespace

Genome Rotation::genome_of(Choice const& scaling) const {
  auto const scaled = frequencies({scaling});
  Genome out{{}, 0, scaled.attention_factor};
  for (std::size_t pair = 0; pair < plain_.size(); ++pair) out.factors.push_back(plain_[pair] / scaled.inv_freq[pair]);
  straighten(out.factors);
  return out;
}

Choice Rotation::scaling_of(Genome const& genome) const {
  expect(registry_.has(Role::scaling, "longrope"), "search: no scaling longrope is loaded");
  Choice out{"longrope", {{"factor", factor_}}, {}};
  out.options["original_length"] = static_cast<std::int64_t>(trained_.trained_length);
  out.options["short_factor"] = std::vector<double>{1};
  out.options["long_factor"] = genome.factors;
  out.options["attention_factor"] = genome.magnitude;
  out.options["kept_tokens"] = static_cast<std::int64_t>(genome.kept);
  return out;
}

Choice Rotation::scaling_of(YarnPoint const& point) const {
  return {"yarn", {{"factor", point.factor}, {"beta_fast", point.beta_fast}, {"beta_slow", point.beta_slow}}, {}};
}

encoding::PositionChoice Rotation::under(Choice const& scaling) const {
  auto out = trained_;
  out.scalings = {scaling};
  return out;
}

YarnPoint Rotation::released_yarn() const {
  YarnPoint out{factor_, 0, 0};
  for (auto const& option : registry_.describe(Role::scaling, "yarn").options) {
    if (option.name == "beta_fast") out.beta_fast = std::get<double>(option.fallback.value());
    if (option.name == "beta_slow") out.beta_slow = std::get<double>(option.fallback.value());
  }
  return out;
}

std::vector<Start> Rotation::starts() const {
  std::vector<Start> out;
  for (char const* use : {"linear", "ntk", "yarn"}) {
    if (std::string_view(use) == "ntk" && pairs() < 2) continue;
    auto genome = genome_of({use, {{"factor", factor_}}, {}});
    expect(monotone(genome), "search: the factors that ", use, " gives fall somewhere, expected them to rise or stay");
    out.push_back({use, std::move(genome)});
  }
  return out;
}

Space Rotation::space(double step) const {
  expect(step > 0 && step < factor_, "search: the step is ", step, ", expected above 0 and below the factor, ",
         factor_);
  Space out{.pairs = pairs(), .most = 1.25 * factor_, .step = step, .kept = {}, .magnitudes = {}};
  for (int const kept : {0, 1, 2, 4, 8, 12, 16, 20, 24, 28, 32, 64, 128, 256})
    if (kept < trained_.trained_length) out.kept.push_back(kept);
  auto const published = starts();
  for (auto const& start : published) out.magnitudes.push_back(start.genome.magnitude);
  auto own = scaling_of(published.front().genome);
  own.options.erase("attention_factor");
  out.magnitudes.push_back(frequencies({own}).attention_factor);
  std::sort(out.magnitudes.begin(), out.magnitudes.end());
  out.magnitudes.erase(std::unique(out.magnitudes.begin(), out.magnitudes.end()), out.magnitudes.end());
  return out;
}

}  // namespace sextant::search
