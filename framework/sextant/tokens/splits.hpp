// The pre-tokenizers that GGUF files name: expressions that cut a text into the pieces inside which merges act.
#pragma once
#include <string>
#include <vector>

namespace sextant::tokens {

struct SplitRule {
  std::string name;  ///< tokenizer.ggml.pre
  std::vector<std::string> patterns;
  bool ignore_merges = false;
  bool add_bos = false;  ///< when the file does not say
};
std::vector<SplitRule> const& split_rules();

/// Throws Error naming the nearest name.
SplitRule const& split_rule(std::string const& name, std::string const& where);

/// The expression that Hugging Face's ByteLevel splits by, GPT-2's.
std::string const& gpt2_pattern();

/// Every number apart, Hugging Face's Digits with individual_digits.
std::string const& digit_pattern();

}  // namespace sextant::tokens
