#pragma once
#include <sextant/pretrained/gguf.hpp>
#include <sextant/tokens/vocabulary.hpp>

namespace sextant::pretrained {

/// The tokenizer.ggml.* keys; nothing where the file has none. Whether they make sense is the tokenizer's to judge.
std::optional<tokens::Vocabulary> read_vocabulary(Gguf const& file);

}  // namespace sextant::pretrained
