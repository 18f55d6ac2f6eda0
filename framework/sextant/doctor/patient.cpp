#include <sextant/base/error.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/doctor/patient.hpp>
#include <sextant/spec/spec.hpp>

#include <algorithm>

namespace sextant::doctor {

std::string Patient::place(std::string const& key) const {
  auto const found = places.find(key);
  return found == places.end() ? source : found->second;
}

inspect::Subject Patient::subject(double length) const {
  return inspect::Subject(position, *registry, {shape, std::clamp(length, 2.0, double(1 << 24)), 1, layer});
}

std::optional<Patient::Frequencies> Patient::turn(double length) const {
  auto const looked_at = subject(length);
  for (std::size_t t = 0; t < looked_at.terms().size(); ++t) {
    auto const& term = looked_at.terms()[t];
    auto const& stages = term.stages;
    bool const plain = stages.rotate && stages.axes == 1 && looked_at.acts(t);
    if (!plain) continue;
    auto found = looked_at.frequencies(t);
    if (found.form.phase_gate >= 0) continue;
    found.inv_freq.resize(static_cast<std::size_t>(found.form.rotary_dim / 2));
    return found;
  }
  return std::nullopt;
}

std::vector<double> Patient::frequencies(double length) const {
  auto const found = turn(length);
  return found ? found->inv_freq : std::vector<double>{};
}

std::optional<double> Patient::base() const {
  auto const looked_at = subject(2);
  for (auto const& term : looked_at.terms())
    if (term.stages.rotate)
      if (auto const base = term.encoding->rotary(term.shape).base) return base;
  return std::nullopt;
}

std::vector<Patient> patients_of(dialect::Form const& form, std::string const& source,
                                 encoding::Registry const& registry) {
  std::vector<Patient> out;
  for (auto const& kind : form.kinds) {
    expect(dialect::has(kind.encoding.options, "base") || kind.encoding.use != "rope", source,
           ": the base is the model's own, which the description does not show: give --base");
    Patient patient{.name = kind.name, .source = source};
    encoding::Choice everywhere = kind.encoding;
    everywhere.layers.reset();
    patient.position = {{everywhere}, kind.scalings, form.trained_length};
    int const width = dialect::width_of(kind, form);
    patient.shape = {.heads = 1, .kv_heads = 1, .head_dim = width, .model_dim = width};
    patient.trained = form.trained_length;
    patient.meant = std::max(form.trained_length, form.reach);
    if (kind.window > 0) patient.meant = std::min<double>(patient.meant, kind.window);
    expect(patient.meant > 0, source,
           ": no length is said, expected max_position_embeddings or the like: give --trained");
    patient.longest = patient.meant;
    for (auto const& scaling : kind.scalings)  // where the frequencies follow the length, a config says the trained one
      if (scaling.use == "dynamic")
        patient.longest = patient.meant * dialect::number_of(scaling.options, "factor").value_or(1);
    patient.foreign = true;
    patient.angles = {inspect::Format::fp32, inspect::Way::direct, "transformers' and llama.cpp's"};
    patient.registry = &registry;
    out.push_back(std::move(patient));
  }
  return out;
}

namespace {
int first_layer(encoding::PositionChoice const& position, int layers) {
  for (int layer = 0; layer < layers; ++layer)
    for (auto const& encoding : position.encodings)
      if (!encoding.layers || encoding.layers->holds(layer)) return layer;
  return 0;
}
}  // namespace

std::vector<Patient> patients_of(spec::Spec const& spec, encoding::Registry const& registry) {
  std::vector<Patient> out;
  for (auto const& arm : spec.arms)
    for (auto const& view : arm.views) {
      auto const& model = arm.setting.model;
      Patient patient{.name = view.label == "none" ? arm.label : arm.label + " under " + view.label,
                      .source = spec.file};
      patient.position = view.position;
      patient.shape = {
          .heads = model.heads, .kv_heads = model.kv_heads, .head_dim = model.head_width, .model_dim = model.width};
      patient.trained = arm.setting.train.length;
      patient.longest = patient.trained;
      for (auto const& evaluation : arm.setting.evaluate)
        if (std::find(view.evaluations.begin(), view.evaluations.end(), evaluation.name) != view.evaluations.end())
          patient.longest =
              std::max<double>(patient.longest, std::min(evaluation.span(), evaluation.context.value_or(1 << 30)));
      patient.meant = patient.trained;
      patient.layer = first_layer(view.position, model.layers);
      patient.registry = &registry;
      if (auto const turn = patient.turn(patient.longest); turn && turn->format.angle != Format::fp64)
        patient.angles = {turn->format.angle, inspect::Way::direct, "this arm's"};
      for (auto const& [key, path] : {std::pair{"base", "position.encoding"},
                                      {"encoding", "position.encoding"},
                                      {"scaling", "position.scaling"},
                                      {"length", "train.length"}})
        patient.places[key] = spec::place_of(view.places.empty() ? arm.setting.places : view.places, path, spec.file);
      out.push_back(std::move(patient));
    }
  return out;
}

}  // namespace sextant::doctor
