#include <sextant/base/error.hpp>
#include <sextant/doctor/finding.hpp>

namespace sextant::doctor {

std::vector<Check> const& checks() {
  static std::vector<Check> const all = {
      {"base", "the base supports the length: similar keys score above unlike ones everywhere", base_too_small},
      {"base-is-length", "the base is no table size", base_is_length},
      {"phase", "angles are formed in numbers that hold them", phase_precision},
      {"table", "every position has a row", table_ends},
      {"streaming", "cached keys are turned as a full pass turns them", streaming_offset},
      {"neighbour", "the token before keeps a tenth of the weight", neighbour_weight},
      {"bias-budget", "the bias leaves content a say in the trained context", bias_budget}};
  return all;
}

void tell_once(std::vector<Finding>& all, Finding finding) {
  for (auto& known : all)
    if (known.check == finding.check && known.place == finding.place && known.evidence == finding.evidence) {
      if (known.patient != finding.patient) known.patient += ", " + finding.patient;
      return;
    }
  all.push_back(std::move(finding));
}

std::vector<Finding> examine(std::vector<Patient> const& patients) {
  std::vector<Finding> out;
  for (auto const& check : checks())
    for (auto const& patient : patients)
      for (auto& finding : check.look(patient)) tell_once(out, std::move(finding));
  return out;
}

}  // namespace sextant::doctor
