#include <sextant/report/claims.hpp>
#include <sextant/report/json.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::report {
namespace {
using claims::Judgement;
using claims::Outcome;

int decimals_of(Outcome const& outcome) {
  if (outcome.units == "%") return 1;
  double largest = std::abs(outcome.effect.value_or(0));
  if (outcome.interval)
    largest = std::max({largest, std::abs(outcome.interval->low), std::abs(outcome.interval->high)});
  return std::max(3, decimals_for(largest));
}

std::string with_units(std::string const& number, std::string const& units) {
  return units.empty() || units == "1" ? number : cat({number, " ", units});
}

std::string margin_text(Outcome const& outcome) {
  auto const& margin = outcome.claim.margin;
  return margin.value == 0 ? "" : cat({" by ", with_units(exact(margin.value), margin.units)});
}
}  // namespace

std::string effect_text(Outcome const& outcome) {
  if (!outcome.effect) return std::string(missing);
  return with_units(with_sign(*outcome.effect, decimals_of(outcome)), outcome.units);
}

std::string interval_text(Outcome const& outcome) {
  if (!outcome.interval) return std::string(missing);
  int const decimals = decimals_of(outcome);
  return cat({with_sign(outcome.interval->low, decimals), " to ", with_sign(outcome.interval->high, decimals)});
}

std::string sample_text(Outcome const& outcome) {
  if (outcome.sample != claims::Sample::seeds)
    return outcome.windows == 0 ? std::string(missing)
                                : cat({std::to_string(outcome.windows), " ", claims::name_of(outcome.sample)});
  if (outcome.seeds == 0) return std::string(missing);
  std::string const seeds = std::to_string(outcome.seeds);
  return outcome.windows == 0 ? seeds : cat({seeds, " × ", std::to_string(outcome.windows)});
}

std::string about_sample(claims::Sample sample) {
  switch (sample) {
    case claims::Sample::windows:
      return "n: windows of one text. The model is given: verdicts are about it, on this text.";
    case claims::Sample::documents:
      return "n: documents, each of which counts once. The model is given: verdicts are about it, on documents like "
             "these.";
    case claims::Sample::seeds:
      break;
  }
  return "n: seeds × windows.";
}

Table claims_table(Judgement const& judgement) {
  Table table;
  table.title = cat({"Claims: ", verdict_count(judgement)});
  table.columns = {{"claim", Align::left},
                   {"verdict", Align::left},
                   {"effect"},
                   {cat({exact(100 * (1 - judgement.family_error)), " % interval"})},
                   {"p (Holm)"},
                   {"n"}};
  for (auto const& outcome : judgement.outcomes) {
    bool const none = !outcome.effect;
    table.rows.push_back({{outcome.claim.id},
                          {claims::name_of(outcome.verdict)},
                          {effect_text(outcome), Mark::none, none},
                          {interval_text(outcome), Mark::none, none},
                          {outcome.p_adjusted ? p_value(*outcome.p_adjusted) : std::string(missing), Mark::none, none},
                          {sample_text(outcome), Mark::none, none}});
    std::string note = cat({outcome.claim.id, ": ", outcome.claim.says});
    if (outcome.claim.says != outcome.claim.test) note += cat({"; tested as ", outcome.claim.test});
    note += cat({margin_text(outcome), "."});
    if (!outcome.reason.empty()) note += cat({" ", claims::name_of(outcome.verdict), ": ", outcome.reason, "."});
    table.notes.push_back(std::move(note));
  }
  table.notes.push_back(cat({about_sample(judgement.sample),
                             " A claim holds, or fails, when its p-value or that of its opposite is at most ",
                             exact(judgement.family_error), " after Holm's correction over the list."}));
  return table;
}

std::string verdict_count(Judgement const& judgement) {
  std::map<claims::Verdict, int> count;
  for (auto const& outcome : judgement.outcomes) ++count[outcome.verdict];
  auto const of = [&](claims::Verdict verdict, char const* one, char const* many) {
    int const n = count[verdict];
    return cat({std::to_string(n), " ", n == 1 ? one : many});
  };
  std::vector<std::string> parts;
  using enum claims::Verdict;
  if (count[holds]) parts.push_back(of(holds, "holds", "hold"));
  if (count[fails]) parts.push_back(of(fails, "fails", "fail"));
  if (count[undecided]) parts.push_back(of(undecided, "is undecided", "are undecided"));
  if (count[out_of_reach]) parts.push_back(of(out_of_reach, "is out of reach", "are out of reach"));
  return cat({"of ", std::to_string(judgement.outcomes.size()), ", ", join(parts)});
}

std::string claims_csv(Judgement const& judgement) {
  std::string out =
      "id,says,test,verdict,effect,low,high,units,p,p_adjusted,p_against,seeds,windows,margin,"
      "margin_units,by,reason\n";
  for (auto const& o : judgement.outcomes) {
    std::vector<std::string> const cells{csv_field(o.claim.id),
                                         csv_field(o.claim.says),
                                         csv_field(o.claim.test),
                                         claims::name_of(o.verdict),
                                         exact(o.effect),
                                         exact(low_of(o.interval)),
                                         exact(high_of(o.interval)),
                                         o.units,
                                         exact(o.p),
                                         exact(o.p_adjusted),
                                         exact(o.p_against),
                                         std::to_string(o.seeds),
                                         std::to_string(o.windows),
                                         exact(o.claim.margin.value),
                                         o.claim.margin.units,
                                         claims::name_of(o.claim.by),
                                         csv_field(o.reason)};
    out += join(cells, ",") + "\n";
  }
  return out;
}

std::string claims_json(Judgement const& judgement) {
  nlohmann::json out{{"family_error", judgement.family_error},
                     {"sample", claims::name_of(judgement.sample)},
                     {"claims", nlohmann::json::array()}};
  for (auto const& o : judgement.outcomes)
    out["claims"].push_back({{"id", o.claim.id},
                             {"says", o.claim.says},
                             {"test", o.claim.test},
                             {"settled", o.claim.settled},
                             {"verdict", claims::name_of(o.verdict)},
                             {"reason", o.reason},
                             {"effect", number_or_null(o.effect)},
                             {"low", number_or_null(low_of(o.interval))},
                             {"high", number_or_null(high_of(o.interval))},
                             {"units", o.units},
                             {"p", number_or_null(o.p)},
                             {"p_adjusted", number_or_null(o.p_adjusted)},
                             {"p_against", number_or_null(o.p_against)},
                             {"seeds", o.seeds},
                             {"windows", o.windows},
                             {"margin", o.claim.margin.value},
                             {"margin_units", o.claim.margin.units},
                             {"by", claims::name_of(o.claim.by)}});
  return out.dump(2) + "\n";
}

Table seeds_table(std::vector<claims::SeedPlan> const& plans) {
  Table table;
  table.title = "Seeds that the claims need";
  table.columns = {{"claim", Align::left}, {"effect there"}, {"sd over seeds"}, {"error of windows"}, {"seeds"}};
  for (auto const& plan : plans) {
    int const decimals = plan.units == "%" ? 2 : 4;
    auto const number = [&](double value) { return plan.effect ? fixed(value, decimals) : std::string(missing); };
    std::string const seeds = plan.seeds ? std::to_string(*plan.seeds) : std::string(missing);
    table.rows.push_back(
        {{plan.id},
         {plan.effect ? with_units(with_sign(*plan.effect, decimals), plan.units) : std::string(missing)},
         {number(plan.spread.seed_sd)},
         {number(std::sqrt(plan.spread.windows_variance))},
         {seeds, Mark::none, !plan.seeds}});
    if (!plan.reason.empty()) table.notes.push_back(cat({plan.id, ": ", plan.reason, "."}));
  }
  if (!plans.empty())
    table.notes.push_back(
        cat({"For a chance of ", exact(plans[0].power), " to show the claim at the strictest step of Holm's ",
             "correction (", fixed(plans[0].level, 4), "), if it is true: differences as the study found ",
             "them, and none where sides shall be near."}));
  return table;
}

std::string seeds_json(std::vector<claims::SeedPlan> const& plans) {
  auto out = nlohmann::json::array();
  for (auto const& plan : plans)
    out.push_back({{"id", plan.id},
                   {"effect", number_or_null(plan.effect)},
                   {"units", plan.units},
                   {"seed_sd", plan.effect ? number_or_null(plan.spread.seed_sd) : nlohmann::json()},
                   {"windows_variance", plan.effect ? number_or_null(plan.spread.windows_variance) : nlohmann::json()},
                   {"seeds", plan.seeds ? nlohmann::json(*plan.seeds) : nlohmann::json()},
                   {"power", plan.power},
                   {"level", plan.level},
                   {"reason", plan.reason}});
  return out.dump(2) + "\n";
}

std::string render(Judgement const& judgement, Format format, TerminalLook const& look) {
  switch (format) {
    case Format::csv:
      return claims_csv(judgement);
    case Format::json:
      return claims_json(judgement);
    case Format::markdown:
      return to_markdown(claims_table(judgement));
    case Format::latex:
      return to_latex(claims_table(judgement));
    case Format::terminal:
      break;
  }
  return to_terminal(claims_table(judgement), look);
}

}  // namespace sextant::report
