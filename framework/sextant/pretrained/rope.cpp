#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/gguf_keys.hpp>
#include <sextant/pretrained/rope.hpp>
#include <sextant/spec/number.hpp>

namespace sextant::pretrained {
namespace {
using encoding::Role;

void take_rope(dialect::Read read, std::string const& source, encoding::Registry const& registry, Description& out) {
  for (auto& kind : read.form.kinds) {
    kind.encoding.options["layout"] = std::string("half");  // of transformers' weights; those of GGUF files are moved
    for (auto const& scaling : kind.scalings)
      expect(registry.has(Role::scaling, scaling.use), source, ": the model turns under the scaling ", scaling.use,
             ", and no plugin of that name is loaded");
  }
  auto const& options = read.form.kinds.front().encoding.options;
  out.position = dialect::position_of(read.form, registry);
  if (out.position.trained_length == 0) out.position.trained_length = out.context_length;
  out.rotary_dim = static_cast<int>(dialect::number_of(options, "rotary_dim").value_or(out.config.head_dim));
  out.remarks.insert(out.remarks.end(), read.remarks.assumed.begin(), read.remarks.assumed.end());
}

// Of whole numbers and lists of them, those that are one number.
bool is_array(GgufValue const& value) { return std::holds_alternative<GgufArray>(value.value); }

std::string factors(Gguf const& file, char const* name) {
  std::vector<std::string> parts;
  for (float const value : values_of(file, file.find(name))) {
    expect(value > 0, file.path(), ": ", name, " holds ", value, ", expected factors > 0");
    parts.push_back(spec::number_text(value));
  }
  return text(name, " = [", join(parts), "]\n");
}

}  // namespace

bool is_rope_tensor(std::string const& name) {
  return name == dialect::one_list || name == dialect::long_list || name == dialect::short_list;
}

std::string rope_text(Gguf const& file) {
  std::string const arch = file.word("general.architecture");
  std::string out = "general.architecture = " + arch + "\n";
  for (auto const& [key, value] : file.metadata()) {
    bool const size = key == arch + ".context_length" || key == arch + ".embedding_length" ||
                      key == arch + ".attention.key_length" || key == arch + ".attention.head_count" ||
                      key == arch + ".attention.sliding_window";
    bool const rotation = key.starts_with(arch + ".rope.");
    if (rotation || (size && !is_array(value))) out += key + " = " + value.text() + "\n";
  }
  for (char const* name : {dialect::one_list, dialect::long_list, dialect::short_list})
    if (file.has(name)) out += factors(file, name);
  return out;
}

void read_rope(Gguf const& file, encoding::Registry const& registry, Description& out) {
  dialect::Given const given{.head_width = out.config.head_dim, .moves_rows = true};
  take_rope(dialect::read_gguf(rope_text(file), file.path(), given, registry), file.path(), registry, out);
}

void read_rope(std::string const& config_json, std::string const& source, encoding::Registry const& registry,
               Description& out) {
  take_rope(dialect::read_hf(config_json, source, {.head_width = out.config.head_dim}, registry), source, registry,
            out);
}

void add_window(int window, std::optional<encoding::LayerSet> layers, Description& out) {
  encoding::Choice choice{"sliding_window", {{"window", double(window)}}, {}};
  choice.layers = std::move(layers);
  out.position.encodings.push_back(std::move(choice));
}

}  // namespace sextant::pretrained
