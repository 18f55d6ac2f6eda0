#include <sextant/extend/tables.hpp>
#include <sextant/report/text.hpp>
#include <sextant/results/table.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace sextant::extend {
namespace {
using report::Align;
using report::Table;
using report::TableCell;
using results::Group;
using results::ResultRow;

class Study {
 public:
  explicit Study(Group const& file) : rows_(results::table(file.group("summary/results"))) {
    for (auto const& [id, run] : file.group("runs").groups) {
      runs_.push_back({run.attribute<std::string>("scaling"), &run});
      if (Group const* const config = run.find_group("config"))  // none yet where nothing of the arm is done
        trained = config->attribute<std::int64_t>("train.length", trained);
    }
  }
  std::int64_t trained = 0;

  std::vector<std::string> arms() const {
    std::vector<std::string> out;
    for (auto const& run : runs_) out.push_back(run.first);
    return out;
  }
  Group const& run(std::string const& arm) const {
    return *std::find_if(runs_.begin(), runs_.end(), [&](auto const& r) { return r.first == arm; })->second;
  }
  ResultRow const* find(std::string const& arm, std::string const& probe, std::string const& metric,
                        std::string const& region, std::int64_t length) const {
    for (auto const& row : rows_)
      if (row.scaling == arm && row.probe == probe && row.metric == metric && row.length == length &&
          (region.empty() ? row.region.starts_with("tail") : row.region == region))
        return &row;
    return nullptr;
  }
  std::vector<std::int64_t> lengths(std::string const& probe) const {
    std::set<std::int64_t> out;
    for (auto const& row : rows_)
      if (row.probe == probe) out.insert(row.length);
    return {out.begin(), out.end()};
  }
  std::string tail() const {
    for (auto const& row : rows_)
      if (row.region.starts_with("tail")) return row.region;
    return "";
  }

 private:
  results::ResultTable rows_;
  std::vector<std::pair<std::string, Group const*>> runs_;
};

Table with_lengths(std::string title, std::vector<std::int64_t> const& lengths, std::int64_t trained) {
  Table out{.title = std::move(title)};
  out.columns.push_back({"scaling", Align::left});
  for (auto const length : lengths) out.columns.push_back({report::grouped(length), Align::right, length == trained});
  return out;
}

/// A row an arm, a column a length.
template <class Cell>
Table by_length(Study const& study, std::string title, std::vector<std::int64_t> const& lengths, Cell const& cell) {
  Table out = with_lengths(std::move(title), lengths, study.trained);
  for (auto const& arm : study.arms()) {
    std::vector<TableCell> row{{arm}};
    for (auto const length : lengths) row.push_back(cell(arm, length));
    out.rows.push_back(std::move(row));
  }
  return out;
}

TableCell none() { return {std::string(report::missing), report::Mark::none, true}; }
TableCell percent(double log_ratio) { return {report::with_sign(100 * std::expm1(log_ratio), 1) + " %"}; }

TableCell loss_cell(ResultRow const* row) {
  if (!row) return none();
  return {report::cat({report::fixed(row->value, 3), " ± ", report::fixed(row->error, 3)})};
}

Table loss_table(Study const& study, std::vector<std::int64_t> const& lengths) {
  std::string const tokens = study.tail().substr(4);
  Table out = by_length(study, "Loss by length, nat/token over the " + tokens + " tokens before it", lengths,
                        [&](std::string const& arm, std::int64_t length) {
                          return loss_cell(study.find(arm, "lm_loss", "loss", "", length));
                        });
  std::vector<TableCell> window{{report::cat({"last ", report::grouped(study.trained), " alone"})}};
  bool any = false;
  for (auto const length : lengths) {
    auto const* row = study.find("none", "window_control", "loss", "", length);
    window.push_back(loss_cell(row));
    any = any || row;
  }
  if (any) out.rows.push_back(std::move(window));
  out.notes.emplace_back("± is the standard error over documents. All arms read the same tokens.");
  if (any)
    out.notes.emplace_back(
        "The last row is the model as trained, shown no more than its trained length: what a plain "
        "window reaches.");
  return out;
}

/// Against the plain window past the trained length, and within it against the model as trained: the damage.
Table change_table(Study const& study, std::vector<std::int64_t> const& lengths) {
  return by_length(study, "Change of perplexity against a plain window of the trained length, same tokens", lengths,
                   [&](std::string const& arm, std::int64_t length) -> TableCell {
                     auto const* row = study.find(arm, "lm_loss", "loss", "", length);
                     auto const* base = study.find("none", "window_control", "loss", "", length);
                     if (!base && length <= study.trained) base = study.find("none", "lm_loss", "loss", "", length);
                     return row && base ? percent(row->value - base->value) : none();
                   });
}

/// As papers and article 002 print it: against the model as trained at its trained length.
Table growth_table(Study const& study, std::vector<std::int64_t> const& lengths) {
  Table out = by_length(study, "Change of perplexity against the model as trained at its trained length", lengths,
                        [&](std::string const& arm, std::int64_t length) -> TableCell {
                          auto const* row = study.find(arm, "lm_loss", "loss", "", length);
                          auto const* base = study.find("none", "lm_loss", "loss", "", study.trained);
                          return row && base ? percent(row->value - base->value) : none();
                        });
  out.notes.emplace_back("Other tokens at every length: the texts' own ups and downs are in these numbers.");
  return out;
}

/// Loss before and after, for every arm that was tuned; the last column is the damage at the trained length.
Table tuning_table(Study const& study, std::vector<std::int64_t> const& lengths) {
  std::string const suffix = " tuned";
  Table out = with_lengths("What tuning did: loss before and after, nat/token", lengths, study.trained);
  bool const damage = std::find(lengths.begin(), lengths.end(), study.trained) != lengths.end();
  if (damage) out.columns.push_back({report::cat({"perplexity at ", report::grouped(study.trained)})});
  for (auto const& arm : study.arms()) {
    if (!arm.ends_with(suffix)) continue;
    std::string const plain = arm.substr(0, arm.size() - suffix.size());
    std::vector<TableCell> row{{plain}};
    for (auto const length : lengths) {
      auto const* before = study.find(plain, "lm_loss", "loss", "", length);
      auto const* after = study.find(arm, "lm_loss", "loss", "", length);
      row.push_back(before && after ? TableCell{report::cat(
                                          {report::fixed(before->value, 3), " → ", report::fixed(after->value, 3)})}
                                    : none());
    }
    auto const* after = study.find(arm, "lm_loss", "loss", "", study.trained);
    auto const* base = study.find("none", "lm_loss", "loss", "", study.trained);
    if (damage) row.push_back(after && base ? percent(after->value - base->value) : none());
    out.rows.push_back(std::move(row));
  }
  if (damage)
    out.notes.emplace_back(
        "The last column is the tuned model against the model as trained, at the length it was trained at.");
  return out;
}

Table position_table(Study const& study, std::int64_t longest) {
  constexpr std::size_t bands = 8;
  std::size_t const width = static_cast<std::size_t>(longest) / bands;
  Table out{.title = "Loss by position, nat/token"};
  out.columns.push_back({"scaling", Align::left});
  for (std::size_t n = 0; n < bands; ++n)
    out.columns.push_back({report::cat({report::grouped(static_cast<long long>(n * width)), "–",
                                        report::grouped(static_cast<long long>((n + 1) * width))})});
  for (auto const& arm : study.arms()) {
    std::string const path = report::cat({"eval/lm_loss/per_position_", std::to_string(longest)});
    if (!study.run(arm).has_array(path)) continue;
    auto const loss = study.run(arm).numbers(path);
    std::vector<TableCell> row{{arm}};
    for (std::size_t n = 0; n < bands; ++n) {
      double sum = 0;
      for (std::size_t i = n * width; i < (n + 1) * width; ++i) sum += loss[i];
      row.push_back({report::fixed(sum / static_cast<double>(width), 3)});
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

Table needle_table(Study const& study, std::vector<std::int64_t> const& lengths) {
  Table out =
      with_lengths("Passkeys found, by depth from the beginning to the end (● found, ○ not)", lengths, study.trained);
  for (auto const& arm : study.arms()) {
    auto const* grid = study.run(arm).find_group("eval/needle");
    if (!grid) continue;
    auto const correct = grid->numbers("correct");
    std::vector<TableCell> row{{arm}};
    for (std::size_t n = 0; n < lengths.size(); ++n) {
      std::string marks;
      for (std::size_t d = 0; d < correct.size() / lengths.size(); ++d)
        marks += correct[d * lengths.size() + n] > 0 ? "●" : "○";
      row.push_back({marks});
    }
    out.rows.push_back(std::move(row));
  }
  return out;
}

Table attention_table(Study const& study, std::vector<std::int64_t> const& lengths, std::string const& metric,
                      std::string const& title) {
  return by_length(study, title, lengths, [&](std::string const& arm, std::int64_t length) -> TableCell {
    auto const* row = study.find(arm, "attention", metric, "all heads", length);
    return row ? TableCell{report::fixed(row->value, 3)} : none();
  });
}
}  // namespace

std::vector<Table> tables_of(Group const& file) {
  Study const study(file);
  std::vector<Table> out;
  if (auto const lengths = study.lengths("lm_loss"); !lengths.empty()) {
    out.push_back(loss_table(study, lengths));
    out.push_back(change_table(study, lengths));
    if (std::find(lengths.begin(), lengths.end(), study.trained) != lengths.end())
      out.push_back(growth_table(study, lengths));
    if (auto const tuned = tuning_table(study, lengths); !tuned.rows.empty()) out.push_back(tuned);
    if (lengths.back() >= 8) out.push_back(position_table(study, lengths.back()));
  }
  if (auto const lengths = study.lengths("needle"); !lengths.empty()) out.push_back(needle_table(study, lengths));
  if (auto const lengths = study.lengths("attention"); !lengths.empty()) {
    out.push_back(attention_table(study, lengths, "entropy", "Entropy of attention, nat, mean over layers and heads"));
    out.push_back(attention_table(study, lengths, "logit spread",
                                  "Spread of the logits (standard deviation), mean over layers and heads"));
  }
  return out;
}

}  // namespace sextant::extend
