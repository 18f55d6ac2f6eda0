// What a file says about its tokenizer, before anything is made of it: plain data, filled from the metadata of a GGUF file
// or from a tokenizer.json, and handed to Tokenizer.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace sextant::tokens {

/// GGUF's numbers (tokenizer.ggml.token_type).
enum class TokenType : std::uint8_t { normal = 1, unknown = 2, control = 3, user_defined = 4, unused = 5, byte = 6 };

/// White space that a special token swallows beside itself; only tokenizer.json can ask for it.
struct Strip {
  bool left = false, right = false;
};

struct Vocabulary {
  std::string where;  ///< the file, as error messages name it

  std::string model;                ///< tokenizer.ggml.model: "gpt2" (byte-level BPE) or "llama" (SentencePiece BPE)
  std::string pre;                  ///< tokenizer.ggml.pre: name of the pre-tokenizer; see split_rules()
  std::vector<std::string> tokens;  ///< tokenizer.ggml.tokens, as written there: byte-level characters for gpt2
  std::vector<TokenType> types;     ///< tokenizer.ggml.token_type; empty: all normal
  std::vector<float> scores;        ///< tokenizer.ggml.scores; llama only
  std::vector<std::string> merges;  ///< tokenizer.ggml.merges, "left right", the first merges first; gpt2 only

  std::optional<std::int32_t> bos, eos, unk, pad;  ///< tokenizer.ggml.{bos,eos,unknown,padding}_token_id
  std::optional<bool> add_bos, add_eos;  ///< tokenizer.ggml.add_{bos,eos}_token; unset: as the model's kind has it
  std::optional<bool> add_space_prefix;  ///< tokenizer.ggml.add_space_prefix; llama only, unset: true

  // What a name stands for in a GGUF file and tokenizer.json spells out. Leave as they are when `pre` is set.
  std::vector<std::string> splits;    ///< regular expressions, each splits the pieces of the one before
  std::optional<bool> ignore_merges;  ///< a piece that is a token is taken whole, whatever the merges say
  bool prefix_space = false;          ///< a text that does not begin with a space is given one
  bool nfc = false;                   ///< text is normalised to NFC first
  bool unk_for_bytes = false;         ///< a byte without token becomes unk; otherwise it is dropped, and counted
  bool fuse_unk = false;              ///< neighbouring unk become one
  std::vector<Strip> strips;          ///< by token; empty: none strips
};

}  // namespace sextant::tokens
