#include <sextant/claims/judge.hpp>
#include <sextant/claims/planning.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::claims {
namespace {
using statistics::Spread;

constexpr int most_seeds = 1000;

bool apart(Relation relation) { return relation == Relation::less || relation == Relation::greater; }

std::optional<int> seeds_of(Link const& link, double effect, Spread const& spread, SeedPlan const& plan) {
  auto const power = [&](double error, double dof) {
    if (link.relation == Relation::equal) return statistics::power_within(0, link.margin, error, dof, plan.level);
    double const excess = apart(link.relation) ? slack(effect, link) : link.margin;
    return statistics::power_beyond(excess, error, dof, plan.level);
  };
  return statistics::seeds_needed(spread, power, plan.power, most_seeds);
}

void plan_claim(SeedPlan& plan, Claim const& claim, Sample sample, results::Group const& study) {
  plan.reason = claim.missing;
  if (plan.reason.empty() && sample != Sample::seeds)
    plan.reason = text("the model is given, and no seed changes it: more ", name_of(sample), " would help");
  if (!plan.reason.empty()) return;
  Test const test = parse(claim.settled);
  Data const data = data_of(test, claim.by, sample, study);
  plan.reason = data.missing.empty() && data.panel.seeds < 2
                    ? text("the study has one seed (", data.seeds[0], "), which shows no scatter")
                    : data.missing;
  if (!plan.reason.empty()) return;
  int most = 0;
  for (auto const& link : links_of(test, claim.margin)) {
    auto const effect = effect_of(test, link);
    double const found = statistics::student(data.panel, effect).effect;
    Spread const spread = statistics::spread_of(data.panel, effect);
    auto const seeds = seeds_of(link, found, spread, plan);
    if (plan.effect && seeds && *seeds <= most) continue;
    plan.effect = found;
    plan.spread = spread;
    plan.seeds = seeds;
    plan.units = claim.margin.units;
    most = seeds.value_or(most_seeds);
    if (seeds) continue;
    bool const contrary = apart(link.relation) && slack(found, link) <= 0;
    double const floor = std::sqrt(spread.windows_variance);
    plan.reason = contrary ? "the study found nothing beyond the margin, so no number of seeds is likely to"
                           : text("more than ", most_seeds, " seeds would be needed",
                                  floor > 0 ? "; more windows of text would help" : "");
    return;
  }
}
}  // namespace

std::vector<SeedPlan> plan_seeds(Claims const& claims, results::Group const& study, double power) {
  std::vector<SeedPlan> out;
  for (auto const& claim : claims.list) {
    SeedPlan plan;
    plan.id = claim.id;
    plan.power = power;
    plan.level = claims.family_error / static_cast<double>(claims.list.size());
    plan_claim(plan, claim, claims.sample, study);
    out.push_back(std::move(plan));
  }
  return out;
}

}  // namespace sextant::claims
