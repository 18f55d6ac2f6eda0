#include <sextant/doctor/files.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

namespace sextant::doctor {

std::string diagnosis_text(Diagnosis const& diagnosis) {
  std::string out =
      fmt::format("{}: {}, {} examined\n", diagnosis.file, diagnosis.kind,
                  diagnosis.examined.size() == 1 ? "one rotation or bias"
                                                 : fmt::format("{} rotations and biases", diagnosis.examined.size()));
  for (auto const& sentence : diagnosis.assumed) out += "assumed: " + sentence + "\n";
  int faults = 0, notes = 0;
  for (auto const& f : diagnosis.findings) {
    bool const fault = f.severity == Severity::fault;
    (fault ? faults : notes) += 1;
    out += fmt::format("\n{} {:<14} {}{}\n", fault ? "fault" : "note ", f.check, f.place,
                       f.patient.empty() ? "" : " (" + f.patient + ")");
    out += fmt::format("  found   {}\n  matters {}\n  do      {}\n", f.evidence, f.why, f.remedy);
  }
  out += diagnosis.findings.empty()
             ? "no finding\n"
             : fmt::format("\n{} fault{}, {} note{}\n", faults, faults == 1 ? "" : "s", notes, notes == 1 ? "" : "s");
  return out;
}

nlohmann::json diagnosis_json(Diagnosis const& diagnosis) {
  nlohmann::json out = {{"file", diagnosis.file},         {"kind", diagnosis.kind},
                        {"examined", diagnosis.examined}, {"assumed", diagnosis.assumed},
                        {"clean", diagnosis.clean()},     {"findings", nlohmann::json::array()}};
  for (auto const& check : checks()) out["checks"].push_back({{"name", check.name}, {"what", check.what}});
  for (auto const& f : diagnosis.findings) {
    nlohmann::json numbers = nlohmann::json::object();
    for (auto const& [name, value] : f.numbers) numbers[name] = value;
    out["findings"].push_back({{"check", f.check},
                               {"severity", f.severity == Severity::fault ? "fault" : "note"},
                               {"place", f.place},
                               {"patient", f.patient},
                               {"evidence", f.evidence},
                               {"why", f.why},
                               {"remedy", f.remedy},
                               {"numbers", numbers}});
  }
  return out;
}

}  // namespace sextant::doctor
