#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/pretrained/rope.hpp>

#include <algorithm>

namespace sextant::pretrained {
namespace {
using encoding::Role;

void take(dialect::Read read, std::string const& source, encoding::Registry const& registry, Description& out) {
  for (auto& kind : read.form.kinds) {
    // Rows are moved into the half layout where they are not in it (Description::rows).
    kind.encoding.options["layout"] = std::string("half");
    for (auto const& scaling : kind.scalings)
      expect(registry.has(Role::scaling, scaling.use), source, ": the model turns under the scaling ", scaling.use,
             ", and no plugin of that name is loaded");
  }
  auto const& options = read.form.kinds.front().encoding.options;
  out.position = dialect::position_of(read.form, registry);
  if (out.position.trained_length == 0) out.position.trained_length = out.context_length;
  out.rotary_dim = static_cast<int>(dialect::number_of(options, "rotary_dim").value_or(out.config.head_dim));
  // That rows lie pair by pair is settled here, by moving them.
  for (auto const& remark : read.remarks.assumed)
    if (!remark.starts_with("files of architecture ")) out.remarks.push_back(remark);
}

std::string rope_keys(Gguf const& file, std::string const& arch, bool leave_scaling) {
  std::string out = "general.architecture = " + arch + "\n";
  for (auto const& [key, value] : file.metadata()) {
    bool const scaling = key.starts_with(arch + ".rope.scaling.");
    bool const wanted = key == arch + ".context_length" || key == arch + ".embedding_length" ||
                        key == arch + ".attention.key_length" || key.starts_with(arch + ".rope.");
    if (wanted && !(scaling && leave_scaling)) out += key + " = " + value.text() + "\n";
  }
  return out + arch + ".attention.head_count = " + std::to_string(file.integer(arch + ".attention.head_count")) + "\n";
}

std::vector<double> factors(Gguf const& file, char const* name, Description const& model) {
  auto const values = values_of(file, file.find(name));
  std::size_t const pairs = static_cast<std::size_t>(model.rotary_dim) / 2;
  expect(values.size() == pairs, file.path(), ": ", name, " has ", values.size(), " factors, expected ", pairs,
         ", one a pair of channels");
  for (float const value : values)
    expect(value > 0, file.path(), ": ", name, " holds ", value, ", expected factors > 0");
  return {values.begin(), values.end()};
}

// Factors that divide the frequencies and lie in the file as tensors: Llama 3's one list, LongRoPE's two.
void add_factor_tensors(Gguf const& file, std::string const& arch, encoding::Registry const& registry,
                        Description& out) {
  bool const two = file.has("rope_factors_long.weight");
  if (!two && !file.has("rope_freqs.weight")) return;
  expect(registry.has(Role::scaling, "longrope"), file.path(),
         ": the model's frequencies are divided by the factors in ",
         two ? "rope_factors_long.weight" : "rope_freqs.weight",
         ", for which the scaling longrope is needed, and no plugin of", " that name is loaded");
  expect(out.position.scalings.empty(), file.path(), ": the file has both factors of frequencies and the scaling ",
         out.position.scalings.empty() ? "" : out.position.scalings.front().use, ", expected one of them");
  auto const longer = factors(file, two ? "rope_factors_long.weight" : "rope_freqs.weight", out);
  encoding::Choice scaling{"longrope", {{"long_factor", longer}}, {}};
  scaling.options["factor"] = 1.0;  // only its magnitude would follow from it, and that is given
  scaling.options["short_factor"] = two ? factors(file, "rope_factors_short.weight", out) : longer;
  std::string const scaling_keys = arch + ".rope.scaling.";
  std::int64_t original = out.context_length;
  if (file.has_key(scaling_keys + "original_context_length"))
    original = file.integer(scaling_keys + "original_context_length");
  scaling.options["original_length"] = original;
  scaling.options["attention_factor"] =
      file.has_key(scaling_keys + "attn_factor") ? file.number(scaling_keys + "attn_factor") : 1.0;
  out.position.scalings = {scaling};
}
}  // namespace

bool is_rope_tensor(std::string const& name) {
  return name == "rope_freqs.weight" || name == "rope_factors_long.weight" || name == "rope_factors_short.weight";
}

void read_rope(Gguf const& file, std::string const& architecture, encoding::Registry const& registry,
               Description& out) {
  bool const lists = file.has("rope_factors_long.weight");
  auto const text = rope_keys(file, architecture, lists);
  take(dialect::read_gguf(text, file.path(), {.head_width = out.config.head_dim}, registry), file.path(), registry,
       out);
  add_factor_tensors(file, architecture, registry, out);
}

void read_rope(std::string const& config_json, std::string const& source, encoding::Registry const& registry,
               Description& out) {
  take(dialect::read_hf(config_json, source, {.head_width = out.config.head_dim}, registry), source, registry, out);
}

void add_window(int window, std::optional<encoding::LayerSet> layers, Description& out) {
  encoding::Choice choice{"sliding_window", {{"window", double(window)}}, {}};
  choice.layers = std::move(layers);
  out.position.encodings.push_back(std::move(choice));
}

}  // namespace sextant::pretrained
