#include <sextant/base/error.hpp>
#include <sextant/doctor/finding.hpp>
#include <sextant/inspect/bias_profile.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::doctor {

std::vector<Finding> table_ends(Patient const& patient) {
  auto const looked_at = patient.subject(2);
  std::vector<Finding> out;
  for (auto const& term : looked_at.terms()) {
    int const length = term.encoding->table_length();
    if (length == 0 || patient.longest <= length) continue;
    Finding finding{.check = "table", .place = patient.place("encoding"), .patient = patient.name};
    finding.evidence = text(term.label, " has a table of ", length, " positions, and rows reach ", patient.longest);
    finding.why = text("position ", length, " has no row: a read past the table is garbage or a crash");
    finding.remedy =
        text("make the table at least ", patient.longest, " long before training, or measure up to ", length);
    finding.numbers = {{"table", double(length)}, {"length", patient.longest}};
    out.push_back(std::move(finding));
  }
  return out;
}

std::vector<Finding> neighbour_weight(Patient const& patient) {
  auto const profile = inspect::bias_profile(patient.subject(std::max(patient.trained, 16.0)));
  if (!profile) return {};
  constexpr double least = 0.1;
  std::vector<std::string> heads;
  double smallest = 1;
  for (auto const& head : profile->heads) {
    double const weight = 1 / (1 + std::exp(-head.per_token));  // of the neighbour, against the token itself alone
    if (!(weight < least)) continue;
    smallest = std::min(smallest, weight);
    heads.push_back(std::to_string(head.head));
  }
  if (heads.empty()) return {};
  Finding out{.check = "neighbour", .place = patient.place("encoding"), .patient = patient.name};
  out.evidence = text("the bias leaves the token before a weight of at most ",
                      spec::number_text(std::round(smallest * 1e4) / 1e4), " beside the token itself, in head",
                      heads.size() > 1 ? "s " : " ", join(heads), " of ", patient.shape.heads);
  out.why = "such a head sees itself alone: short texts suffer first";
  out.remedy = text("flatten the slope: below ", spec::number_text(std::round(std::log(1 / least - 1) * 100) / 100),
                    " logits a token the neighbour keeps a tenth");
  out.numbers = {{"weight", smallest}, {"heads", double(heads.size())}};
  return {out};
}

std::vector<Finding> bias_budget(Patient const& patient) {
  if (patient.trained < 16) return {};
  auto const profile = inspect::bias_profile(patient.subject(patient.trained));
  if (!profile || static_cast<int>(profile->heads.size()) < patient.shape.heads) return {};
  double const budget = 3 * patient.spread;
  double widest = 0;
  for (auto const& head : profile->heads) {
    double at = patient.trained;
    for (std::size_t n = profile->distance.size(); n-- > 0;)
      if (head.value[0] - head.value[n] >= budget) at = profile->distance[n];
    widest = std::max(widest, at);
  }
  if (widest >= patient.trained / 4) return {};
  Finding out{.check = "bias-budget", .place = patient.place("encoding"), .patient = patient.name};
  out.evidence =
      text("every head's bias takes more than ", budget, " logits (three standard deviations of the content, ",
           patient.spread, ") from distance ", widest, " on, of ", patient.trained, " trained tokens");
  out.why = "no content outweighs the bias there: three quarters of the context are paid for and not seen";
  out.remedy = "flatten the shallowest slopes, or train at a shorter length; --spread gives a measured deviation";
  out.numbers = {{"distance", widest}, {"budget", budget}, {"trained", patient.trained}};
  return {out};
}

}  // namespace sextant::doctor
