// doctor: faults of position encodings in a spec, a configuration, a model file or a study.
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/doctor/files.hpp>
#include <sextant/run/start.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::cli {
namespace {
struct DoctorArguments {
  std::string file, angles;
  doctor::Circumstances circumstances;
};

std::optional<inspect::Format> format_of(std::string const& name) {
  if (name.empty()) return std::nullopt;
  std::vector<std::string> names;
  for (auto const format : inspect::formats) {
    if (name == inspect::name_of(format)) return format;
    names.push_back(inspect::name_of(format));
  }
  fail("doctor: --angles is ", name, did_you_mean(name, names));
}

void run_doctor(DoctorArguments& a, Context& context) {
  Session const kokkos(context.threads);
  a.circumstances.angles = format_of(a.angles);
  a.circumstances.models = run::models_of(context.registry(), tasks::default_cache());
  auto const found = doctor::diagnose(a.file, a.circumstances, context.registry());
  fmt::print("{}", context.json ? doctor::diagnosis_json(found).dump(2) + "\n" : doctor::diagnosis_text(found));
  context.code = found.clean() ? done : faults;
}
}  // namespace

void add_doctor(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "doctor", "Name what is wrong with position encodings in a spec, a config.json, a GGUF model or a study",
      {"doctor experiments/quickstart", "doctor config.json --angles bf16", "doctor model.gguf --config config.json",
       "doctor results/quickstart/study.h5 --json"});
  auto const a = std::make_shared<DoctorArguments>();
  command->add_option("file", a->file, "a spec (or its folder), a config.json, a .gguf model, a study.h5")->required();
  command->add_option("--config", a->circumstances.config, "config.json that a GGUF model must agree with")
      ->type_name("FILE");
  command
      ->add_option("--angles", a->angles,
                   "numbers that angles are formed in: fp64, fp32, bf16, fp16 (default: as the "
                   "program that runs such files)")
      ->type_name("FORMAT");
  command->add_option("--spread", a->circumstances.spread, "standard deviation of content logits, for biases")
      ->check(above(0));
  command
      ->add_option("--trained", a->circumstances.given.trained_length, "trained length, where the file does not say it")
      ->check(CLI::Range(2, 1 << 30));
  takes_json(command, context);
  command->callback([a, &context] { run_doctor(*a, context); });
}

}  // namespace sextant::cli
