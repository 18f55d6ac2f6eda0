// The vocabulary that comes with a model, without its weights.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/tokens/vocabulary.hpp>

namespace sextant::pretrained {

/// Of a GGUF file, of a checkpoint of `import` or of training, of a tokenizer.json, or of a folder that holds one. Throws
/// Error where there is none.
tokens::Vocabulary vocabulary_of(fs::path const& path);

}  // namespace sextant::pretrained
