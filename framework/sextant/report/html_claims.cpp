// The claims board of the page.
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/claims.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
using claims::Outcome;
using claims::Relation;
using claims::Verdict;

struct Badge {
  char const *sign, *css;
};
Badge badge_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::holds:
      return {"✓", "holds"};
    case Verdict::fails:
      return {"✗", "fails"};
    case Verdict::undecided:
      return {"?", "open"};
    case Verdict::out_of_reach:
      return {"–", "open"};
  }
  return {"", ""};
}

/// Bounds that the claim's interval must keep: the left side's lead over the right lies below or above.
std::vector<double> bounds_of(Outcome const& outcome) {
  double const m = outcome.claim.margin.value;
  switch (claims::parse(outcome.claim.settled).relations.at(outcome.relation)) {
    case Relation::less:
    case Relation::greater_equal:
      return {-m};
    case Relation::less_equal:
    case Relation::greater:
      return {m};
    case Relation::equal:
      return {-m, m};
  }
  return {};
}

// Interval and effect on an axis of their own, with the bounds as dashes.
void interval_svg(Xml& out, Outcome const& outcome) {
  auto const bounds = bounds_of(outcome);
  double low = std::min(0.0, outcome.interval->low), high = std::max(0.0, outcome.interval->high);
  for (double const bound : bounds) low = std::min(low, bound), high = std::max(high, bound);
  double const width = 220, pad = 8, span = high > low ? high - low : 1;
  auto const x = [&](double value) { return num(pad + (width - 2 * pad) * (value - low) / span); };
  auto const svg = out.element("svg", {{"viewBox", "0 0 220 26"},
                                       {"class", "span"},
                                       {"role", "img"},
                                       {"aria-label", "the interval against the claim's bound"}});
  out.leaf("path", {{"class", "zero"}, {"d", cat({"M", x(0), " 3V23"})}});
  for (double const bound : bounds) out.leaf("path", {{"class", "bound"}, {"d", cat({"M", x(bound), " 3V23"})}});
  out.leaf("path",
           {{"class", "whisker"}, {"d", cat({"M", x(outcome.interval->low), " 13H", x(outcome.interval->high)})}});
  out.leaf("circle", {{"cx", x(*outcome.effect)}, {"cy", "13"}, {"r", "4.5"}});
}

void numbers_of(Xml& out, Outcome const& outcome) {
  auto const div = out.element("div", {{"class", "numbers"}});
  if (!outcome.effect) return;
  interval_svg(out, outcome);
  out.text("span", {}, effect_text(outcome));
  out.text("span", {}, interval_text(outcome));
  bool const fails = outcome.verdict == Verdict::fails;
  auto const& given = fails ? outcome.p_against : outcome.p_adjusted;
  std::string const p = given ? p_value(*given) : std::string(missing);
  out.text("span", {}, cat({fails ? "p of the opposite " : "p ", p, ", n ", sample_text(outcome)}));
}

}  // namespace

void claim_item(Xml& out, Outcome const& outcome, std::string const& id, std::string const& link,
                std::string const& study) {
  Badge const badge = badge_of(outcome.verdict);
  auto const item = out.element("li", {{"class", cat({"claim ", badge.css})}, {"id", id}});
  {
    auto const verdict = out.element("div", {{"class", "verdict"}});
    out.text("span", {{"class", "sign"}, {"aria-hidden", "true"}}, badge.sign);
    out.text("b", {}, claims::name_of(outcome.verdict));
  }
  {
    auto const words = out.element("div", {{"class", "words"}});
    if (outcome.claim.says != outcome.claim.test) out.text("p", {{"class", "says"}}, outcome.claim.says);
    out.text("code", {}, outcome.claim.test);
    if (!outcome.claim.source.empty()) out.text("p", {{"class", "why"}}, outcome.claim.source);
    auto const& margin = outcome.claim.margin;
    if (margin.value > 0)
      out.text("p", {{"class", "why"}},
               cat({"margin ", exact(margin.value), " ", margin.units == "1" ? "" : margin.units}));
    if (!outcome.reason.empty()) out.text("p", {{"class", "why"}}, cat({outcome.reason, "."}));
    if (!link.empty()) {
      auto const p = out.element("p", {{"class", "why"}});
      out.text("a", {{"href", link}}, study);
    }
  }
  numbers_of(out, outcome);
}

void claims_section(Page& page) {
  auto const& judgement = page.study.claims;
  if (!judgement) return;
  bool const given = judgement->sample != claims::Sample::seeds;
  auto const scope = page.section("claims", "Claims",
                                  cat({"What the study set out to show: ", verdict_count(*judgement),
                                       ". Dot and line: effect with its ", exact(100 * (1 - judgement->family_error)),
                                       " % interval; thin line: zero; dashes: what the claim must keep to. ",
                                       "Verdicts are corrected over the list (Holm).",
                                       given ? cat({" ", about_sample(judgement->sample)}) : std::string()}));
  {
    auto const list = page.out.element("ul", {{"class", "claims"}});
    for (auto const& outcome : judgement->outcomes) claim_item(page.out, outcome, "claim-" + outcome.claim.id);
  }
  page.data("Every claim with its numbers", cat({page.study.name, "-claims.csv"}), claims_csv(*judgement));
}

}  // namespace sextant::report
