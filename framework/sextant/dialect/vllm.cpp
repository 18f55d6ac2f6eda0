// What vLLM takes over a model's own config: --hf-overrides '{"rope_parameters": {...}}', its older form with rope_scaling and
// rope_theta side by side, or the value of the older --rope-scaling alone.
#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/rope_block.hpp>

#include <algorithm>

namespace sextant::dialect {
using spec::Node;

Read read_vllm(std::string const& text, std::string const& source, Given const& given, Registry const& registry) {
  Node const root = parse_json(text, source);
  Fields const top(root, "");
  bool const alone = root.find("rope_type") || root.find("type");
  if (!alone)
    top.refuse_unknown({"rope_parameters", "rope_scaling", "rope_theta", "partial_rotary_factor",
                        "max_position_embeddings", "original_max_position_embeddings", "max_model_len", "head_dim"},
                       "an override");
  Node const *const now = top.find("rope_parameters"), *const then = top.find("rope_scaling");
  expect(!(now && then), source, ": has both rope_parameters and rope_scaling, expected one of them");
  Read out;
  Surroundings around;
  if (!alone) around.base = top.number("rope_theta", encoding::above(1));
  if (!around.base && given.base > 0) around.base = given.base;
  if (!alone) {
    around.share = top.number("partial_rotary_factor", encoding::between(0, 1));
    around.most = top.whole("max_position_embeddings").value_or(top.whole("max_model_len").value_or(0));
    around.original = top.whole("original_max_position_embeddings").value_or(0);
  }
  out.form.head_width = around.head_width = alone ? given.head_width : top.whole("head_dim").value_or(given.head_width);
  Node const empty = Node::map({source, 1, 1});
  Fields const block(alone  ? root
                     : now  ? *now
                     : then ? *then
                            : empty,
                     alone ? ""
                     : now ? "rope_parameters"
                           : "rope_scaling");
  auto read = read_rope_block(block, vllm(), around, registry, out.remarks);
  out.form.trained_length = read.trained_length > 0 ? read.trained_length : given.trained_length;
  out.form.reach = around.most;
  out.form.kinds.push_back(std::move(read.kind));
  return out;
}

Text write_vllm(Form const& form, Registry const& registry) {
  expect(form.kinds.size() == 1 && !form.kinds.front().encoding.layers,
         "layers turn by different blocks, and an override of vLLM here holds one block for all");
  Text out;
  nlohmann::ordered_json json;
  json["rope_parameters"] = write_rope_block(form.kinds.front(), form, vllm(), registry, out.remarks);
  if (int const most = reach_of(form); most > 0) json["max_position_embeddings"] = most;
  out.text = json.dump() + "\n";
  return out;
}

}  // namespace sextant::dialect
