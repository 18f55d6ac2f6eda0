// Published models' rotations, as their configurations document them.
#include <cmath>

#include "support.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
struct Expectation {
  char const* file;
  char const* needs;  ///< a scaling that must be loaded
  char const* dialect;
  char const* holds;  ///< in the text written; or, with ! in front, in the refusal
};
std::vector<Expectation> const table = {
    {"smollm2-135m", "", "gguf", "llama.rope.freq_base = 100000\n"},
    {"smollm2-135m", "", "gguf", "llama.rope.dimension_count = 64\n"},
    {"smollm2-135m", "", "llamacpp", "--rope-scaling none --rope-freq-base 100000\n"},
    {"smollm2-135m", "", "sextant", "trained_length: 8192"},
    {"qwen2.5-7b-yarn", "", "llamacpp",
     "--rope-scaling yarn --rope-scale 4 --rope-freq-base 1000000 --yarn-orig-ctx 32768\n"},
    {"qwen2.5-7b-yarn", "", "vllm", R"("factor":4.0,"original_max_position_embeddings":32768)"},
    {"qwen2.5-7b-yarn", "", "gguf", "qwen2.rope.scaling.original_context_length = 32768\n"},
    {"gpt-oss-20b", "", "sextant", "truncate: false"},
    {"gpt-oss-20b", "", "gguf", "!truncate is false"},
    {"gemma-3-1b-v5", "", "hf-old", "\"rope_local_base_freq\": 10000.0"},
    {"gemma-3-1b-v5", "", "llamacpp", "!layers turn by different bases"},
    {"gemma-3-1b-v5", "", "vllm", "!layers turn by different blocks"},
    {"gemma-3-4b", "", "sextant", "seg_rate: [0.125]"},
    {"deepseek-v3", "", "hf", "\"mscale_all_dim\": 1.0"},
    {"deepseek-v2-lite", "", "sextant", "mscale: 0.707, mscale_all_dim: 0.707"},
    {"llama-3.1-8b", "llama3", "hf", "\"high_freq_factor\": 4.0"},
    {"llama-3.1-8b", "llama3", "vllm", "\"rope_type\":\"llama3\""},
    {"llama-3.1-8b", "llama3", "sextant", "original_length: 8192"},
    {"llama-3.1-8b", "llama3", "llamacpp", "!rope_freqs.weight"},
    {"llama-3.2-1b", "llama3", "sextant", "factor: 32"},
    {"phi-3-longrope", "longrope", "hf", "\"original_max_position_embeddings\": 4096"},
    {"phi-3-longrope", "longrope", "vllm", "\"rope_type\":\"longrope\""},
    {"phi-3-longrope", "longrope", "sextant", "long_factor: [1.03"},
    {"phi-3-longrope", "longrope", "gguf", "rope_factors_long.weight = [1.03"},
    {"phi-3-longrope", "longrope", "llamacpp", "!rope_factors_long.weight"},
};
}  // namespace

TEST_CASE("dialect: configurations of published models are written as documented, or refused", "[dialect][configs]") {
  int checked = 0;
  for (auto const& row : table) {
    if (*row.needs && !plugins().has(Role::scaling, row.needs)) continue;
    INFO(row.file << " to " << row.dialect);
    auto const config = read_file(data_file(std::string("configs/") + row.file + ".json"));
    bool const refuses = row.holds[0] == '!';
    std::string const found = refuses ? refused("hf", row.dialect, config) : translated("hf", row.dialect, config).text;
    INFO(found);
    CHECK(holds(found, row.holds + refuses));
    ++checked;
  }
  CHECK(checked >= 15);
}

TEST_CASE("dialect: llama 3.2 leaves fast pairs and divides slow ones by 32", "[dialect][configs]") {
  if (!plugins().has(Role::scaling, "llama3")) SKIP("no scaling llama3 is loaded");
  auto const form = read_as("hf", read_file(data_file("configs/llama-3.2-1b.json")));
  auto const f = ladder_at(form, 131072).inv_freq;  // values of R19
  CHECK(f[14] == Catch::Approx(0.003211446).epsilon(1e-6));
  CHECK(f[15] == Catch::Approx(0.001290548).epsilon(1e-6));
  CHECK(f[16] == Catch::Approx(4.2955680e-4).epsilon(1e-7));
  CHECK(f[17] == Catch::Approx(9.7082878e-5).epsilon(1e-7));
  CHECK(f[31] == Catch::Approx(9.4183067e-8).epsilon(1e-7));
}
