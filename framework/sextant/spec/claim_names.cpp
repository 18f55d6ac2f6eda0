#include <sextant/base/error.hpp>
#include <sextant/spec/claim_names.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using claims::Fault;
using claims::Measured;

void add_new(std::vector<std::string>& list, std::string const& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

/// A trained arm under a view.
struct Candidate {
  Arm const* arm;
  View const* view;

  /// Its label in a dimension; "" when it has none.
  std::string label(std::string const& key) const {
    if (auto const it = view->labels.find(key); it != view->labels.end()) return it->second;
    if (auto const it = arm->labels.find(key); it != arm->labels.end()) return it->second;
    if (key == "position.encoding") return label_of(view->position.encodings);
    if (key == "position.scaling") return label_of(view->position.scalings);
    return "";
  }
};

/// Keys of dimensions and the words they go by.
std::vector<std::string> keys_of(std::vector<Arm> const& arms) {
  std::vector<std::string> keys{"position.encoding", "position.scaling"};
  for (auto const& arm : arms) {
    for (auto const& item : arm.labels) add_new(keys, item.first);
    for (auto const& view : arm.views)
      for (auto const& item : view.labels) add_new(keys, item.first);
  }
  return keys;
}
std::string short_name(std::string const& key) { return key.substr(key.rfind('.') + 1); }

std::string key_named(claims::Piece const& dimension, std::vector<Arm> const& arms) {
  std::vector<std::string> hits, known;
  for (auto const& key : keys_of(arms)) {
    if (key == dimension.text) return key;
    if (short_name(key) == dimension.text) hits.push_back(key);
    bool const taken = std::find(known.begin(), known.end(), short_name(key)) != known.end();
    known.push_back(taken ? key : short_name(key));
  }
  if (hits.empty())
    throw Fault(dimension.at, "nothing is called " + dimension.text + did_you_mean(dimension.text, known));
  for (auto const& key : hits)  // what a model is measured under goes before what it was tuned with
    if (hits.size() > 1 && key.starts_with("position.")) return key;
  if (hits.size() > 1)
    throw Fault(dimension.at, dimension.text + " is one of " + join(hits) + ", expected the whole key");
  return hits[0];
}

Evaluation const& evaluation_named(Measured const& quantity, std::vector<Arm> const& arms) {
  std::vector<std::string> known;
  for (auto const& evaluation : arms.at(0).setting.evaluate) {
    if (evaluation.name == quantity.probe.text) return evaluation;
    known.push_back(evaluation.name);
  }
  throw Fault(quantity.probe.at,
              "no measurement is called " + quantity.probe.text + did_you_mean(quantity.probe.text, known));
}

bool is_per_byte(Measured const& quantity) { return quantity.measure.text.ends_with(per_byte); }

void check_measure(Measured const& quantity, Evaluation const& evaluation, bool in_bytes) {
  std::vector<std::string> known;
  for (auto const& what : evaluation.keep)
    if (what != "per_position") known.push_back(what);
  bool const per_byte_too = !in_bytes && evaluation.use == Probe::lm_loss;
  for (std::size_t n = 0, kept = known.size(); n < kept && per_byte_too; ++n) known.push_back(known[n] + per_byte);
  std::string const& measure = quantity.measure.text;
  if (std::find(known.begin(), known.end(), measure) != known.end()) return;
  throw Fault(quantity.measure.at, text(evaluation.name, " keeps no ", measure,
                                        known.empty() ? ", expected a measure other than per_position in its keep"
                                                      : did_you_mean(measure, known)));
}

std::string units_of(Measured const& quantity, Evaluation const& evaluation) {
  return is_per_byte(quantity) ? "nat/byte" : units_of(facts_of(evaluation.use), quantity.measure.text);
}

void check_length(Measured const& quantity, Evaluation const& evaluation) {
  auto const& lengths = evaluation.lengths;
  if (std::find(lengths.begin(), lengths.end(), quantity.length) != lengths.end()) return;
  throw Fault(quantity.length_at,
              text(evaluation.name, " is not measured at ", quantity.length,
                   facts_of(evaluation.use).reads_task ? "" : " tokens", ", expected one of ", lengths));
}

std::vector<Candidate> candidates_of(std::string const& evaluation, std::vector<Arm> const& arms) {
  std::vector<Candidate> out;
  for (auto const& arm : arms)
    for (auto const& view : arm.views)
      if (std::find(view.evaluations.begin(), view.evaluations.end(), evaluation) != view.evaluations.end())
        out.push_back({&arm, &view});
  return out;
}

std::vector<std::string> labels_of(std::vector<Candidate> const& candidates, std::string const& key) {
  std::vector<std::string> out;
  for (auto const& each : candidates)
    if (std::string const label = each.label(key); !label.empty()) add_new(out, label);
  return out;
}

// Those with a label; the fault says whether it is unknown or only does not go with the ones before.
std::vector<Candidate> with_label(std::vector<Candidate> const& from, std::vector<Candidate> const& all,
                                  std::string const& key, Measured::Where const& where) {
  std::vector<Candidate> out;
  for (auto const& each : from)
    if (each.label(key) == where.label.text) out.push_back(each);
  if (!out.empty()) return out;
  auto const known = labels_of(all, key);
  std::string const& label = where.label.text;
  if (std::find(known.begin(), known.end(), label) == known.end())
    throw Fault(where.label.at, text("no arm has ", where.dimension.text, " ", label, did_you_mean(label, known)));
  auto const possible = labels_of(from, key);
  throw Fault(where.label.at,
              text("no arm has ", where.dimension.text, " ", label, " together with what stands before, expected ",
                   possible.empty() ? text("no ", where.dimension.text) : "one of " + join(possible)));
}
}  // namespace

Settled settle(Measured const& quantity, std::vector<Arm> const& arms) {
  Evaluation const& evaluation = evaluation_named(quantity, arms);
  check_measure(quantity, evaluation, arms.at(0).setting.data.tokens == "bytes");
  check_length(quantity, evaluation);
  auto const all = candidates_of(evaluation.name, arms);
  auto left = all;
  bool scaling_given = false;
  for (auto const& where : quantity.where) {
    std::string const key = key_named(where.dimension, arms);
    scaling_given = scaling_given || key == "position.scaling";
    left = with_label(left, all, key, where);
  }
  auto const plain = [](Candidate const& each) { return each.label("position.scaling") == "none"; };
  if (!scaling_given && std::any_of(left.begin(), left.end(), plain))
    std::erase_if(left, [&](Candidate const& each) { return !plain(each); });
  if (left.size() != 1) {
    std::vector<std::string> names;
    for (auto const& each : left) names.push_back(each.arm->label + (plain(each) ? "" : " · " + each.view->label));
    throw Fault(quantity.probe.at, text(quantity.probe.text, ".", quantity.measure.text, " @ ", quantity.length,
                                        " stands for several arms (", join(names),
                                        "), expected one, as in {encoding=", left[0].label("position.encoding"), "}"));
  }
  Measured settled = quantity;
  settled.where = {{{"encoding", 0}, {left[0].arm->label, 0}}, {{"scaling", 0}, {left[0].view->label, 0}}};
  return {claims::write(settled), units_of(quantity, evaluation), evaluation.windows, evaluation.span()};
}

}  // namespace sextant::spec
