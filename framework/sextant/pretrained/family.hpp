// The kinds of models that can be imported, and in what they differ from Llama.
#pragma once
#include <sextant/model/config.hpp>
#include <sextant/pretrained/description.hpp>

namespace sextant::pretrained {

struct Family {
  char const* name;  ///< transformers' model_type, and the general.architecture of GGUF files where it has its own
  bool qkv_bias = false;
  bool qk_norm = false;
  model::MlpKind mlp = model::MlpKind::swiglu;
  bool scales_embedding = false;  ///< by sqrt(width)
  bool gains_less_one = false;    ///< in transformers' files
  bool ties_embedding = false;    ///< unless config.json says otherwise
};

/// Throws Error with the reason for models that are known and compute something else, or with the nearest name.
Family const& family(std::string const& name, std::string const& where);

/// Throws Error beginning with `where` for sizes out of range.
void check_config(model::ModelConfig const& config, std::string const& where);

}  // namespace sextant::pretrained
