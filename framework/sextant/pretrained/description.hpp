// What a file of weights says about its model: sizes and arithmetic, how it turns queries and keys, and where each of its
// parameters lies in the file.
#pragma once
#include <sextant/encoding/choice.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/model/config.hpp>
#include <sextant/pretrained/gguf.hpp>

namespace sextant::pretrained {

/// Who gave the tensors their names.
enum class Naming { gguf, transformers, sextant };

/// The rows of the projections to query and key within a head: channels (2i, 2i + 1) that turn together as neighbours, as GGUF
/// stores models of the Llama kind, or (i, i + n/2), as transformers stores all, and as models here have them.
enum class RowOrder { neighbours, halves };

struct Description {
  std::string family;  ///< llama, mistral, qwen2, qwen3, gemma
  std::string name;    ///< as the file calls itself; may be empty
  model::ModelConfig config;
  encoding::PositionChoice position;  ///< rotary encoding and scaling as published; layout half
  int context_length = 0;             ///< tokens that the published model takes
  Naming naming = Naming::gguf;
  RowOrder rows = RowOrder::halves;
  int rotary_dim = 0;
  bool gains_less_one = false;       ///< gains of norms are stored as what they exceed 1 by
  std::vector<std::string> remarks;  ///< what reading took for granted
};

/// Throws Error naming the key, what was found and what was expected, for what a model here could not compute.
Description describe(Gguf const& file, encoding::Registry const& registry);

/// From the text of a config.json.
Description describe(std::string const& config_json, std::string const& source, encoding::Registry const& registry);

}  // namespace sextant::pretrained
