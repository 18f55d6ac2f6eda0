// Axes -> arms and views: every combination, each read and checked as a document of its own.
#include <sextant/base/error.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>
#include <sextant/spec/vary.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
// Axes that are zipped together advance as one.
using Group = std::vector<Axis const*>;

std::vector<Group> groups_of(std::vector<Axis> const& axes, Stage stage) {
  std::vector<Group> groups;
  for (auto const& axis : axes) {
    if (axis.stage != stage) continue;
    if (axis.zip)
      groups.back().push_back(&axis);
    else
      groups.push_back({&axis});
  }
  return groups;
}

struct Combination {
  Labels labels;
  std::vector<Choose const*> chosen;
  std::vector<std::string> evaluations;
};

bool applies(Axis const& axis, Combination const& to) {
  for (auto const& [key, labels] : axis.where) {
    if (key == "evaluate") continue;
    auto const it = to.labels.find(key);
    if (it == to.labels.end() || std::find(labels.begin(), labels.end(), it->second) == labels.end()) return false;
  }
  return true;
}

std::vector<Combination> combine(Combination const& start, std::vector<Group> const& groups) {
  std::vector<Combination> all = {start};
  for (auto const& group : groups) {
    std::vector<Combination> next;
    for (auto& combination : all) {
      if (!applies(*group[0], combination)) {
        next.push_back(std::move(combination));
        continue;
      }
      Combination rest = combination;  // the measurements that `where` leaves out keep the base
      auto const picked = group[0]->where.find("evaluate");
      if (picked != group[0]->where.end()) {
        combination.evaluations.clear();
        for (auto const& name : rest.evaluations)
          if (std::find(picked->second.begin(), picked->second.end(), name) != picked->second.end())
            combination.evaluations.push_back(name);
        std::erase_if(rest.evaluations, [&](auto const& name) {
          return std::find(picked->second.begin(), picked->second.end(), name) != picked->second.end();
        });
      } else {
        rest.evaluations.clear();
      }
      bool const measures = group[0]->stage != Stage::evaluate || !combination.evaluations.empty();
      for (std::size_t i = 0; measures && i < group[0]->values.size(); ++i) {
        Combination one = combination;
        for (auto const* axis : group) {
          one.labels[axis->name] = axis->values[i].label;
          one.chosen.push_back(&axis->values[i]);
        }
        next.push_back(std::move(one));
      }
      if (!rest.evaluations.empty()) next.push_back(std::move(rest));
      expect(next.size() <= 10000, group[0]->place.text(), ": vary makes more than 10000 combinations");
    }
    all = std::move(next);
  }
  return all;
}

Document read_combination(Node const& root, Combination const& combination, Catalogue const& catalogue) {
  Node tree = root;
  for (auto const* choose : combination.chosen)
    for (auto const& set : choose->sets) put(tree, set.key, set.value, set.key_place);
  Reading reading{catalogue, {}};
  return read_document(tree, reading);
}

// "rope", "rope / theta=500000": the encoding or scaling itself, then what else varies.
std::string join_labels(std::string const& head, std::string const& head_key, Labels const& labels,
                        std::vector<Axis> const& axes, std::vector<Stage> const& stages) {
  auto const it = labels.find(head_key);
  std::string text = it == labels.end() ? head : it->second;
  for (auto const& axis : axes) {
    auto const taken = labels.find(axis.name);
    if (std::find(stages.begin(), stages.end(), axis.stage) == stages.end() || axis.name == head_key ||
        taken == labels.end())
      continue;
    bool const bare = axis.named || is_choice_key(axis.name);
    text += " / " + (bare ? "" : axis.name.substr(axis.name.rfind('.') + 1) + "=") + taken->second;
  }
  return text;
}

/// The position block that a model is measured under: its own, or what the combination sets after training and tuning.
void settle_view(View& view, Setting const& setting, Combination const& arm, Combination const& seen) {
  view.position = setting.position;
  if (!setting.tune) return;
  auto const sets = [&](char const* key) {
    return std::any_of(seen.chosen.begin() + static_cast<std::ptrdiff_t>(arm.chosen.size()), seen.chosen.end(),
                       [&](Choose const* choose) {
                         return std::any_of(choose->sets.begin(), choose->sets.end(),
                                            [&](Choose::Set const& set) { return set.key.starts_with(key); });
                       });
  };
  if (!sets("position.encoding")) view.position.encodings = setting.tune.encodings;
  view.as_tuned = !sets("position.scaling");
  if (view.as_tuned) view.position.scalings = setting.tune.scalings;
}

void add_view(std::vector<View>& views, View view, Place const& place) {
  for (auto& known : views) {
    if (known.label != view.label) continue;
    bool const apart = std::none_of(view.evaluations.begin(), view.evaluations.end(), [&](auto const& name) {
      return std::find(known.evaluations.begin(), known.evaluations.end(), name) != known.evaluations.end();
    });
    expect(apart, place.text(), ": vary: two combinations are called ", view.label, "; give their values labels");
    known.evaluations.insert(known.evaluations.end(), view.evaluations.begin(), view.evaluations.end());
    known.labels.insert(view.labels.begin(), view.labels.end());
    return;
  }
  views.push_back(std::move(view));
}

Arm read_arm(Node const& root, Combination const& combination, std::vector<Axis> const& axes,
             Catalogue const& catalogue) {
  Arm arm;
  arm.setting = read_combination(root, combination, catalogue).setting;
  arm.labels = combination.labels;
  arm.label = join_labels(label_of(arm.setting.position.encodings), "position.encoding", arm.labels, axes,
                          {Stage::train, Stage::tune});
  for (auto const& axis : axes)
    if (auto const it = arm.labels.find(axis.name); axis.stage == Stage::train && it != arm.labels.end())
      arm.trained_labels.insert(*it);
  arm.trained_label = join_labels(label_of(arm.setting.position.encodings), "position.encoding", arm.trained_labels,
                                  axes, {Stage::train}) +
                      " / untuned";
  Combination start = combination;
  for (auto const& evaluation : arm.setting.evaluate) start.evaluations.push_back(evaluation.name);
  for (auto const& axis : axes)
    if (auto const picked = axis.where.find("evaluate"); picked != axis.where.end())
      for (auto const& name : picked->second)
        expect(std::find(start.evaluations.begin(), start.evaluations.end(), name) != start.evaluations.end(),
               axis.place.text(), ": vary: where.evaluate is ", name, ", expected the name of a measurement",
               did_you_mean(name, start.evaluations));
  for (auto const& seen : combine(start, groups_of(axes, Stage::evaluate))) {
    View view;
    Setting setting = read_combination(root, seen, catalogue).setting;
    settle_view(view, setting, combination, seen);
    view.places = std::move(setting.places);
    for (auto const& [key, label] : seen.labels)
      if (!combination.labels.contains(key) || combination.labels.at(key) != label) view.labels[key] = label;
    view.label =
        join_labels(label_of(view.position.scalings), "position.scaling", view.labels, axes, {Stage::evaluate});
    view.evaluations = seen.evaluations;
    add_view(arm.views, std::move(view), root.place);
  }
  return arm;
}
}  // namespace

void fill_bases(Node& root, std::vector<Axis> const& axes) {
  for (auto const& axis : axes)
    for (auto const& set : axis.values[0].sets)
      if (!find_node(root, set.key) && axis.stage != Stage::evaluate) put(root, set.key, set.value, set.key_place);
}

std::vector<Arm> expand(Node const& root, std::vector<Axis> const& axes, Catalogue const& catalogue) {
  std::vector<Arm> arms;
  std::vector<Combination> combinations;
  for (auto const& trained : combine({}, groups_of(axes, Stage::train)))
    for (auto& tuned : combine(trained, groups_of(axes, Stage::tune))) combinations.push_back(std::move(tuned));
  for (auto const& combination : combinations) {
    Arm arm = read_arm(root, combination, axes, catalogue);
    for (auto const& known : arms)
      expect(known.label != arm.label, root.place.text(), ": vary: two arms are called ", arm.label,
             "; give their values labels");
    arms.push_back(std::move(arm));
  }
  return arms;
}

}  // namespace sextant::spec
