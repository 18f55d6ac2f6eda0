// All that `sextant inspect` found, and its three ways out: text, JSON, plots.
#pragma once
#include <sextant/inspect/bias_profile.hpp>
#include <sextant/inspect/cost.hpp>
#include <sextant/inspect/decay.hpp>
#include <sextant/inspect/precision.hpp>
#include <sextant/inspect/spectrum.hpp>
#include <sextant/inspect/table.hpp>
#include <sextant/inspect/wavelengths.hpp>

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sextant::cli {

struct Inspection {
  std::string encoding, scaling;  ///< as given
  inspect::Subject const& subject;
  inspect::Finding<std::vector<inspect::Wavelengths>> wavelengths;
  inspect::Finding<inspect::Decay> expected_logit;
  inspect::Finding<inspect::BiasProfile> bias;
  inspect::Finding<inspect::Spectrum> spectrum;
  inspect::Finding<std::vector<inspect::TableView>> tables;
  inspect::Finding<std::vector<inspect::RotaryRank>> rank;
  inspect::Finding<std::vector<inspect::Precision>> precision;
  inspect::Cost cost;

  std::string name() const { return scaling.empty() ? encoding : encoding + " under " + scaling; }
};

std::string inspection_text(Inspection const& found);
nlohmann::json inspection_json(Inspection const& found);

/// Name and SVG of every plot that there is data for: table_heatmap, wavelengths, unseen_phase, rotation_planes, decay,
/// bias_profile, spectrum, growth, precision_error.
std::vector<std::pair<std::string, std::string>> inspection_plots(Inspection const& found);

}  // namespace sextant::cli
