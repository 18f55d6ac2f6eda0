// Sources: transformers 4.55 and 5.24 (modeling_rope_utils.py); vLLM (rotary_embedding/__init__.py).
#include <sextant/dialect/rope_block.hpp>

namespace sextant::dialect {
namespace {
std::vector<Word> const original = {{"original_length", "original_max_position_embeddings"}};

std::vector<Word> with_original(std::vector<Word> words) {
  words.insert(words.end(), original.begin(), original.end());
  return words;
}

std::vector<Word> const factor_alone = {{"factor", "factor"}};
std::vector<Word> const yarn_words = with_original(
    {{"factor", "factor"}, {"beta_fast", "beta_fast"}, {"beta_slow", "beta_slow"}, {"truncate", "truncate"}});
std::vector<Word> const llama3_words = with_original({{"factor", "factor"},
                                                      {"low_freq_factor", "low_freq_factor", true},
                                                      {"high_freq_factor", "high_freq_factor", true}});
std::vector<Word> const lists = with_original({{"short_factor", "short_factor"}, {"long_factor", "long_factor"}});

std::vector<Word> plus(std::vector<Word> words, std::vector<Word> const& more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::vector<Method> hugging_face() {
  return {{"linear", "linear", factor_alone},
          {"dynamic", "dynamic", factor_alone},
          {"yarn", "yarn", plus(yarn_words, {{"mscale", "mscale"}, {"mscale_all_dim", "mscale_all_dim"}}),
           Magnitude::whole},
          {"longrope", "longrope", plus(lists, factor_alone), Magnitude::whole},
          {"su", "longrope", plus(lists, factor_alone), Magnitude::whole},
          {"llama3", "llama3", llama3_words}};
}

std::pair<char const*, char const*> const sections = {
    "mrope", "it turns sections of a head by several coordinates; rope2d and rope3d lay their axes out otherwise"};
}  // namespace

Tongue const& transformers() {
  static Tongue const tongue{"transformers", hugging_face(), {sections}, true};
  return tongue;
}

Tongue const& reference_cases() {
  static Tongue const tongue = [] {
    Tongue words{"the reference cases", hugging_face(), {}, true};
    words.methods.push_back({"ntk", "ntk", factor_alone});
    words.methods.push_back(
        {"ntk_by_parts", "ntk_by_parts", with_original({{"factor", "factor"}, {"alpha", "alpha"}, {"beta", "beta"}})});
    return words;
  }();
  return tongue;
}

Tongue const& transformers4() {
  static Tongue const tongue{"transformers 4",
                             hugging_face(),
                             {sections, {"proportional", "transformers 4 has no such rope_type; write --to hf"}},
                             false};
  return tongue;
}

Tongue const& vllm() {
  static Tongue const tongue{
      "vLLM",
      {{"linear", "linear", factor_alone},
       {"dynamic", "dynamic", factor_alone},
       {"yarn", "yarn", yarn_words, Magnitude::relative},
       {"longrope", "longrope", lists, Magnitude::two_scales},
       {"llama3", "llama3", llama3_words}},
      {sections,
       {"ntk", "vLLM's also divides every frequency by factor^(2 / rotary dim), which no scaling here does"},
       {"xdrope", "it turns sections of a head by several coordinates"},
       {"deepseek_yarn", "it belongs to DeepSeek's own attention; translate the model's config.json with --from hf"},
       {"mllama4", "it belongs to a vision encoder"},
       {"proportional", "this table of vLLM's words has no such rope_type"}},
      false};
  return tongue;
}

}  // namespace sextant::dialect
