// Faults that other programs had with these descriptions; the numbers are those of the reports.
#include <cmath>

#include "support.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
std::string yarn(std::string const& more, std::string const& theta = "10000.0") {
  return R"({"head_dim": 128, "rope_theta": )" + theta + R"(, "rope_scaling": {"rope_type": "yarn")" + more + "}}";
}
// The line of flags, as a map.
double flag(std::string const& line, std::string const& name) {
  auto const at = line.find(name + " ");
  REQUIRE(at != std::string::npos);
  return std::stod(line.substr(at + name.size()));
}
}  // namespace

TEST_CASE("dialect: R11 a magnitude that is given replaces the computed one, and is applied once",
          "[dialect][reports]") {
  std::string const base = R"(, "original_max_position_embeddings": 4096, "factor": )";
  auto const of = [&](std::string const& more) {
    return ladder_at(read_as("hf", yarn(base + more)), 4096).attention_factor;
  };
  CHECK(of("64") == Catch::Approx(1.4158883).epsilon(1e-7));
  CHECK(of(R"(64, "attention_factor": 1.0)") == 1);
  CHECK(of(R"(128, "attention_factor": 1.4852030)") == 1.4852030);
  // llama.cpp and vLLM multiply the computed value, so the quotient is what they are given
  auto const flags = translated("hf", "llamacpp", yarn(base + R"(64, "attention_factor": 1.0)"));
  CHECK(flag(flags.text, "--yarn-attn-factor") == Catch::Approx(1 / (0.1 * std::log(64.0) + 1)).epsilon(1e-12));
  CHECK(holds(join(flags.remarks.lost), "ARCH.rope.scaling.attn_factor"));
  auto const vllm = json::parse(translated("hf", "vllm", yarn(base + R"(128, "attention_factor": 1.4852030)")).text);
  CHECK(vllm["rope_parameters"]["attn_factor"] == Catch::Approx(1).epsilon(1e-7));  // it is what they compute
  auto const keys = translated("hf", "gguf", yarn(base + R"(4, "attention_factor": 1.25)"));
  CHECK(ladder_at(read_as("gguf", keys.text), 4096).attention_factor == Catch::Approx(1.25).epsilon(1e-13));
}

TEST_CASE("dialect: R12 bands lie by the original length, which yarn asks for by name", "[dialect][reports]") {
  auto const form = read_as("hf", yarn(R"(, "factor": 8, "original_max_position_embeddings": 4096)"));
  auto const f = ladder_at(form, 32768).inv_freq;
  CHECK(f[0] == 1);
  CHECK(f[20] == Catch::Approx(0.05623413).epsilon(1e-7));
  CHECK(f[32] == Catch::Approx(0.00596154).epsilon(1e-6));
  CHECK(f[46] == Catch::Approx(1.6669018e-4).epsilon(1e-7));
  CHECK(f[63] == Catch::Approx(1.4434775e-5).epsilon(1e-7));
  CHECK(holds(refused("hf", "sextant", yarn(R"(, "factor": 8)")),
              "rope_scaling.original_max_position_embeddings is missing: yarn needs the length"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling yarn --rope-scale 8 --rope-freq-base 10000"),
              "--yarn-orig-ctx is missing"));
  CHECK(holds(refused("gguf", "hf", "llama.rope.scaling.type = yarn\nllama.rope.scaling.factor = 8"),
              "original_context_length is missing"));
}

TEST_CASE("dialect: R17 a reciprocal is refused with a word on which way the factor points", "[dialect][reports]") {
  auto const linear = [](char const* factor) {
    return std::string(R"({"rope_theta": 10000.0, "rope_scaling": {"type": "linear", "factor": )") + factor + "}}";
  };
  CHECK(ladder_at(read_as("hf", linear("8")), 100).inv_freq[0] == 0.125);
  auto const message = refused("hf", "llamacpp", linear("0.125"));
  CHECK(holds(message, "there:1:70: rope_scaling.factor is 0.125, expected a number >= 1"));
  CHECK(holds(message, "target length / trained length"));
  CHECK(holds(message, "its reciprocal, 8?"));
  CHECK(translated("hf", "llamacpp", linear("8")).text ==
        "--rope-scaling linear --rope-scale 8 --rope-freq-base 10000\n");
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling linear --rope-scale 0.125"), "its reciprocal, 8?"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling linear --rope-freq-scale 8"), "did you mean --rope-scale 8?"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scale 8 --rope-freq-scale 0.25"),
              "expected one of them, or reciprocals"));
  CHECK(translated("llamacpp", "gguf", "--rope-freq-scale 0.125 --rope-freq-base 10000").text ==
        "general.architecture = llama\nllama.rope.freq_base = 10000\nllama.rope.scaling.type = linear\n"
        "llama.rope.scaling.factor = 8\n");
}

TEST_CASE("dialect: R18 the base that is given holds under every scaling", "[dialect][reports]") {
  auto const base_of = [](Form const& form) { return dialect::number_of(form.kinds[0].encoding.options, "base"); };
  for (std::string const scaling :
       {R"({"rope_type": "linear", "factor": 4})",
        R"({"rope_type": "yarn", "factor": 4, "original_max_position_embeddings": 2048})", "null"}) {
    CHECK(base_of(read_as("hf", R"({"rope_theta": 500000, "rope_scaling": )" + scaling + "}")) == 500000);
    CHECK(base_of(read_as("hf", R"({"rope_theta": 10000, "rope_scaling": )" + scaling + "}", {.base = 1e6})) == 10000);
  }
  CHECK(base_of(read_as("vllm", R"({"rope_parameters": {"rope_type": "linear", "factor": 4}})", {.base = 1e6})) == 1e6);
  CHECK_FALSE(base_of(read_as("llamacpp", "--rope-scale 4")));
  auto const unsaid = translated("hf", "sextant", "{}");
  CHECK(holds(join(unsaid.remarks.assumed), "rope_theta is not given: 10000"));
}

TEST_CASE("dialect: R21 a misspelt or foreign key is refused with its place and the nearest one",
          "[dialect][reports]") {
  CHECK(
      holds(refused("hf", "gguf",
                    yarn(",\n \"factor\": 4, \"attn_factor\": 0.88, \"original_max_position_embeddings\": 4096")),
            "there:2:15: rope_scaling.attn_factor: rope_type yarn of transformers has no key attn_factor; did you mean "
            "attention_factor"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_thta": 10000})"), "did you mean rope_theta"));
  CHECK(holds(refused("hf", "gguf", R"({"max_position_embedings": 4096})"), "did you mean max_position_embeddings"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"type": "linear", "factor": 2, "beta_fast": 32}})"),
              "has no effect under rope_type linear; it is a key of yarn"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling yarn --yarn-atn-factor 1"), "did you mean --yarn-attn-factor"));
  CHECK(
      holds(refused("llamacpp", "hf", "--rope-scaling linear --rope-scale 2 --yarn-beta-fast 8"), "under yarn alone"));
  CHECK(holds(refused("gguf", "hf", "llama.rope.freq_base = 10000\nllama.rope.freq_bse = 5"), "there:2:1: "));
  CHECK(holds(refused("gguf", "hf", "llama.rope.freq_bse = 5"), "did you mean llama.rope.freq_base"));
  CHECK(holds(refused("vllm", "hf", R"({"rope_paramters": {}})"), "did you mean rope_parameters"));
  CHECK(holds(refused("sextant", "hf", "{encoding: rope, scalings: none}"), "did you mean scaling"));
  CHECK(holds(refused("sextant", "hf", "{encoding: {use: rope, bse: 5}}"), "did you mean base"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_theta": 1, "rope_theta": 2})"), "rope_theta is given twice"));
  CHECK(holds(refused("hf", "gguf", "{\"rope_theta\": 1e4,\n"), "there:2: not JSON"));
}

TEST_CASE("dialect: R22 an unknown scheme is refused, and never taken for none", "[dialect][reports]") {
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"rope_type": "yarnn", "factor": 4}})"), "did you mean yarn"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"factor": 4}})"), "rope_type is missing"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"rope_type": "mrope", "mrope_section": [1]}})"),
              "several coordinates"));
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"rope_type": "yarn", "type": "linear", "factor": 4}})"),
              "expected one of the two, or the same"));
  CHECK(holds(refused("gguf", "hf", "llama.rope.scaling.type = 'yarnn'\nllama.rope.scaling.factor = 4"),
              "did you mean yarn"));
  CHECK(holds(refused("gguf", "hf", "phi3.rope.scaling.type = longrope"), "tensors"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling yarnn"), "expected one of none, linear, yarn"));
  CHECK(holds(refused("vllm", "hf", R"({"rope_type": "ntk", "factor": 4})"), "factor^(2 / rotary dim)"));
}

TEST_CASE("dialect: R23 a number is a number however it is written, and a quoted one is a text", "[dialect][reports]") {
  auto const of = [](std::string const& factor, std::string const& length) {
    return yarn(R"(, "factor": )" + factor + R"(, "original_max_position_embeddings": )" + length);
  };
  auto const expected = translated("hf", "sextant", of("8", "4096")).text;
  CHECK(holds(expected, "factor: 8, original_length: 4096"));
  for (auto const* factor : {"8.0", "8e0"}) CHECK(translated("hf", "sextant", of(factor, "4096.0")).text == expected);
  CHECK(holds(refused("hf", "sextant", of("8", "4096.5")), "expected a whole number"));
  CHECK(holds(refused("hf", "sextant", of("\"8\"", "4096")), "a quoted number is a text"));
}

TEST_CASE("dialect: R24 a field that is missing is named, and a default that holds is said", "[dialect][reports]") {
  CHECK(holds(refused("hf", "gguf", R"({"rope_scaling": {"rope_type": "linear"}})"),
              "rope_scaling.factor is missing: linear needs"));
  auto const told =
      translated("hf", "gguf",
                 R"({"head_dim": 64, "max_position_embeddings": 2048, "rope_scaling": {"type": "yarn", "factor": 2}})");
  CHECK(holds(join(told.remarks.assumed),
              "original_max_position_embeddings is not given: max_position_embeddings, 2048, holds"));
  CHECK(holds(refused("llamacpp", "hf", "--rope-scaling yarn"), "--rope-scale is missing"));
}

TEST_CASE("dialect: R25 a share that is no even number of channels is refused with legal ones", "[dialect][reports]") {
  auto const share = [](char const* value) {
    return std::string(R"({"head_dim": 64, "rope_theta": 10000.0, "partial_rotary_factor": )") + value + "}";
  };
  auto const message = refused("hf", "gguf", share("0.3"));
  CHECK(holds(message, "19.2 of 64 channels"));
  CHECK(holds(message, "nearby: 18 (0.28125), 20 (0.3125)"));
  CHECK(holds(translated("hf", "gguf", share("0.5")).text, "llama.rope.dimension_count = 32\n"));
  CHECK(holds(refused("gguf", "hf", "llama.attention.key_length = 64\nllama.rope.dimension_count = 19"),
              "is 19, expected an even"));
  CHECK(holds(refused("gguf", "hf", "llama.attention.key_length = 64\nllama.rope.dimension_count = 66"),
              "is 66, expected an even"));
}

TEST_CASE("dialect: R27 which channels pair up is said wherever the two sides differ", "[dialect][reports]") {
  std::string const block = "{encoding: {use: rope, layout: interleaved}, trained_length: 512}";
  CHECK(holds(join(translated("sextant", "hf", block).remarks.lost), "layout interleaved"));
  auto const keys = "llama.rope.freq_base = 10000\nllama.context_length = 512\n";
  auto const from_keys = translated("gguf", "sextant", keys);
  CHECK(holds(from_keys.text, "layout: interleaved"));
  CHECK(holds(join(from_keys.remarks.assumed), "pair by pair"));
  CHECK(holds(join(translated("hf", "gguf", R"({"rope_theta": 10000.0, "model_type": "llama"})").remarks.lost),
              "layout half"));
  CHECK_FALSE(holds(join(translated("hf", "gguf", R"({"rope_theta": 10000.0, "model_type": "qwen2"})").remarks.lost),
                    "layout"));
}

TEST_CASE("dialect: two mscale of DeepSeek become one magnitude where a dialect has one", "[dialect][reports]") {
  auto const form = read_as("hf", read_file(data_file("configs/deepseek-v3.json")));
  CHECK(form.head_width == 64);
  CHECK(ladder_at(form, 4096).attention_factor == 1);
  auto const flags = translated("hf", "llamacpp", read_file(data_file("configs/deepseek-v3.json")));
  CHECK(flag(flags.text, "--yarn-attn-factor") == Catch::Approx(1 / (0.1 * std::log(40.0) + 1)).epsilon(1e-12));
  CHECK(holds(join(flags.remarks.lost), "mscale and mscale_all_dim: the magnitude 1"));
  CHECK(holds(join(flags.remarks.lost), "softmax scale"));
  auto const file =
      "deepseek2.rope.scaling.type = yarn\ndeepseek2.rope.scaling.factor = 40\n"
      "deepseek2.rope.scaling.original_context_length = 4096\n"
      "deepseek2.rope.scaling.yarn_log_multiplier = 0.0707\n";
  auto const yarn = read_as("gguf", file).kinds[0].scalings[0];
  CHECK(dialect::number_of(yarn.options, "mscale_all_dim") == 0.707);
  CHECK(dialect::number_of(yarn.options, "mscale") == 0.707);
}
