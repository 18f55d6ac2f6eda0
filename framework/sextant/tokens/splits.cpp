// The expressions are the models' own (tokenizer.json), not llama.cpp's adaptations of them: those differ for capital letters
// beyond ASCII in tekken and gpt-4o, where llama.cpp's engine knows no \p{Lu}.
#include <algorithm>
#include <sextant/base/error.hpp>
#include <sextant/tokens/splits.hpp>

namespace sextant::tokens {
namespace {

constexpr char const* contraction = "(?i:'s|'t|'re|'ve|'m|'ll|'d)";
constexpr char const* spaces = R"(|\s*[\r\n]+|\s+(?!\S)|\s+)";

/// Llama 3 and Qwen 2 differ in how many digits stay together.
std::string words(std::string const& number) {
  return text(contraction, R"(|[^\r\n\p{L}\p{N}]?\p{L}+|)", number, R"(| ?[^\s\p{L}\p{N}]+[\r\n]*)", spaces);
}

/// Words cut where lower case is followed by upper case: Mistral's tekken, GPT-4o.
std::string cased_words(std::string const& suffix, std::string const& number) {
  std::string const upper = R"([\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}])", lower = R"([\p{Ll}\p{Lm}\p{Lo}\p{M}])";
  std::string const before = R"([^\r\n\p{L}\p{N}]?)";
  return text(before, upper, "*", lower, "+", suffix, "|", before, upper, "+", lower, "*", suffix, "|", number,
              R"(| ?[^\s\p{L}\p{N}]+[\r\n/]*)", spaces);
}

}  // namespace

std::string const& gpt2_pattern() {
  static std::string const pattern = R"('s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+)";
  return pattern;
}

std::string const& digit_pattern() {
  static std::string const pattern = R"(\p{N})";
  return pattern;
}

std::vector<SplitRule> const& split_rules() {
  static std::vector<SplitRule> const rules = [] {
    std::string const three = R"(\p{N}{1,3})", one = digit_pattern(), gpt2 = gpt2_pattern();
    std::vector<std::string> const llama3 = {words(three)}, qwen2 = {words(one)}, smollm = {one, gpt2},
                                   gpt4o = {cased_words(std::string(contraction) + "?", three)};
    return std::vector<SplitRule>{
        {"gpt-2", {gpt2}},
        {"default",  // llama.cpp's own, for files whose tokenizer it does not know
         {R"([\p{P}\$\+<=>\^~\|]+)", gpt2, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
        {"smollm", smollm},
        {"starcoder", smollm},
        {"refact", smollm},
        {"exaone", smollm},
        {"command-r", smollm},
        {"codeshell", smollm},
        {"llama-bpe", llama3, true, true},
        {"llama3", llama3, true, true},
        {"llama-v3", llama3, true, true},
        {"pixtral", llama3, true, true},
        {"smaug-bpe", llama3},
        {"glm4", llama3},
        {"chatglm-bpe", llama3},
        {"dbrx", llama3},
        {"qwen2", qwen2},
        {"stablelm2", qwen2},
        {"deepseek-r1-qwen", qwen2},
        {"tekken", {cased_words("", one)}, true, true},
        {"gpt-4o", gpt4o},
        {"llama4", gpt4o},
        {"olmo", {gpt2}},
        {"mpt", {gpt2}},
        {"phi-2", {gpt2}},
    };
  }();
  return rules;
}

SplitRule const& split_rule(std::string const& name, std::string const& where) {
  auto const& rules = split_rules();
  auto const found = std::ranges::find(rules, name, &SplitRule::name);
  if (found != rules.end()) return *found;
  std::vector<std::string> names;
  for (auto const& rule : rules) names.push_back(rule.name);
  fail(where, ": pre-tokenizer ", name.empty() ? "is not named (tokenizer.ggml.pre)" : name + " is not known",
       name.empty() ? "; known: " + join(names) : did_you_mean(name, names));
}

}  // namespace sextant::tokens
