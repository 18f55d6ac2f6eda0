// The named plots: from a study to a figure. A new plot is a function and a line in the list.
#pragma once
#include <sextant/report/figure.hpp>
#include <sextant/report/study.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::report {

/// A plot by name. `make` gives nothing when the study holds no data for it.
struct Plot {
  char const* name;
  char const* what;
  std::optional<Figure> (*make)(StudyView const& study, Looks const& looks);
};

/// Every plot that `sextant plot FILE NAME` knows, in the order a page shows them.
std::vector<Plot> const& plots();

/// The figure of that name. Throws Error when there is no such plot (naming the nearest) or no data for it.
Figure make_figure(StudyView const& study, std::string const& name);
/// The same of a plot of lines, or of one of maps; Error where it is the other.
Chart make_plot(StudyView const& study, std::string const& name);
Maps make_maps(StudyView const& study, std::string const& name);

/// A complete SVG file of that plot.
std::string plot_svg(StudyView const& study, std::string const& name);

/// Lines of name, tab, what it shows, and whether this study has it.
std::string plot_list(StudyView const* study = nullptr);

/// Loss against length: an arm a line, the band its interval over seeds, the window control dotted.
std::optional<Chart> extrapolation(StudyView const& study, Looks const& looks);

/// Rise of each arm's loss over its own at the trained length, by length, and the allowance that reach.hpp judges by.
std::optional<Chart> effective_context(StudyView const& study, Looks const& looks);

/// Differences between all pairs of 3 to 16 arms at the longest length, and which of them Holm's correction leaves.
std::optional<Maps> pairwise(StudyView const& study, Looks const& looks);

/// Training loss against step, mean over seeds with its band, in at most 80 equal bins of steps.
std::optional<Chart> learning_curves(StudyView const& study, Looks const& looks);

/// Best objective of each method of a search by evaluation.
std::optional<Chart> search_progress(StudyView const& study, Looks const& looks);

/// Divisor of each pair's frequency under each method's best point.
std::optional<Chart> search_factors(StudyView const& study, Looks const& looks);

/// Loss by position in the longest window that positions were kept for, in at most 64 equal bins.
std::optional<Chart> per_position(StudyView const& study, Looks const& looks);

/// Right answers to a task, reach and entropy of attention, spread of its logits: by length, an arm a line with its band.
std::optional<Chart> accuracy_by_length(StudyView const& study, Looks const& looks);
std::optional<Chart> attention_distance(StudyView const& study, Looks const& looks);
std::optional<Chart> entropy_by_length(StudyView const& study, Looks const& looks);
std::optional<Chart> score_spread_by_length(StudyView const& study, Looks const& looks);
/// What a model writes over again, by length: an arm a line with its band, the text's own share dotted.
std::optional<Chart> repetition_by_length(StudyView const& study, Looks const& looks);

/// Right answers by length and by where in the text they are told, and what being told is worth: a map an arm.
std::optional<Maps> needle_grid(StudyView const& study, Looks const& looks);
std::optional<Maps> needle_gain(StudyView const& study, Looks const& looks);

/// Entropy, spread and reach of each head at the longest length, and quantiles of distance by length: a line of maps an arm.
std::optional<Maps> attention_by_head(StudyView const& study, Looks const& looks);

}  // namespace sextant::report
