// How an imported model turns queries and keys, read by the `dialect` room, which knows the words of other programs.
#pragma once
#include <sextant/pretrained/description.hpp>

namespace sextant::pretrained {

/// What a GGUF file says on rotation, as the dialect gguf reads it: keys, and the tensors that divide frequencies. The one
/// route from such a file to a rotation. Throws Error for factors that are not > 0.
std::string rope_text(Gguf const& file);

/// Fills position, rotary_dim and remarks; config and context_length are there already.
void read_rope(Gguf const& file, encoding::Registry const& registry, Description& out);
void read_rope(std::string const& config_json, std::string const& source, encoding::Registry const& registry,
               Description& out);

/// Keys and queries further than `window` tokens apart do not meet, in the layers given or in all.
void add_window(int window, std::optional<encoding::LayerSet> layers, Description& out);

/// The tensors of a GGUF file that say something on rotation and are no parameters.
bool is_rope_tensor(std::string const& name);

}  // namespace sextant::pretrained
