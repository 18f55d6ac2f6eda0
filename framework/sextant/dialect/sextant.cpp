// The `position:` block of a spec: alone, or in a whole spec with one arm.
#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/spec.hpp>
#include <sextant/spec/yaml.hpp>

#include <algorithm>

namespace sextant::dialect {
namespace {
using encoding::PositionChoice;
using spec::Node;

PositionChoice from_block(Node const& block, Registry const& registry, Given const& given, int& trained) {
  std::vector<std::string> const keys = {"encoding", "scaling", "trained_length"};
  expect(block.is_map(), block.place.text(), ": position is ", spec::found(block), ", expected a block");
  for (auto const& entry : block.entries)
    expect(std::find(keys.begin(), keys.end(), entry.key) != keys.end(), entry.place.text(), ": position.", entry.key,
           ": position has no key ", entry.key, did_you_mean(entry.key, keys));
  spec::Catalogue const catalogue(registry);
  spec::Reading reading{catalogue, {}};
  Node const* const encoding = block.find("encoding");
  expect(encoding != nullptr, block.place.text(), ": position.encoding is missing, expected an encoding");
  PositionChoice out;
  out.encodings = spec::read_choices(*encoding, Role::encoding, "position.encoding", reading);
  if (Node const* scaling = block.find("scaling"))
    out.scalings = spec::read_choices(*scaling, Role::scaling, "position.scaling", reading);
  encoding::Option length;
  length.kind = encoding::Kind::integer;
  length.range = encoding::between(1, 1 << 30);
  length.auto_meaning = "train.length";
  Node const* const written = block.find("trained_length");
  auto const value = written ? spec::read_value(*written, length, "position.trained_length") : encoding::Auto{};
  auto const* whole = std::get_if<std::int64_t>(&value);
  trained = whole ? static_cast<int>(*whole) : given.trained_length;
  return out;
}

bool turns(Choice const& choice, Registry const& registry) {
  return registry.make_encoding(choice)->stages({.heads = 1, .kv_heads = 1, .head_dim = 64, .model_dim = 64}).rotate;
}
}  // namespace

Read read_sextant(std::string const& text, std::string const& source, Given const& given, Registry const& registry) {
  Node const root = spec::parse_yaml(text, source);
  Read out;
  out.form.head_width = given.head_width;
  PositionChoice choice;
  if (root.find("sextant")) {
    auto const spec = spec::read_spec(text, source, {}, spec::Catalogue(registry));
    bool const one = spec.arms.size() == 1 && spec.arms.front().views.size() == 1;
    expect(one, source, ": the spec has ", spec.arms.size(), " arms and ", spec.arms.front().views.size(),
           " views, expected one of each: give the position block alone");
    choice = spec.arms.front().views.front().position;
    out.form.trained_length = choice.trained_length;
    out.form.head_width = spec.arms.front().setting.model.head_width;
  } else {
    Node const* const block = root.find("position");
    for (auto const& entry : root.entries)
      expect(!block || entry.key == "position", entry.place.text(), ": found ", entry.key,
             " beside position, expected the block alone or a whole spec (sextant: 1)");
    choice = from_block(block ? *block : root, registry, given, out.form.trained_length);
  }
  for (auto& encoding : choice.encodings) {
    expect(encoding.parts.empty() && turns(encoding, registry), source, ": ", encoding.use,
           " is no rotary encoding, and nothing else is translated");
    out.form.kinds.push_back({choice.encodings.size() > 1 ? encoding.use : "", std::move(encoding), choice.scalings});
  }
  bool const apart =
      std::all_of(out.form.kinds.begin(), out.form.kinds.end(), [](Kind const& k) { return k.encoding.layers; });
  expect(out.form.kinds.size() == 1 || apart, source,
         ": several encodings act in one layer, and no other dialect says that");
  return out;
}

Text write_sextant(Form const& form, Registry const& registry) {
  Text out;
  auto const choice = position_of(form, registry);
  bool half = false;
  for (auto const& encoding : choice.encodings) {
    expect(encoding.use != "rope" || has(encoding.options, "base"),
           "the base is the model's own, which the description does not show: give --base");
    half = half || !has(encoding.options, "layout");
  }
  if (half) out.remarks.assume("layout half: pairs (f, f + n/2), as the weights of transformers' Llama family");
  if (form.kinds.size() > 1 && choice.scalings.empty() && !form.kinds.front().scalings.empty())
    out.remarks.lose(
        "names of scalings: where kinds of layers differ, a factor is written as the rate of segmented_theta");
  if (form.reach > form.trained_length && form.reach > 0)
    out.remarks.lose(text("that the model takes ", form.reach, " tokens: a spec says lengths where it measures"));
  if (form.head_width > 0) out.remarks.lose(text("heads of ", form.head_width, " channels: model.head_width says it"));
  spec::Catalogue const catalogue(registry);
  spec::Reading const reading{catalogue, {}};
  out.text = "position:\n  encoding: " + spec::write_choices(choice.encodings, Role::encoding, "", reading).text;
  out.text += "\n  scaling: " + spec::write_choices(choice.scalings, Role::scaling, "", reading).text + "\n";
  if (choice.trained_length > 0)
    out.text += text("  trained_length: ", choice.trained_length, "\n");
  else
    out.remarks.lose("trained_length: the description does not say it (see --trained)");
  return out;
}

}  // namespace sextant::dialect
