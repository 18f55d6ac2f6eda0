// Plots that are maps: answers by length and by where in the text they are told, attention by layer and head.
#include <sextant/base/error.hpp>
#include <sextant/report/plot_parts.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

namespace sextant::report {
namespace {
/// Mean of what is finite; NaN of nothing.
class Mean {
 public:
  void add(double value) {
    if (std::isfinite(value)) sum_ += value, ++n_;
  }
  double value() const { return n_ > 0 ? sum_ / n_ : nan; }

 private:
  double sum_ = 0;
  int n_ = 0;
};

std::string in_percent(double share) { return std::to_string(std::lround(100 * share)); }
/// "317" or "1.2k", for a cell.
std::string short_distance(double tokens) {
  if (!std::isfinite(tokens)) return std::string(missing);
  return tokens < 1000 ? fixed(tokens, tokens < 10 ? 1 : 0) : cat({fixed(tokens / 1000, 1), "k"});
}

std::string over_seeds(StudyView const& study) {
  std::size_t const n = seeds_of(study).size();
  return n < 2 ? "One seed." : cat({"Mean over ", std::to_string(n), " seeds."});
}

std::vector<std::string> words_of(std::vector<std::int64_t> const& lengths) {
  std::vector<std::string> out;
  for (auto const length : lengths) out.push_back(grouped(length));
  return out;
}

/// Columns that training reached, when there are others.
std::size_t trained_columns(StudyView const& study, std::vector<std::int64_t> const& lengths) {
  if (!study.trained_length) return 0;
  auto const end = std::upper_bound(lengths.begin(), lengths.end(), *study.trained_length);
  return end == lengths.end() ? 0 : static_cast<std::size_t>(end - lengths.begin());
}
char const* trained_words(StudyView const& study, std::vector<std::int64_t> const& lengths) {
  return trained_columns(study, lengths) > 0 ? " Right of the dashed line are lengths beyond the trained one." : "";
}

// ---- answers by depth

bool is_one_of(std::string const& word, std::vector<std::string> const& list) {
  return std::find(list.begin(), list.end(), word) != list.end();
}

/// Every grid of one of the measures, and the axes that they span together.
struct Depths {
  std::vector<std::string> measures;
  std::string probe;
  std::set<std::int64_t> lengths;
  std::set<double> depths;

  Depths(StudyView const& study, std::vector<std::string> wanted) : measures(std::move(wanted)) {
    for (auto const& run : study.runs)
      for (auto const& grid : run.depths) {
        if (!is_one_of(grid.measure, measures) || study.is_control(grid.probe)) continue;
        if (probe.empty()) probe = grid.probe;
        if (!fits(grid)) continue;
        lengths.insert(grid.length.begin(), grid.length.end());
        depths.insert(grid.depth.begin(), grid.depth.end());
      }
  }
  bool fits(DepthGrid const& grid) const { return grid.probe == probe && is_one_of(grid.measure, measures); }

  /// [depth, length], mean over the seeds of an arm; empty where it has nothing.
  std::vector<double> of(StudyView const& study, Arm const& arm) const {
    std::map<std::pair<double, std::int64_t>, Mean> cells;
    for (auto const* run : runs_of(study, arm))
      for (auto const& grid : run->depths)
        for (std::size_t k = 0; fits(grid) && k < grid.value.size(); ++k)
          cells[{grid.depth[k % grid.depth.size()], grid.length[k / grid.depth.size()]}].add(grid.value[k]);
    std::vector<double> out;
    if (cells.empty()) return out;
    for (double const depth : depths)
      for (auto const length : lengths) out.push_back(cells[{depth, length}].value());
    return out;
  }
};

std::string depth_caption(StudyView const& study, std::vector<std::int64_t> const& lengths) {
  return cat({"A row is the place where the answer is told, 0 % the beginning of the text; a column is a length. ",
              over_seeds(study), trained_words(study, lengths)});
}

Maps depth_maps(StudyView const& study, Looks const& looks, Depths const& grid, Shading const& shading,
                std::function<std::string(double)> const& word) {
  std::vector<std::int64_t> const lengths(grid.lengths.begin(), grid.lengths.end());
  Maps out;
  out.shadings = {shading};
  std::vector<std::string> labels;
  for (auto const& arm : arms_of(study)) {
    MapPanel panel;
    panel.value = grid.of(study, arm);
    if (panel.value.empty()) continue;
    panel.row_title = "told at";
    panel.column_title = "length";
    for (double const depth : grid.depths) panel.row_labels.push_back(cat({in_percent(depth), " %"}));
    panel.column_labels = words_of(lengths);
    panel.mark = trained_columns(study, lengths);
    for (double const value : panel.value)
      panel.words.push_back(std::isfinite(value) ? word(value) : std::string(missing));
    labels.push_back(arm.label());
    out.groups.push_back({arm.label(), looks.of(arm), {std::move(panel)}});
  }
  out.description = cat({grid.probe, " by depth and length for ", join(labels), "."});
  return out;
}

// ---- attention

/// The arm's grids of a measure, one a seed, in the order of the runs.
std::vector<std::pair<std::int64_t, HeadGrid const*>> heads_of(StudyView const& study, Arm const& arm,
                                                               std::string const& measure) {
  std::vector<std::pair<std::int64_t, HeadGrid const*>> out;
  for (auto const* run : runs_of(study, arm))
    for (auto const& grid : run->heads)
      if (grid.measure == measure && !study.is_control(grid.probe)) out.emplace_back(run->seed, &grid);
  return out;
}

/// [head, layer] at a length; empty where the grid does not have it.
std::vector<double> heads_at(HeadGrid const& grid, std::int64_t length) {
  auto const at = std::find(grid.length.begin(), grid.length.end(), length);
  std::vector<double> out;
  if (at == grid.length.end()) return out;
  std::size_t const first = static_cast<std::size_t>(at - grid.length.begin()) * grid.layers * grid.heads;
  for (std::size_t head = 0; head < grid.heads; ++head)
    for (std::size_t layer = 0; layer < grid.layers; ++layer)
      out.push_back(grid.value[first + layer * grid.heads + head]);
  return out;
}

std::vector<std::string> numbers_below(std::size_t end) {
  std::vector<std::string> out;
  for (std::size_t n = 0; n < end; ++n) out.push_back(std::to_string(n));
  return out;
}

struct HeadMeasure {
  char const *name, *words;
  bool log;
};
constexpr HeadMeasure head_measures[] = {{"entropy", "entropy [nat]", false},
                                         {"spread", "spread of the logits", false},
                                         {"distance95", "reach of 95 % [token]", true},
                                         {"distance90", "reach of 90 % [token]", true},
                                         {"distance50", "reach of half [token]", true}};
constexpr std::pair<char const*, char const*> quantiles[] = {
    {"distance50", "50 %"}, {"distance90", "90 %"}, {"distance95", "95 %"}};

/// Quantiles of distance by length, mean over heads and seeds: the numbers of summary/results, drawn.
MapPanel reach_panel(StudyView const& study, Arm const& arm, std::vector<std::int64_t> const& lengths,
                     std::size_t shading) {
  MapPanel out;
  out.title = "weight within [token]";
  out.shading = shading;
  out.row_title = "share";
  out.column_title = "length [token]";
  out.column_labels = words_of(lengths);
  out.mark = trained_columns(study, lengths);
  for (auto const& [measure, share] : quantiles) {
    auto const grids = heads_of(study, arm, measure);
    if (grids.empty()) continue;
    out.row_labels.emplace_back(share);
    for (auto const length : lengths) {
      Mean mean;
      for (auto const& [seed, grid] : grids)
        for (double const value : heads_at(*grid, length)) mean.add(value);
      out.value.push_back(mean.value());
      out.words.push_back(short_distance(mean.value()));
    }
  }
  return out;
}

Shading shading_of(HeadMeasure const& measure, Range ends) {
  Shading out;
  out.title = measure.words;
  if (measure.log) out.title.replace(out.title.size() - 1, 1, ", log]");
  out.log = measure.log;
  out.low = measure.log ? std::max(1.0, ends.low) : ends.low;
  out.high = std::max(out.low, ends.high);
  auto const word = [&](double value) { return measure.log ? short_distance(value) : fixed(value, 2); };
  out.low_text = word(out.low), out.high_text = word(out.high);
  return out;
}

/// Lengths at which some head was looked at, ascending.
std::vector<std::int64_t> lengths_of_heads(StudyView const& study) {
  std::set<std::int64_t> out;
  for (auto const& run : study.runs)
    for (auto const& grid : run.heads)
      if (!study.is_control(grid.probe)) out.insert(grid.length.begin(), grid.length.end());
  return {out.begin(), out.end()};
}

MapPanel head_panel(HeadGrid const& grid, HeadMeasure const& measure, std::int64_t length) {
  MapPanel out;
  out.value = heads_at(grid, length);
  out.title = measure.words;
  out.row_title = "head", out.column_title = "layer";
  out.row_labels = numbers_below(grid.heads), out.column_labels = numbers_below(grid.layers);
  return out;
}

/// A panel of the measure in the group of every arm that has it, of its first seed, and a scale for all of them. False where no
/// head has a finite value.
bool add_head_panels(Maps& out, StudyView const& study, std::vector<Arm> const& arms, HeadMeasure const& measure,
                     std::int64_t length, std::set<std::int64_t>& seeds) {
  std::map<std::size_t, MapPanel> panels;  // by arm
  Range ends;
  for (std::size_t n = 0; n < arms.size(); ++n) {
    auto const grids = heads_of(study, arms[n], measure.name);
    if (grids.empty()) continue;
    auto panel = head_panel(*grids.front().second, measure, length);
    if (panel.value.empty()) continue;
    for (double const value : panel.value) ends.add(value);
    panel.shading = out.shadings.size();
    panels[n] = std::move(panel);
    seeds.insert(grids.front().first);
  }
  if (ends.empty()) return false;
  for (auto& [n, panel] : panels) out.groups[n].panels.push_back(std::move(panel));
  out.shadings.push_back(shading_of(measure, ends));
  return true;
}

std::string heads_caption(StudyView const& study, std::vector<std::int64_t> const& lengths,
                          std::set<std::int64_t> const& seeds, bool reach) {
  std::string const of = seeds_of(study).size() < 2 ? ""
                         : seeds.size() == 1        ? cat({" of seed ", std::to_string(*seeds.begin())})
                                                    : " of the first seed";
  return cat({"Each cell is a head", of, " at ", grouped(lengths.back()), " tokens",
              of.empty() ? "" : "; heads of other seeds do not correspond to them",
              ". A measure has one scale for all arms. ",
              reach ? "Numbers: within how many tokens so much of the weight lies, mean over heads and seeds." : "",
              reach ? trained_words(study, lengths) : ""});
}
}  // namespace

std::optional<Maps> needle_grid(StudyView const& study, Looks const& looks) {
  Depths const grid(study, {"exact", "correct"});
  if (grid.lengths.empty()) return std::nullopt;
  Shading const shading{.title = "answers right [%]", .low_text = "0", .high_text = "100", .words = true};
  Maps out = depth_maps(study, looks, grid, shading, in_percent);
  out.id = "needle_grid";
  out.title = "What was told and found again, by length and depth";
  out.caption = cat({"Share of answers that are right as a whole, in %. ",
                     depth_caption(study, {grid.lengths.begin(), grid.lengths.end()})});
  return out;
}

std::optional<Maps> needle_gain(StudyView const& study, Looks const& looks) {
  Depths const grid(study, {"gain"});
  Range ends;
  for (auto const& arm : arms_of(study))
    for (double const value : grid.of(study, arm)) ends.add(value);
  if (ends.empty()) return std::nullopt;
  double const end = std::max(std::abs(ends.low), std::abs(ends.high));
  int const places = places_for(end);
  Shading const shading = signed_shading("gain [nat/token]", end);
  Maps out = depth_maps(study, looks, grid, shading, [&](double value) { return fixed(value, places); });
  out.id = "needle_gain";
  out.title = "What being told the digits is worth, by length and depth";
  out.caption =
      cat({"How much less the digits cost than where the text tells others, in nat/token: 0 where the model "
           "makes nothing of them. ",
           depth_caption(study, {grid.lengths.begin(), grid.lengths.end()})});
  return out;
}

std::optional<Maps> attention_by_head(StudyView const& study, Looks const& looks) {
  auto const lengths = lengths_of_heads(study);
  if (lengths.empty()) return std::nullopt;
  auto const arms = arms_of(study);
  Maps out;
  out.id = "attention_by_head";
  for (auto const& arm : arms) out.groups.push_back({arm.label(), looks.of(arm), {}});
  std::set<std::int64_t> seeds;  // that heads are shown of
  bool reach = false;            // one of its quantiles by head is enough
  for (auto const& measure : head_measures)
    if (!(measure.log && reach) && add_head_panels(out, study, arms, measure, lengths.back(), seeds))
      reach = reach || measure.log;
  for (std::size_t n = 0; n < arms.size(); ++n)
    if (auto panel = reach_panel(study, arms[n], lengths, out.shadings.size()); !panel.value.empty())
      out.groups[n].panels.push_back(std::move(panel));
  out.shadings.push_back(
      {.low = 1, .high = std::max(2.0, static_cast<double>(lengths.back())), .log = true, .words = true});
  std::erase_if(out.groups, [](MapGroup const& group) { return group.panels.empty(); });
  if (out.groups.empty()) return std::nullopt;
  std::vector<std::string> labels;
  for (auto const& group : out.groups) labels.push_back(group.label);
  std::string const length = grouped(lengths.back());
  out.title = cat({"Attention by layer and head, at ", length});
  out.description = cat({"Measures of attention of each head at ", length, " tokens for ", join(labels), "."});
  out.caption = heads_caption(study, lengths, seeds, reach);
  return out;
}

}  // namespace sextant::report
