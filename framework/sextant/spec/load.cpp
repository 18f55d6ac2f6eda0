// load_spec: file -> tree -> overrides -> document and arms -> resolved text.
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/published.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>
#include <sextant/spec/vary.hpp>
#include <sextant/spec/yaml.hpp>

#include <algorithm>

namespace sextant::spec {
namespace fs = std::filesystem;
namespace {

void refuse_coming(Node const& root) {
  for (auto const& entry : root.entries)
    for (auto const& key : coming_keys())
      expect(entry.key != key, entry.place.text(), ": ", key, " is not offered yet, expected a spec without it");
}

/// A key that a tier or --set changed.
struct Changed {
  std::string key;
  Place place;
};

// --set key=value
Changed apply_set(Node& root, std::string const& set) {
  Place const place{"--set " + set, 0, 0};
  auto const equals = set.find('=');
  expect(equals != std::string::npos && equals > 0, place.text(),
         ": expected key=value with a dotted key, as in train.steps=20");
  std::string const key = set.substr(0, equals);
  for (char const* apart : {"tier", "tiers"})
    expect(key != apart && !key.starts_with(std::string(apart) + "."), place.text(),
           ": expected --tier NAME, which chooses a tier");
  std::string const text = set.substr(equals + 1);
  expect(text.find_first_not_of(" \t") != std::string::npos, place.text(), ": ", key, " has no value");
  Node value;
  try {
    value = parse_yaml(text, "value");
  } catch (Error const& error) {
    fail(place.text(), ": ", error.what());
  }
  replace_places(value, place);
  put(root, key, std::move(value), place);
  return {key, place};
}

std::vector<Changed> apply_tier(Node& root, Node const& tiers, std::string const& name) {
  std::vector<Changed> changes;
  if (Node const* tier = tiers.find(name))
    for (auto const& entry : tier->entries) {
      bool const apart = entry.key == "tier" || entry.key == "tiers" || entry.key.starts_with("tiers.");
      expect(!apart, entry.place.text(), ": tiers.", name, " changes ", entry.key, ", expected another key");
      put(root, entry.key, entry.value, entry.place);
      changes.push_back({entry.key, entry.place});
    }
  return changes;
}

// A change that vary covers in every arm would be lost without a word.
void refuse_lost(Changed const& change, std::vector<Axis> const& axes) {
  bool conditional = false;
  for (auto const& axis : axes) {
    if (!axis.zip) conditional = !axis.where.empty();
    bool const covers = std::all_of(axis.values.begin(), axis.values.end(), [&](Choose const& value) {
      return std::any_of(value.sets.begin(), value.sets.end(), [&](Choose::Set const& set) {
        return change.key == set.key || change.key.starts_with(set.key + ".");
      });
    });
    expect(conditional || !covers, change.place.text(), ": ", change.key, " has no effect, because vary gives ",
           axis.name, " its values; expected another key, or a change of vary");
  }
}

void check_tiers(Node const& tiers) {
  if (tiers.kind == Node::Kind::null) return;
  expect(tiers.is_map(), tiers.place.text(), ": tiers is ", found(tiers), ", expected a block of ", join(tier_names));
  for (auto const& tier : tiers.entries) {
    bool const known = std::find(tier_names.begin(), tier_names.end(), tier.key) != tier_names.end();
    expect(known, tier.place.text(), ": tiers.", tier.key, ": there is no tier ", tier.key,
           did_you_mean(tier.key, tier_names));
    expect(tier.value.is_map(), tier.value.place.text(), ": tiers.", tier.key, " is ", found(tier.value),
           ", expected a block of dotted keys and values, as in {train.steps: 20}");
  }
}

// The spec as written is its small tier, so that one needs no entry.
std::vector<std::string> offered_tiers(Node const& tiers) {
  std::vector<std::string> offered = {"small"};
  for (auto const& entry : tiers.entries)
    if (entry.key != "small") offered.push_back(entry.key);
  return offered;
}

// The tier that holds.
std::string chosen_tier(Node const& root, Node const& tiers, Overrides const& overrides) {
  auto const offered = offered_tiers(tiers);
  Node const* const written = root.find("tier");
  std::string const name = overrides.tier ? *overrides.tier : written && written->is_scalar() ? written->text : "small";
  std::string const place = overrides.tier ? "--tier " + name : (written ? *written : root).place.text();
  bool const known = std::find(offered.begin(), offered.end(), name) != offered.end();
  expect(known, place, ": tier is ", name, ", expected one that this spec has: ", join(offered));
  return name;
}

// Texts and models named by a relative path lie beside the spec; from here on they are named by their full path, which stays
// true wherever the resolved spec is kept.
void settle_path(Node& node, fs::path const& folder) {
  if (folder.empty() || !node.is_scalar() || fs::path(node.text).is_absolute()) return;
  fs::path const beside = fs::absolute(folder / node.text).lexically_normal();
  std::error_code none;
  if (fs::is_regular_file(beside, none) || fs::is_directory(beside, none)) node.text = beside.string();
}
void settle_paths(Node& root, std::vector<Axis>& axes, fs::path const& folder) {
  std::vector<std::string> const keys = {"data.corpus", "data.tokens", "model.from"};
  for (auto const& key : keys)
    if (Node const* const node = find_node(root, key)) {
      Node value = *node;
      settle_path(value, folder);
      put(root, key, std::move(value), node->place);
    }
  for (auto& axis : axes)
    for (auto& value : axis.values)
      for (auto& set : value.sets)
        if (std::find(keys.begin(), keys.end(), set.key) != keys.end()) settle_path(set.value, folder);
}

struct Resolved {
  Document document;
  std::vector<Axis> axes;
  std::vector<Arm> arms;
  ClaimsBlock claims;
  std::vector<PublishedBlock> published;
  Reading reading;
};

// Nothing is drawn and nothing trained: every arm is a pretrained model as it was published.
bool all_given(std::vector<Arm> const& arms) {
  return std::all_of(arms.begin(), arms.end(), [](Arm const& arm) {
    return !arm.setting.model.from.empty() && arm.setting.train.steps == 0 && !arm.setting.tune;
  });
}

Resolved resolve(Node root, Node const& tiers, std::string const& tier, std::vector<std::string> const& sets,
                 Catalogue const& catalogue, fs::path const& folder) {
  auto changes = apply_tier(root, tiers, tier);
  for (auto const& set : sets) changes.push_back(apply_set(root, set));
  refuse_coming(root);
  Node const vary = root.take("vary");
  Node const claims = root.take("claims"), published = root.take("reference");
  Resolved resolved{{}, {}, {}, {}, {}, {catalogue, {}}};
  resolved.axes = read_vary(vary, resolved.reading);
  for (auto const& change : changes) refuse_lost(change, resolved.axes);
  settle_paths(root, resolved.axes, folder);
  fill_bases(root, resolved.axes);
  resolved.document = read_document(root, resolved.reading);
  resolved.document.head.tier = tier;
  resolved.arms = expand(root, resolved.axes, catalogue);
  resolved.claims = read_claims(claims, resolved.reading);
  resolved.published = read_published(published, resolved.reading);

  std::vector<std::string> labels;
  for (auto const& arm : resolved.arms) labels.push_back(arm.label);
  auto& baseline = resolved.document.head.report.baseline;
  Node const* const at = find_node(root, "report.baseline");
  bool const known = baseline.empty() || std::find(labels.begin(), labels.end(), baseline) != labels.end();
  if (!known)
    fail(at->place.text(), ": report.baseline is ", baseline, ", expected the label of an arm",
         did_you_mean(baseline, labels));
  return resolved;
}

bool differs_between_arms(Resolved const& resolved, Field<Document> const& field, std::string const& base) {
  return std::any_of(resolved.arms.begin(), resolved.arms.end(), [&](Arm const& arm) {
    Document document = resolved.document;
    document.setting = arm.setting;
    return field.write(document, field.name(), resolved.reading).text != base;
  });
}

// Every field in the order of the schema; what was not given is marked.
std::string write_resolved(Resolved const& resolved, std::string const& tier, Catalogue const& catalogue) {
  std::string out;
  std::vector<std::string> open;  // blocks that the last line stands in
  bool const tunes = std::any_of(resolved.arms.begin(), resolved.arms.end(),
                                 [](Arm const& arm) { return static_cast<bool>(arm.setting.tune); });
  for (auto const& field : document_fields()) {
    if (field.name().starts_with("tune.") && !tunes) continue;
    std::vector<std::string> parts;
    for (std::size_t begin = 0; begin <= field.name().size();) {
      auto const dot = std::min(field.name().find('.', begin), field.name().size());
      parts.push_back(field.name().substr(begin, dot - begin));
      begin = dot + 1;
    }
    std::size_t depth = 0;
    while (depth + 1 < parts.size() && depth < open.size() && open[depth] == parts[depth]) ++depth;
    for (; depth + 1 < parts.size(); ++depth) out += std::string(2 * depth, ' ') + parts[depth] + ":\n";
    open.assign(parts.begin(), parts.end() - 1);
    Written written = field.write(resolved.document, field.name(), resolved.reading);
    if (!resolved.reading.given.contains(field.name()) && differs_between_arms(resolved, field, written.text))
      written = {.text = "auto"};  // what it follows from varies: each arm settles its own
    std::string const apart = written.text.starts_with('\n') ? "" : " ";
    out += std::string(2 * depth, ' ') + parts.back() + ":" + apart + written.text;
    if (!resolved.reading.given.contains(field.name()))
      out += "  # default";
    else if (!written.defaulted.empty())
      out += "  # default: " + join(written.defaulted);
    out += "\n";
  }
  out += "tiers: {" + tier + ": {}}\n";
  if (!resolved.axes.empty()) out += "vary:\n" + write_vary(resolved.axes, catalogue);
  return out + write_claims(resolved.claims, resolved.reading) + write_published(resolved.published, resolved.reading);
}

// `folder`: where relative paths lead from; empty: they stay as they are.
Spec read_from(std::string const& text, std::string const& file, fs::path const& folder, Overrides const& overrides,
               Catalogue const& catalogue) {
  Node root = parse_yaml(text, file);
  expect(root.is_map(), root.place.text(), ": the spec is ", found(root),
         ", expected a block that begins with sextant: ", schema_version);
  Node const tiers = root.take("tiers");
  check_tiers(tiers);
  std::string const tier = chosen_tier(root, tiers, overrides);
  for (auto const& other : tiers.entries)  // a tier that is not chosen today must be right all the same
    if (other.key != tier) resolve(root, tiers, other.key, {}, catalogue, folder);
  Resolved resolved = resolve(root, tiers, tier, overrides.sets, catalogue, folder);
  Spec spec = resolved.document.head;
  auto const others = [&] {  // a claim may be about what this tier or an override leaves out
    std::vector<Arms> arms;
    for (auto const& name : offered_tiers(tiers))
      if (name != tier || !overrides.sets.empty())
        arms.push_back(resolve(root, tiers, name, {}, catalogue, folder).arms);
    return arms;
  };
  spec.claims = settle_claims(resolved.claims, resolved.arms, others, text);
  if (all_given(resolved.arms)) spec.claims.sample = claims::Sample::windows;
  spec.published = settle_published(resolved.published, resolved.arms, others, text);
  spec.resolved = write_resolved(resolved, tier, catalogue);
  spec.arms = std::move(resolved.arms);
  spec.file = file;
  spec.text = text;
  return spec;
}

}  // namespace

Spec read_spec(std::string const& text, std::string const& file, Overrides const& overrides,
               Catalogue const& catalogue) {
  return read_from(text, file, {}, overrides, catalogue);
}

Spec load_spec(fs::path const& path, Overrides const& overrides, Catalogue const& catalogue) {
  fs::path const file = fs::is_directory(path) ? path / "spec.yaml" : path;
  return read_from(read_file(file), file.string(), fs::absolute(file).parent_path(), overrides, catalogue);
}

}  // namespace sextant::spec
