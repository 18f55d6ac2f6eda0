#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/doctor/files.hpp>
#include <sextant/doctor/model_file.hpp>
#include <sextant/report/load.hpp>
#include <sextant/spec/spec.hpp>

#include <algorithm>
#include <fstream>

namespace sextant::doctor {

bool Diagnosis::clean() const {
  return std::none_of(findings.begin(), findings.end(), [](Finding const& f) { return f.severity == Severity::fault; });
}

namespace {
void prepare(std::vector<Patient>& patients, Circumstances const& circumstances) {
  for (auto& patient : patients) {
    patient.spread = circumstances.spread;
    if (circumstances.angles) patient.angles = {*circumstances.angles, inspect::Way::direct, "direct"};
  }
}

void examine_into(Diagnosis& out, std::vector<Patient> patients, Circumstances const& circumstances) {
  prepare(patients, circumstances);
  for (auto const& patient : patients) out.examined.push_back(patient.name);
  for (auto& finding : examine(patients)) tell_once(out.findings, std::move(finding));
}

// Arms that are compared need seeds: a difference of one run each may be chance.
void look_at_seeds(Diagnosis& out, spec::Spec const& spec) {
  std::size_t fewest = 1000;
  for (auto const& arm : spec.arms) fewest = std::min(fewest, arm.setting.train.seeds.size());
  if (spec.arms.size() < 2 || fewest >= 3) return;
  auto const& first = spec.arms.front().setting;
  Finding finding{.check = "seeds", .severity = Severity::note, .patient = ""};
  finding.place = spec::place_of(first.places, "train.seeds", spec.file);
  finding.evidence =
      text(spec.arms.size(), " arms are compared with ", fewest, fewest == 1 ? " seed" : " seeds", " each");
  finding.why = fewest < 2 ? "one run an arm has no spread: a difference cannot be told from chance"
                           : "two runs an arm give a spread of one degree of freedom: intervals are very wide";
  finding.remedy = "give train.seeds three or more";
  finding.numbers = {{"seeds", double(fewest)}, {"arms", double(spec.arms.size())}};
  tell_once(out.findings, std::move(finding));
}

Diagnosis diagnose_study(fs::path const& file, Circumstances const& circumstances, encoding::Registry const& registry) {
  auto const study = report::load_study(file);
  expect(!study.spec_resolved.empty(), file.string(), ": the study holds no spec, so there is nothing to examine");
  auto const spec = spec::read_spec(study.spec_resolved, file.string() + ":spec/resolved", {},
                                    spec::Catalogue(registry).know(circumstances.models));
  Diagnosis out = diagnose_spec(spec, circumstances, registry);
  out.file = file.string(), out.kind = "study";
  for (auto const& run : study.runs) {
    if (run.status != "failed") continue;
    Finding finding{.check = "run", .place = text(file.string(), ":runs/", run.id), .patient = run.encoding};
    finding.evidence = text("the run of ", run.encoding, " with seed ", run.seed, " failed: ", run.message);
    finding.why = "tables and comparisons of this study lack it";
    finding.remedy = "mend what the message names and run the spec again: finished stages are kept";
    tell_once(out.findings, std::move(finding));
  }
  return out;
}

Diagnosis diagnose_config(fs::path const& file, Circumstances const& circumstances,
                          encoding::Registry const& registry) {
  Diagnosis out{.file = file.string(), .kind = "configuration"};
  auto read = dialect::read_hf(read_file(file), file.string(), circumstances.given, registry);
  dialect::expect_heeded(circumstances.given, read.form, file.string());
  auto const form = dialect::canonical(std::move(read.form), registry);
  out.assumed = read.remarks.assumed;
  examine_into(out, patients_of(form, file.string(), registry), circumstances);
  return out;
}
}  // namespace

Diagnosis diagnose_spec(spec::Spec const& spec, Circumstances const& circumstances,
                        encoding::Registry const& registry) {
  Diagnosis out{.file = spec.file, .kind = "spec"};
  examine_into(out, patients_of(spec, registry), circumstances);
  look_at_seeds(out, spec);
  return out;
}

Diagnosis diagnose(fs::path const& file, Circumstances const& circumstances, encoding::Registry const& registry) {
  if (fs::is_directory(file) && fs::exists(file / "config.json"))
    return diagnose(file / "config.json", circumstances, registry);
  std::string head(8, '\0');
  if (std::ifstream in(file, std::ios::binary); in) in.read(head.data(), static_cast<std::streamsize>(head.size()));
  if (head.starts_with("GGUF")) {
    Diagnosis out{.file = file.string(), .kind = "model"};
    auto const model = read_model(file, circumstances.given, registry);
    dialect::expect_heeded(circumstances.given, model.form, file.string());
    out.assumed = model.remarks.assumed;
    examine_into(out, patients_of(model.form, file.string(), registry), circumstances);
    for (auto& finding : check_model(model, circumstances.config, registry))
      tell_once(out.findings, std::move(finding));
    return out;
  }
  expect(circumstances.config.empty(), file.string(), ": --config goes with a GGUF model");
  bool const configuration = file.extension() == ".json";
  expect(configuration || circumstances.given.trained_length == 0, file.string(),
         ": --trained goes with a configuration or a model, a spec says how long its models train");
  if (head.substr(1, 3) == "HDF") return diagnose_study(file, circumstances, registry);
  if (configuration) return diagnose_config(file, circumstances, registry);
  return diagnose_spec(spec::load_spec(file, {}, spec::Catalogue(registry).know(circumstances.models)), circumstances,
                       registry);
}

}  // namespace sextant::doctor
