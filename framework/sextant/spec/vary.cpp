#include <sextant/base/error.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>
#include <sextant/spec/vary.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using encoding::Role;

Role role_of(std::string const& key) {
  return key.ends_with(".encoding") ? Role::encoding : key.ends_with(".task") ? Role::task : Role::scaling;
}

std::vector<std::string> const stage_names = {"train", "tune", "evaluate"};

encoding::Option word(std::string name, std::vector<std::string> choices = {}) {
  return {.name = std::move(name),
          .help = "",
          .unit = "",
          .kind = encoding::Kind::text,
          .fallback = {},
          .auto_meaning = "",
          .choices = std::move(choices),
          .range = {}};
}

// Where a key may vary: what a stage can take without contradiction.
void check_key(std::string const& key, Stage stage, Place const& place, std::string const& path) {
  auto const begins = [&](char const* with) { return key.starts_with(with); };
  if (stage == Stage::evaluate) {
    bool const after = key == "position.scaling" || begins("position.scaling.") || begins("position.encoding.");
    expect(after, place.text(), ": ", path, " is ", key,
           " at stage evaluate, expected position.scaling or an option of ",
           "position.encoding: trained weights hold nothing else; use stage: train");
    return;
  }
  if (stage == Stage::tune) {
    expect(begins("tune.") && !begins("tune.save"), place.text(), ": ", path, " is ", key,
           " at stage tune, expected a key below tune: the model that is tuned is there already; use stage: train");
    return;
  }
  bool const settles_run = key == "train.seeds" || begins("train.seeds.") || begins("train.save");
  bool const known = begins("model.") || begins("position.") || begins("data.") || begins("train.");
  expect(known && !settles_run, place.text(), ": ", path, " is ", key,
         ", expected a key below model, position, data or train",
         key == "train.seeds" ? "; list the seeds in train.seeds" : "");
}

// {value: v, label: l}, {use: ..., label: l} or v alone. Leaves the value in `node`.
std::string take_label(Node& node, std::string const& path) {
  std::string label;
  if (!node.is_map()) return label;
  if (Node const* given = node.find("label")) {
    label = std::get<std::string>(read_value(*given, word("label"), below(path, "label")));
    node.take("label");
  }
  if (node.find("value")) {
    for (auto const& entry : node.entries)
      expect(entry.key == "value", entry.place.text(), ": ", below(path, entry.key), ": a value of vary has no key ",
             entry.key, " beside value; known: value, label");
    Node value = node.take("value");
    node = std::move(value);
  }
  return label;
}

std::string automatic_label(std::string const& key, Node const& value, std::string const& path, Reading& reading) {
  if (is_choice_key(key)) return label_of(read_choices(value, role_of(key), path, reading));
  if (value.is_scalar()) return value.text;
  expect(value.is_list(), value.place.text(), ": ", path, " is ", found(value),
         ", expected a value; write {value: ..., label: ...}");
  return flow_text(value);
}

Choose read_keyed(Node node, std::string const& key, Place const& key_place, std::string const& path,
                  Reading& reading) {
  Choose choose{.label = "", .place = node.place, .sets = {}};
  choose.label = take_label(node, path);
  if (choose.label.empty()) choose.label = automatic_label(key, node, path, reading);
  choose.sets.push_back({key, key_place, std::move(node)});
  return choose;
}

Choose read_named(Node const& node, Stage stage, std::string const& path) {
  expect(node.is_map(), node.place.text(), ": ", path, " is ", found(node),
         ", expected {label: name, set: {key: value}}");
  for (auto const& entry : node.entries)
    expect(entry.key == "label" || entry.key == "set", entry.place.text(), ": ", below(path, entry.key),
           ": a value of a named ", "axis has no key ", entry.key, did_you_mean(entry.key, {"label", "set"}));
  Node const* const label = node.find("label");
  Node const* const set = node.find("set");
  expect(label, node.place.text(), ": ", below(path, "label"), " is missing, expected a name for this value");
  expect(set && set->is_map() && !set->entries.empty(), (set ? *set : node).place.text(), ": ", below(path, "set"),
         " is ", set ? found(*set) : "missing", ", expected a block of dotted keys and values");
  Choose choose{.label = std::get<std::string>(read_value(*label, word("label"), below(path, "label"))),
                .place = node.place,
                .sets = {}};
  for (auto const& entry : set->entries) {
    check_key(entry.key, stage, entry.place, below(path, "set"));
    choose.sets.push_back({entry.key, entry.place, entry.value});
  }
  return choose;
}

void read_where(Axis& axis, Node const& node, std::string const& path, std::vector<Axis> const& before) {
  expect(node.is_map() && !node.entries.empty(), node.place.text(), ": ", path, " is ", found(node),
         ", expected a block of key: label");
  for (auto const& entry : node.entries) {
    std::string const at = below(path, entry.key);
    std::vector<std::string> keys, labels;
    for (auto const& earlier : before) {
      if (axis.stage < earlier.stage) continue;
      keys.push_back(earlier.name);
      if (earlier.name == entry.key)
        for (auto const& value : earlier.values) labels.push_back(value.label);
    }
    bool const picks_measurements = entry.key == "evaluate" && axis.stage == Stage::evaluate;
    if (labels.empty() && !picks_measurements)
      fail(entry.place.text(), ": ", at, ": no earlier item of vary is called ", entry.key,
           did_you_mean(entry.key, keys));
    axis.where[entry.key] = read_words(entry.value, word("label", labels), at);
  }
}

Axis read_axis(Node const& node, std::string const& path, std::vector<Axis> const& before, Reading& reading) {
  std::vector<std::string> names;
  for (auto const& key : vary_keys()) names.push_back(key.name);
  expect(node.is_map(), node.place.text(), ": ", path, " is ", found(node), ", expected a block with ", join(names));
  for (auto const& entry : node.entries)
    expect(std::find(names.begin(), names.end(), entry.key) != names.end(), entry.place.text(), ": ",
           below(path, entry.key), ": an item of vary has no key ", entry.key, did_you_mean(entry.key, names));

  Axis axis;
  axis.place = node.place;
  Node const* const key = node.find("key");
  Node const* const name = node.find("name");
  expect(!key != !name, node.place.text(), ": ", path, " has ", key ? "both key and name" : "neither key nor name",
         ", expected key for one key that varies, or name for values that set several");
  axis.named = name;
  axis.name = std::get<std::string>(read_value(key ? *key : *name, word("key"), below(path, key ? "key" : "name")));
  Node const* const stage = node.find("stage");
  expect(stage, node.place.text(), ": ", below(path, "stage"),
         " is missing, expected train (each value is trained anew), tune (trained models are tuned with each) or ",
         "evaluate (trained models are measured under each)");
  auto const called = std::get<std::string>(read_value(*stage, word("stage", stage_names), below(path, "stage")));
  axis.stage = static_cast<Stage>(std::find(stage_names.begin(), stage_names.end(), called) - stage_names.begin());
  if (key) check_key(axis.name, axis.stage, key->place, below(path, "key"));
  for (auto const& earlier : before)
    expect(earlier.name != axis.name || earlier.stage != axis.stage, (key ? key : name)->place.text(), ": ", path,
           " varies ", axis.name, ", as an earlier item does; expected one item a key");

  Node const* const values = node.find("values");
  std::string const values_path = below(path, "values");
  expect(values && values->is_list() && !values->items.empty(), (values ? *values : node).place.text(), ": ",
         values_path, " is ", values ? (values->is_list() ? "an empty list" : found(*values)) : "missing",
         ", expected a list of values");
  for (std::size_t i = 0; i < values->items.size(); ++i) {
    std::string const at = below(values_path, std::to_string(i));
    axis.values.push_back(axis.named ? read_named(values->items[i], axis.stage, at)
                                     : read_keyed(values->items[i], axis.name, key->place, at, reading));
    for (std::size_t j = 0; j < i; ++j)
      expect(axis.values[j].label != axis.values[i].label, axis.values[i].place.text(), ": ", at, " is called ",
             axis.values[i].label, ", as item ", j,
             " is; expected a label of its own, as in {value: ..., label: name}");
  }

  if (Node const* combine = node.find("combine"))
    axis.zip = std::get<std::string>(
                   read_value(*combine, word("combine", {"product", "zip"}), below(path, "combine"))) == "zip";
  if (axis.zip) {
    std::string const at = below(path, "combine");
    expect(!before.empty() && before.back().stage == axis.stage, node.place.text(), ": ", at,
           " is zip, but no item of the same stage stands before");
    expect(before.back().values.size() == axis.values.size(), values->place.text(), ": ", values_path, " has ",
           axis.values.size(), " values, expected ", before.back().values.size(), " as in ", before.back().name,
           ", which it is zipped with");
    expect(!node.find("where"), node.place.text(), ": ", below(path, "where"),
           ": a zipped item goes where the one before goes");
  }
  if (Node const* where = node.find("where")) read_where(axis, *where, below(path, "where"), before);
  return axis;
}
}  // namespace

bool is_choice_key(std::string const& key) {
  return key == "position.encoding" || key == "position.scaling" || key == "tune.encoding" || key == "tune.scaling" ||
         key == "data.task";
}

std::vector<Axis> read_vary(Node const& node, Reading& reading) {
  std::vector<Axis> axes;
  if (node.kind == Node::Kind::null) return axes;
  expect(node.is_list(), node.place.text(), ": vary is ", found(node),
         ", expected a list of blocks with key, stage and values");
  for (std::size_t i = 0; i < node.items.size(); ++i)
    axes.push_back(read_axis(node.items[i], below("vary", std::to_string(i)), axes, reading));
  return axes;
}

std::string write_vary(std::vector<Axis> const& axes, Catalogue const& catalogue) {
  Reading reading{catalogue, {}};
  auto const written = [&](std::string const& key, Node const& value) {
    if (!is_choice_key(key)) return flow_text(value);
    return write_choices(read_choices(value, role_of(key), key, reading), role_of(key), key, reading).text;
  };
  std::string out;
  for (auto const& axis : axes) {
    out += "  - " + std::string(axis.named ? "name: " : "key: ") + quote(axis.name);
    out += "\n    stage: " + stage_names[static_cast<std::size_t>(axis.stage)];
    out += "\n    combine: " + std::string(axis.zip ? "zip" : "product") + "\n    values:\n";
    for (auto const& value : axis.values) {
      std::string text;
      if (axis.named) {
        for (auto const& set : value.sets)
          text += (text.empty() ? "set: {" : ", ") + quote(set.key) + ": " + written(set.key, set.value);
        text += "}";
      } else {
        text = "value: " + written(axis.name, value.sets[0].value);
      }
      out += "      - {" + text + ", label: " + quote(value.label) + "}\n";
    }
    if (axis.where.empty()) continue;
    std::string where;
    for (auto const& [key, labels] : axis.where) {
      std::string list;
      for (auto const& label : labels) list += (list.empty() ? "" : ", ") + quote(label);
      where += (where.empty() ? "" : ", ") + quote(key) + ": [" + list + "]";
    }
    out += "    where: {" + where + "}\n";
  }
  return out;
}

}  // namespace sextant::spec
