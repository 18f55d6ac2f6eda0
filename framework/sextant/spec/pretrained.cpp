#include <sextant/base/error.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/pretrained.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>
#include <sextant/spec/yaml.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
// Keys that are the model's own, and those that it gives where the spec leaves them out.
bool is_own(std::string const& key) {
  bool const apart = key == "model.from" || key.starts_with("model.init");
  return (key.starts_with("model.") && !apart) || key == "position.encoding" || key == "position.trained_length";
}
bool is_offered(std::string const& key, Pretrained const& model) {
  return is_own(key) || key == "position.scaling" || (key == "data.tokens" && !model.model.tokenizer_sha256.empty());
}

/// A document in the model's words, every option of its encodings filled in.
Document document_of(Pretrained const& model, std::string const& name, Reading& reading) {
  Document out;
  out.setting.model = model.model;
  out.setting.position = model.position;
  out.setting.data.tokens = name;
  auto const complete = [&](std::vector<encoding::Choice>& choices, encoding::Role role) {
    std::string const text = write_choices(choices, role, "", reading).text;
    Reading apart{reading.catalogue, {}};
    choices = read_choices(parse_yaml(text, name), role, name, apart);
  };
  complete(out.setting.position.encodings, encoding::Role::encoding);
  complete(out.setting.position.scalings, encoding::Role::scaling);
  return out;
}

Node const* given(Node const& root, std::string const& key) {
  Node const* const node = find_node(root, key);
  return node && !node->is_plain("auto") ? node : nullptr;
}
}  // namespace

std::optional<Pretrained> pretrained_of(Node const& root, Catalogue const& catalogue) {
  Node const* const from = given(root, "model.from");
  if (!from || !from->is_scalar()) return {};  // what is no name is refused with the other keys
  try {
    return catalogue.pretrained(from->text);
  } catch (Error const& error) {
    fail(from->place.text(), ": model.from: ", error.what());
  }
}

Node with_pretrained(Node const& root, Pretrained const& model, Reading& reading) {
  Node const from = *find_node(root, "model.from");
  Document const known = document_of(model, from.text, reading);
  Node out = root;
  for (auto const& field : document_fields()) {
    if (!is_offered(field.name(), model) || given(root, field.name())) continue;
    Node value = parse_yaml(field.write(known, field.name(), reading).text, from.text);
    replace_places(value, from.place);
    put(out, field.name(), std::move(value), from.place);
  }
  return out;
}

void take_pretrained(Document& document, Node const& root, Pretrained const& model, Reading& reading) {
  std::string const from = document.setting.model.from;
  Document const known = document_of(model, from, reading);
  for (auto const& field : document_fields()) {
    if (!is_own(field.name())) continue;
    std::string const found = field.write(document, field.name(), reading).text;
    std::string const expected = field.write(known, field.name(), reading).text;
    expect(found == expected, nearest_node(root, field.name()).place.text(), ": ", field.name(), " is ", found,
           ", but model.from is ", from, ", which has ", expected, "; leave the key out");
  }
  document.setting.model.sha256 = model.model.sha256;
  document.setting.model.tokenizer_sha256 = model.model.tokenizer_sha256;
  document.setting.model.vocabulary = model.model.vocabulary;
  document.setting.model.embedding_scale = model.model.embedding_scale;
}

}  // namespace sextant::spec
