#include <sextant/base/error.hpp>
#include <sextant/pretrained/family.hpp>

#include <algorithm>
#include <map>

namespace sextant::pretrained {
namespace {
std::vector<Family> const families = {
    {.name = "llama"},
    {.name = "mistral"},  // GGUF files of Mistral call themselves llama
    {.name = "qwen2", .qkv_bias = true},
    {.name = "qwen3", .qk_norm = true},
    {.name = "gemma",
     .mlp = model::MlpKind::geglu,
     .scales_embedding = true,
     .gains_less_one = true,
     .ties_embedding = true},
};

std::map<std::string, char const*> const others = {
    {"gemma2", "it bounds its logits by tanh and normalises after attention and feed-forward too"},
    {"gemma3", "it normalises after attention and feed-forward too"},
    {"gemma3_text", "it normalises after attention and feed-forward too"},
    {"mixtral", "it chooses among experts"},
    {"qwen2moe", "it chooses among experts"},
    {"qwen3moe", "it chooses among experts"},
    {"phi3", "it stores query, key and value, gate and up as one matrix each"},
    {"gpt2", "it adds learned positions and biases everywhere"},
    {"gptneox", "it computes attention and feed-forward side by side"},
    {"deepseek2", "it attends through a bottleneck"},
    {"smollm3", "it turns queries and keys in some layers only, which this import does not read"},
};
}  // namespace

Family const& family(std::string const& name, std::string const& where) {
  auto const found = std::find_if(families.begin(), families.end(), [&](auto const& f) { return f.name == name; });
  if (found != families.end()) return *found;
  std::vector<std::string> names;
  for (auto const& f : families) names.emplace_back(f.name);
  auto const other = others.find(name);
  fail(where, " is ", name, other == others.end() ? "" : text(" (", other->second, ")"), ", expected one of ",
       join(names));
}

void check_config(model::ModelConfig const& config, std::string const& where) {
  try {
    config.check();
  } catch (Error const& error) {
    fail(where, ": ", error.what());
  }
}

}  // namespace sextant::pretrained
