// Examinations of what users have as files: a spec, a model's configuration, a GGUF model, a study.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/doctor/finding.hpp>
#include <sextant/spec/catalogue.hpp>

#include <nlohmann/json_fwd.hpp>

namespace sextant::doctor {

/// What the command line adds.
struct Circumstances {
  dialect::Given given;
  std::optional<inspect::Format> angles;  ///< instead of those of the program that usually runs such a file
  double spread = 1;
  std::string config;              ///< a config.json that a model file must agree with
  spec::Catalogue::Models models;  ///< looks the model up that a spec goes on from; empty: such specs are refused
};

struct Diagnosis {
  std::string file, kind;             ///< spec, configuration, model or study
  std::vector<std::string> examined;  ///< names of the patients
  std::vector<std::string> assumed;   ///< what reading took for granted
  std::vector<Finding> findings;
  bool clean() const;  ///< no fault; notes are allowed
};

/// The kind is told by the content. Throws Error for files that cannot be read.
Diagnosis diagnose(fs::path const& file, Circumstances const& circumstances, encoding::Registry const& registry);
Diagnosis diagnose_spec(spec::Spec const& spec, Circumstances const& circumstances, encoding::Registry const& registry);

std::string diagnosis_text(Diagnosis const& diagnosis);
nlohmann::json diagnosis_json(Diagnosis const& diagnosis);

}  // namespace sextant::doctor
