// What an examination says: each fault with its place, its evidence in numbers, why it matters and what to do.
#pragma once
#include <sextant/doctor/patient.hpp>

namespace sextant::doctor {

enum class Severity {
  note,  ///< worth knowing; does not change the exit status
  fault
};

struct Finding {
  std::string check;  ///< name of the check
  Severity severity = Severity::fault;
  std::string place, patient;
  std::string evidence, why, remedy;
  std::vector<std::pair<std::string, double>> numbers;  ///< those of the evidence, by name
};

/// A check looks for one kind of fault and says nothing where it does not apply.
struct Check {
  char const* name;
  char const* what;
  std::vector<Finding> (*look)(Patient const& patient);
};
std::vector<Check> const& checks();

std::vector<Finding> base_too_small(Patient const& patient);
std::vector<Finding> base_is_length(Patient const& patient);
std::vector<Finding> phase_precision(Patient const& patient);
std::vector<Finding> table_ends(Patient const& patient);
std::vector<Finding> streaming_offset(Patient const& patient);
std::vector<Finding> neighbour_weight(Patient const& patient);
std::vector<Finding> bias_budget(Patient const& patient);

/// Smallest distance at which the sum over pairs of cos(distance * frequency) is negative: from there on a key that is
/// like the query scores below an unlike one (Men et al., arXiv:2405.14591, theorem 1). `most` + 1 where there is none.
double first_negative(std::vector<double> const& frequencies, double most);

/// All checks on all patients; a finding that several share is told once, with their names.
std::vector<Finding> examine(std::vector<Patient> const& patients);
void tell_once(std::vector<Finding>& all, Finding finding);

}  // namespace sextant::doctor
