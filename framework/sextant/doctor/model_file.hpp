// A GGUF model as the doctor sees it: what its keys say of the rotation, and what its tensors are.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/doctor/finding.hpp>

namespace sextant::doctor {

struct StoredFact {
  std::vector<std::size_t> shape;
  std::string format;  ///< F32, Q4_1, ...
};

struct ModelFile {
  std::string file;
  dialect::Form form;
  dialect::Remarks remarks;
  std::map<std::string, StoredFact> tensors;
  std::map<std::string, double> numbers;  ///< keys of the architecture with a number, without its name in front
};

/// Rotation by pretrained::rope_text, tensors by name; no weight is read.
ModelFile read_model(fs::path const& file, dialect::Given const& given, encoding::Registry const& registry);

/// Numbers of positional tables, shapes of weights against the keys, and the keys against a config.json if one is named.
std::vector<Finding> check_model(ModelFile const& model, std::string const& config, encoding::Registry const& registry);

}  // namespace sextant::doctor
