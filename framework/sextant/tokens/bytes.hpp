// Bytes as a vocabulary like any other: token 65 is the byte 65.
#pragma once
#include <sextant/tokens/vocabulary.hpp>

namespace sextant::tokens {

/// 256 tokens and no merges: a byte-level BPE that leaves every byte alone.
Vocabulary byte_vocabulary();

}  // namespace sextant::tokens
