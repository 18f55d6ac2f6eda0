#include <sextant/base/error.hpp>
#include <sextant/report/study.hpp>

#include <algorithm>
#include <set>

namespace sextant::report {
namespace {
template <class T>
void add_new(std::vector<T>& list, T const& item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

bool matches(ResultRow const& row, Quantity const& quantity) {
  return row.probe == quantity.probe && row.region == quantity.region && row.metric == quantity.metric;
}
}  // namespace

std::string const& title_of(StudyView const& study) { return study.title.empty() ? study.name : study.title; }

std::vector<Arm> arms_of(StudyView const& study) {
  std::vector<Arm> arms;
  std::vector<std::string> encodings;
  auto const add = [&](std::string const& encoding, std::string const& scaling) {
    if (encoding.empty()) return;
    add_new(arms, Arm{encoding, scaling});
    add_new(encodings, encoding);
  };
  // A finished run that was only measured through others (under scalings) is no arm of its own.
  auto const measured = [&](RunView const& run) {
    auto const of = [&](ResultRow const& row) { return row.run == run.id; };
    auto const child = [&](RunView const& other) {
      return std::find(other.parents.begin(), other.parents.end(), run.id) != other.parents.end();
    };
    return run.status != "done" || std::any_of(study.rows.begin(), study.rows.end(), of) ||
           std::none_of(study.runs.begin(), study.runs.end(), child);
  };
  for (auto const& run : study.runs)
    if (measured(run)) add(run.encoding, run.scaling);
  for (auto const& row : study.rows) add(row.encoding, row.scaling);
  auto const place = [&](Arm const& arm) { return std::find(encodings.begin(), encodings.end(), arm.encoding); };
  std::stable_sort(arms.begin(), arms.end(), [&](Arm const& a, Arm const& b) { return place(a) < place(b); });
  return arms;
}

std::vector<RunView const*> runs_of(StudyView const& study, Arm const& arm) {
  std::vector<RunView const*> out;
  for (auto const& run : study.runs)
    if (Arm{run.encoding, run.scaling} == arm) out.push_back(&run);
  return out;
}

std::vector<Quantity> quantities_of(StudyView const& study) {
  std::vector<Quantity> out;
  for (auto const& row : study.rows) add_new(out, Quantity{row.probe, row.region, row.metric});
  return out;
}

Quantity main_quantity(StudyView const& study) {
  auto const all = quantities_of(study);
  expect(!all.empty(), study.file.empty() ? study.name : study.file, ": summary/results has no rows");
  auto const rank = [&](Quantity const& q) {
    return (study.is_control(q.probe) ? 8 : 0) + (q.metric == "loss" ? 0 : 2) + (q.region == "mean" ? 0 : 1);
  };
  return *std::min_element(all.begin(), all.end(),
                           [&](Quantity const& a, Quantity const& b) { return rank(a) < rank(b); });
}

bool StudyView::is_control(std::string const& probe) const {
  return std::find(controls.begin(), controls.end(), probe) != controls.end();
}

bool lower_is_better(std::string const& metric) {
  for (char const* const higher : {"accuracy", "correct", "recall", "exact", "token", "gain", "score", "speed"})
    if (metric.find(higher) != std::string::npos) return false;
  return true;
}

std::vector<std::int64_t> lengths_of(StudyView const& study, Quantity const& quantity) {
  std::set<std::int64_t> out;
  for (auto const& row : study.rows)
    if (matches(row, quantity)) out.insert(row.length);
  return {out.begin(), out.end()};
}

std::vector<std::int64_t> seeds_of(StudyView const& study) {
  std::set<std::int64_t> out;
  for (auto const& row : study.rows) out.insert(row.seed);
  for (auto const& run : study.runs) out.insert(run.seed);
  return {out.begin(), out.end()};
}

std::string units_of(StudyView const& study, Quantity const& quantity) {
  for (auto const& row : study.rows)
    if (matches(row, quantity) && !row.units.empty()) return row.units;
  return "";
}

}  // namespace sextant::report
