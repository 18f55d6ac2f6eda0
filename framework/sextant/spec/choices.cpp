#include <sextant/base/error.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/spec.hpp>

namespace sextant::spec {
namespace {
using encoding::Choice;
using encoding::Description;
using encoding::LayerSet;
using encoding::Option;
using encoding::Role;

std::string shape(Role role) {
  if (role == Role::task) return "none, a name or {use: name, options}";
  return role == Role::encoding ? "a name, {use: name, options} or a list of these"
                                : "none, a name, {use: name, options} or a list of these";
}

Description const& describe(Node const& name, Role role, std::string const& path, Catalogue const& catalogue) {
  if (!name.is_scalar())
    fail(name.place.text(), ": ", path, " is ", found(name), ", expected the name of one ", noun(role));
  if (auto const* description = catalogue.find(role, name.text)) return *description;
  auto const names = catalogue.names(role);
  std::string hint = nearest(name.text, names).empty() ? "" : did_you_mean(name.text, names) + " (";
  hint += (hint.empty() ? "; known: " : "known: ") + join(names) + (hint.empty() ? "" : ")");
  for (auto const other : encoding::all_roles)
    if (catalogue.find(other, name.text))
      hint = text("; it is a", other == Role::encoding ? "n " : " ", noun(other), ": write it under ",
                  other == Role::task ? "data." : "position.", noun(other));
  fail(name.place.text(), ": ", path, " is ", found(name), ", expected the name of a loaded ", noun(role), hint);
}

Option const* find_option(Description const& plugin, std::string const& name) {
  for (auto const& option : plugin.options)
    if (option.name == name) return &option;
  return nullptr;
}

[[noreturn]] void refuse_option(Description const& plugin, Entry const& entry, std::string const& path) {
  std::vector<std::string> names;
  for (auto const& option : plugin.options) names.push_back(option.name);
  if (plugin.takes_parts) names.push_back("parts");
  if (plugin.role == Role::encoding) names.push_back("layers");
  std::string const near = nearest(entry.key, names);
  Option const* const option = find_option(plugin, near);
  std::string hint;
  if (option)
    hint = "; did you mean " + introduce(*option) + "?";
  else if (plugin.options.empty() && near.empty())
    hint = "; it has none";
  else
    hint = did_you_mean(entry.key, names);
  fail(entry.place.text(), ": ", below(path, entry.key), ": ", plugin.name, " has no option ", entry.key, hint);
}

int layer_number(Node const& node, char const* name, int least, std::string const& path) {
  Option const option{.name = name,
                      .help = "",
                      .unit = "",
                      .kind = encoding::Kind::integer,
                      .fallback = {},
                      .auto_meaning = "",
                      .choices = {},
                      .range = encoding::between(least, 1 << 20)};
  return static_cast<int>(std::get<std::int64_t>(read_value(node, option, path)));
}

/// {every: 4, from: 3}, or [0, 2].
LayerSet read_layers(Node const& node, std::string const& path) {
  LayerSet layers;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    std::string const at = below(path, std::to_string(i));
    int const layer = layer_number(node.items[i], "layer", 0, at);
    expect(layers.list.empty() || layers.list.back() < layer, node.items[i].place.text(), ": ", at, " is ", layer,
           " after ", layers.list.empty() ? 0 : layers.list.back(), ", expected layers in rising order");
    layers.list.push_back(layer);
  }
  for (auto const& entry : node.entries) {
    std::string const at = below(path, entry.key);
    if (entry.key == "every")
      layers.every = layer_number(entry.value, "every", 1, at);
    else if (entry.key == "from")
      layers.from = layer_number(entry.value, "from", 0, at);
    else
      fail(entry.place.text(), ": ", at, ": layers have no key ", entry.key,
           did_you_mean(entry.key, {"every", "from"}));
  }
  bool const named = !node.items.empty() || !node.entries.empty();
  expect(named, node.place.text(), ": ", path, " is ", node.is_list() ? "an empty list" : found(node),
         ", expected {every: 4, from: 3} or a list of layers such as [0, 2], counted from 0");
  return layers;
}

std::string write_layers(LayerSet const& layers) {
  if (layers.list.empty()) return text("{every: ", layers.every, ", from: ", layers.from, "}");
  return text(layers.list);
}

Choice read_choice(Node const& node, Role role, std::string const& path, Reading& reading);

std::vector<Choice> read_parts(Node const& node, std::string const& path, Reading& reading) {
  if (!node.is_list() || node.items.empty())
    fail(node.place.text(), ": ", path, " is ", node.is_list() ? "an empty list" : found(node),
         ", expected a list of encodings");
  std::vector<Choice> parts;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    std::string const at = below(path, std::to_string(i));
    if (Node const* layers = node.items[i].find("layers"))
      fail(layers->place.text(), ": ", below(at, "layers"),
           ": a part follows its whole; it belongs at the composite, beside `parts`");
    parts.push_back(read_choice(node.items[i], Role::encoding, at, reading));
  }
  return parts;
}

void complete(Choice& choice, Description const& plugin, Node const& node, std::string const& path) {
  for (auto const& option : plugin.options) {
    if (choice.options.contains(option.name)) continue;
    if (!option.fallback)
      fail(node.place.text(), ": ", below(path, option.name), " is missing: ", plugin.name, " needs ",
           introduce(option));
    choice.options[option.name] = *option.fallback;
  }
  if (plugin.takes_parts && choice.parts.empty())
    fail(node.place.text(), ": ", below(path, "parts"), " is missing: ", plugin.name, " needs a list of encodings");
}

Choice read_choice(Node const& node, Role role, std::string const& path, Reading& reading) {
  if (!node.is_scalar() && !node.is_map())
    fail(node.place.text(), ": ", path, " is ", found(node), ", expected ", shape(role));
  Node const* const name = node.is_map() ? node.find("use") : &node;
  if (!name) fail(node.place.text(), ": ", below(path, "use"), " is missing, expected the name of one ", noun(role));
  Description const& plugin = describe(*name, role, node.is_map() ? below(path, "use") : path, reading.catalogue);
  Choice choice{.use = plugin.name, .options = {}, .parts = {}};
  for (auto const& entry : node.entries) {
    std::string const at = below(path, entry.key);
    if (entry.key == "use") continue;
    if (entry.key == "parts" && plugin.takes_parts) {
      choice.parts = read_parts(entry.value, at, reading);
    } else if (entry.key == "layers" && role == Role::encoding) {
      choice.layers = read_layers(entry.value, at);
    } else {
      Option const* const option = find_option(plugin, entry.key);
      if (!option) refuse_option(plugin, entry, path);
      try {
        choice.options[entry.key] = read_value(entry.value, *option, at);
      } catch (Error const& error) {
        fail(error.what(), " (", option->name, ": ", option->help, ")");
      }
    }
    reading.given[at] = entry.value.place.text();
  }
  complete(choice, plugin, node, path);
  return choice;
}

void write_choice(Written& out, Choice const& choice, std::string const& path, Reading const& reading) {
  if (choice.options.empty() && choice.parts.empty() && !choice.layers) {
    out.text += quote(choice.use);
    return;
  }
  out.text += "{use: " + quote(choice.use);
  for (auto const& [name, value] : choice.options) {
    auto const* const word = std::get_if<std::string>(&value);
    out.text += ", " + name + ": " + (word ? quote(*word) : encoding::to_text(value));
    if (!reading.given.contains(below(path, name))) out.defaulted.push_back(name);
  }
  if (!choice.parts.empty()) out.text += ", parts: [";
  for (std::size_t i = 0; i < choice.parts.size(); ++i) {
    if (i) out.text += ", ";
    write_choice(out, choice.parts[i], below(path, "parts." + std::to_string(i)), reading);
  }
  if (!choice.parts.empty()) out.text += "]";
  if (choice.layers) out.text += ", layers: " + write_layers(*choice.layers);
  out.text += "}";
}

std::string label_of_choice(Choice const& choice) {
  if (!choice.parts.empty()) {
    std::vector<std::string> parts;
    for (auto const& part : choice.parts) parts.push_back(label_of_choice(part));
    return choice.use + "(" + join(parts) + ")";
  }
  auto const factor = choice.options.find("factor");
  bool const told = factor != choice.options.end() && !std::holds_alternative<encoding::Auto>(factor->second);
  return told ? choice.use + " x" + encoding::to_text(factor->second) : choice.use;
}
}  // namespace

std::vector<Choice> read_choices(Node const& node, Role role, std::string const& path, Reading& reading) {
  if (role != Role::encoding && node.is_plain("none")) return {};
  if (role == Role::task && node.is_list())
    fail(node.place.text(), ": ", path, " is ", found(node), ", expected ", shape(role));
  if (!node.is_list()) return {read_choice(node, role, path, reading)};
  expect(!node.items.empty(), node.place.text(), ": ", path, " is an empty list, expected ", shape(role));
  std::vector<Choice> choices;
  for (std::size_t i = 0; i < node.items.size(); ++i)
    choices.push_back(read_choice(node.items[i], role, below(path, std::to_string(i)), reading));
  return choices;
}

Written write_choices(std::vector<Choice> const& choices, Role role, std::string const& path, Reading const& reading) {
  Written out;
  if (choices.empty() && role != Role::encoding) return {"none", {}};
  if (choices.size() == 1) {
    write_choice(out, choices[0], path, reading);
    return out;
  }
  out.text = "[";
  for (std::size_t i = 0; i < choices.size(); ++i) {
    if (i) out.text += ", ";
    write_choice(out, choices[i], below(path, std::to_string(i)), reading);
  }
  out.text += "]";
  return out;
}

std::string label_of(std::vector<Choice> const& choices) {
  std::vector<std::string> labels;
  for (auto const& choice : choices) labels.push_back(label_of_choice(choice));
  return labels.empty() ? "none" : join(labels, "+");
}

}  // namespace sextant::spec
