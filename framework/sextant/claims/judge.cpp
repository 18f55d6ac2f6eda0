#include <sextant/claims/judge.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::claims {
namespace {
using statistics::Evidence;

/// p-values of a link being false, and of it being true.
struct PValues {
  double of_false = 1, of_true = 1;
};

PValues p_values(Evidence const& evidence, Link const& link) {
  double const m = link.margin;
  auto const two_of = [](double a, double b) { return std::min(1.0, 2 * std::min(a, b)); };
  switch (link.relation) {
    case Relation::less:
      return {evidence.p_below(-m), evidence.p_above(-m)};
    case Relation::less_equal:
      return {evidence.p_below(m), evidence.p_above(m)};
    case Relation::greater:
      return {evidence.p_above(m), evidence.p_below(m)};
    case Relation::greater_equal:
      return {evidence.p_above(-m), evidence.p_below(-m)};
    case Relation::equal:  // two one-sided tests
      return {std::max(evidence.p_below(m), evidence.p_above(-m)), two_of(evidence.p_above(m), evidence.p_below(-m))};
  }
  return {};
}

Evidence evidence_of(Data const& data, Test const& test, Link const& link, By by, Sample sample) {
  auto const effect = effect_of(test, link);
  auto const drawn = sample == Sample::seeds ? statistics::Drawn::seeds_and_windows : statistics::Drawn::windows;
  return by == By::paired_t ? statistics::student(data.panel, effect, drawn)
                            : statistics::bootstrap(data.panel, effect, 9999, drawn);
}

std::string too_few(Data const& data, By by, Sample sample) {
  if (sample != Sample::seeds)
    return data.panel.windows >= 2 ? ""
                                   : text("one of the ", name_of(sample), " has no spread: a verdict needs 2 ",
                                          name_of(sample), " or more");
  if (data.panel.seeds < 2)
    return text("one seed (", data.seeds.at(0), ") has no spread: a verdict needs 2 seeds or more");
  if (by == By::paired_bootstrap && data.panel.windows < 2)
    return "one window of text has no spread: a verdict by paired_bootstrap needs 2 windows or more";
  return "";
}

// A chain holds when all of its links do, so its p-value is the largest of theirs; it fails when one of them does.
void take_link(Outcome& out, std::size_t index, std::vector<Link> const& links, Evidence const& evidence,
               double confidence) {
  PValues const p = p_values(evidence, links[index]);
  out.p_against = std::min(out.p_against.value_or(1), p.of_true);
  bool const weaker =
      !out.p || p.of_false > *out.p ||
      (p.of_false == *out.p && slack(evidence.effect, links[index]) < slack(*out.effect, links[out.relation]));
  if (!weaker) return;
  out.relation = index;
  out.p = p.of_false;
  out.effect = evidence.effect;
  out.interval = evidence.interval(confidence);
}

/// Verdict and numbers of one claim, apart from the corrections.
Outcome tested(Claim const& claim, Sample sample, results::Group const& study, double family_error) {
  Outcome out;
  out.claim = claim;
  out.sample = sample;
  out.reason = claim.missing;
  if (!out.reason.empty()) return out;
  Test const test = parse(claim.settled);
  Data const data = data_of(test, claim.by, sample, study);
  bool const given = sample != Sample::seeds;
  out.seeds = given ? 0 : static_cast<int>(data.panel.seeds);
  out.windows = given || claim.by == By::paired_bootstrap ? static_cast<int>(data.panel.windows) : 0;
  out.reason = data.missing.empty() ? too_few(data, claim.by, sample) : data.missing;
  if (!out.reason.empty()) return out;
  auto const links = links_of(test, claim.margin);
  out.units = claim.margin.relative() ? "%" : units_of(test.sides[0], data.units);
  if (out.units.empty()) out.units = units_of(test.sides[1], data.units);
  for (std::size_t i = 0; i < links.size(); ++i)
    take_link(out, i, links, evidence_of(data, test, links[i], claim.by, sample), 1 - family_error);
  out.p_against = std::min(1.0, *out.p_against * static_cast<double>(links.size()));
  return out;
}

// Sides that shall be near, and an interval wider than the margin even if it lay around no difference at all.
bool hopeless(Outcome const& out) {
  auto const relations = parse(out.claim.settled).relations;
  bool const near = std::any_of(relations.begin(), relations.end(),
                                [](Relation r) { return r != Relation::less && r != Relation::greater; });
  return near && out.interval->half() > out.claim.margin.value;
}
}  // namespace

std::vector<Link> links_of(Test const& test, Margin const& margin) {
  std::vector<Link> out;
  for (std::size_t i = 0; i < test.relations.size(); ++i)
    out.push_back({i, test.relations[i], margin.relative(), margin.value});
  return out;
}

statistics::Effect effect_of(Test const& test, Link const& link) {
  return [left = test.sides[link.left], right = test.sides[link.left + 1],
          relative = link.relative](std::span<double const> means) {
    double const a = value_of(left, means), b = value_of(right, means);
    return relative ? 100 * (a / b - 1) : a - b;
  };
}

double slack(double effect, Link const& link) {
  switch (link.relation) {
    case Relation::less:
      return -link.margin - effect;
    case Relation::less_equal:
      return link.margin - effect;
    case Relation::greater:
      return effect - link.margin;
    case Relation::greater_equal:
      return effect + link.margin;
    case Relation::equal:
      return link.margin - std::abs(effect);
  }
  return 0;
}

Judgement judge(Claims const& claims, results::Group const& study) {
  Judgement out;
  out.family_error = claims.family_error;
  out.sample = claims.sample;
  std::string const drawn = claims.sample == Sample::seeds ? "seeds and windows" : name_of(claims.sample);
  std::vector<double> p, against;
  std::vector<std::size_t> of;
  for (auto const& claim : claims.list) {
    out.outcomes.push_back(tested(claim, claims.sample, study, claims.family_error));
    if (!out.outcomes.back().p) continue;
    of.push_back(out.outcomes.size() - 1);
    p.push_back(*out.outcomes.back().p);
    against.push_back(*out.outcomes.back().p_against);
  }
  auto const p_adjusted = statistics::holm(p), against_adjusted = statistics::holm(against);
  for (std::size_t i = 0; i < of.size(); ++i) {
    Outcome& one = out.outcomes[of[i]];
    one.p_adjusted = p_adjusted[i];
    one.p_against = against_adjusted[i];
    one.verdict = p_adjusted[i] <= claims.family_error         ? Verdict::holds
                  : against_adjusted[i] <= claims.family_error ? Verdict::fails
                                                               : Verdict::undecided;
    if (one.verdict != Verdict::undecided) continue;
    one.reason = text("these ", drawn, " show neither the claim nor its opposite");
    if (!hopeless(one)) continue;
    one.verdict = Verdict::out_of_reach;
    one.reason = text("too few ", claims.sample == Sample::seeds ? "seeds or windows" : drawn,
                      " for the margin: around any difference the interval would reach past it");
  }
  return out;
}

std::string name_of(Verdict verdict) {
  static constexpr char const* names[] = {"holds", "fails", "undecided", "out of reach"};
  return names[static_cast<int>(verdict)];
}
std::string name_of(By by) { return by == By::paired_t ? "paired_t" : "paired_bootstrap"; }

std::string name_of(Sample sample) {
  static constexpr char const* names[] = {"seeds", "windows", "documents"};
  return names[static_cast<int>(sample)];
}

std::string measure_name(std::string const& region, std::string const& metric) {
  if (metric == "loss") return region;
  return region.empty() || region == "mean" ? metric : metric + "_" + region;
}

}  // namespace sextant::claims
