#include <sextant/base/error.hpp>
#include <sextant/pretrained/names.hpp>

#include <array>

namespace sextant::pretrained {
namespace {
struct Row {
  char const *ours, *gguf, *transformers;
};
constexpr std::array whole = {
    Row{"embedding", "token_embd", "model.embed_tokens"},
    Row{"norm", "output_norm", "model.norm"},
    Row{"output", "output", "lm_head"},
};
constexpr std::array of_layer = {
    Row{"attention.norm", "attn_norm", "input_layernorm"},
    Row{"attention.query", "attn_q", "self_attn.q_proj"},
    Row{"attention.key", "attn_k", "self_attn.k_proj"},
    Row{"attention.value", "attn_v", "self_attn.v_proj"},
    Row{"attention.output", "attn_output", "self_attn.o_proj"},
    Row{"attention.query_norm", "attn_q_norm", "self_attn.q_norm"},
    Row{"attention.key_norm", "attn_k_norm", "self_attn.k_norm"},
    Row{"mlp.norm", "ffn_norm", "post_attention_layernorm"},
    Row{"mlp.gate", "ffn_gate", "mlp.gate_proj"},
    Row{"mlp.up", "ffn_up", "mlp.up_proj"},
    Row{"mlp.down", "ffn_down", "mlp.down_proj"},
};

template <class Table>
std::string translated(Table const& table, Naming naming, std::string const& part) {
  for (Row const& row : table)
    if (row.ours == part) return naming == Naming::gguf ? row.gguf : row.transformers;
  return "";
}
}  // namespace

std::string stored_name(Naming naming, std::string const& parameter) {
  if (naming == Naming::sextant) return parameter;
  auto const dot = parameter.rfind('.');
  expect(dot != std::string::npos, "import: no file has a parameter ", parameter);
  std::string const kind = parameter.substr(dot), part = parameter.substr(0, dot);
  std::string prefix, name;
  if (part.starts_with("layers.")) {
    auto const end = part.find('.', 7);
    prefix = (naming == Naming::gguf ? "blk." : "model.layers.") + part.substr(7, end - 7) + ".";
    name = translated(of_layer, naming, part.substr(end + 1));
  } else {
    name = translated(whole, naming, part);
  }
  expect(!name.empty(), "import: no file has a parameter ", parameter);
  return prefix + name + kind;
}

}  // namespace sextant::pretrained
