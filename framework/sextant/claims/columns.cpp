// summary/claims: a column a field.
#include <sextant/base/error.hpp>
#include <sextant/claims/judge.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::claims {
namespace {
constexpr double none = std::numeric_limits<double>::quiet_NaN();
constexpr char const* why_none = "the claim could not be tested: see reason";

template <class Get>
auto column(Judgement const& judgement, Get get) {
  std::vector<decltype(get(judgement.outcomes[0]))> out;
  for (auto const& outcome : judgement.outcomes) out.push_back(get(outcome));
  return out;
}

template <class E>
E named(std::string const& name, std::initializer_list<E> all, std::string const& where) {
  std::vector<std::string> known;
  for (E each : all) {
    if (name_of(each) == name) return each;
    known.push_back(name_of(each));
  }
  fail(where, ": ", name, " is none of ", join(known));
}

std::optional<double> given(double value) { return std::isnan(value) ? std::nullopt : std::optional(value); }
}  // namespace

results::Group to_group(Judgement const& judgement) {
  results::Group out;
  out.set("family_error", judgement.family_error);
  if (judgement.sample != Sample::seeds) out.set("sample", name_of(judgement.sample));
  auto const words = [&](char const* name, char const* what, auto get) { out.put(name, column(judgement, get), what); };
  auto const number = [&](char const* name, char const* units, char const* what, auto get) {
    auto const values = column(judgement, [&](Outcome const& o) -> double { return get(o).value_or(none); });
    auto& array = out.put(name, values, units, what);
    if (std::any_of(values.begin(), values.end(), [](double x) { return std::isnan(x); })) array.reason(why_none);
  };
  auto const end = [](double statistics::Interval::*which) {
    return [which](Outcome const& o) { return o.interval ? std::optional((*o.interval).*which) : std::nullopt; };
  };
  char const* const units = "see column units";
  words("id", "name of the claim", [](Outcome const& o) { return o.claim.id; });
  words("text", "what is claimed", [](Outcome const& o) { return o.claim.says; });
  words("source", "where the statement stands", [](Outcome const& o) { return o.claim.source; });
  words("verdict", "holds, fails, undecided or out of reach", [](Outcome const& o) { return name_of(o.verdict); });
  number("effect", units, "left side minus right side, or their ratio minus 1 where the margin is in %",
         [](Outcome const& o) { return o.effect; });
  number("low", units, "lower end of the interval of the effect", end(&statistics::Interval::low));
  number("high", units, "upper end of the interval of the effect", end(&statistics::Interval::high));
  words("units", "units of effect, low and high", [](Outcome const& o) { return o.units; });
  number("p", "1", "p-value of the claim being false", [](Outcome const& o) { return o.p; });
  number("p_adjusted", "1", "the same after Holm's correction over the list",
         [](Outcome const& o) { return o.p_adjusted; });
  number("p_against", "1", "p-value of the claim being true, after the same correction",
         [](Outcome const& o) { return o.p_against; });
  out.put("n", column(judgement, [](Outcome const& o) -> std::int64_t { return o.seeds; }), "1",
          "seeds that were paired; 0: the model is given");
  out.put("windows", column(judgement, [](Outcome const& o) -> std::int64_t { return o.windows; }), "1",
          "windows of text, or documents, that were paired; 0: the test takes them as they are");
  out.put("relation", column(judgement, [](Outcome const& o) { return static_cast<std::int64_t>(o.relation); }), "1",
          "which relation of the test the numbers are of");
  words("test", "the test as written", [](Outcome const& o) { return o.claim.test; });
  words("settled", "the test with arms as result rows name them", [](Outcome const& o) { return o.claim.settled; });
  out.put("margin", column(judgement, [](Outcome const& o) { return o.claim.margin.value; }), "see column margin_units",
          "how far apart, or how near, the sides must be");
  words("margin_units", "units of the margin", [](Outcome const& o) { return o.claim.margin.units; });
  words("by", "the statistics", [](Outcome const& o) { return name_of(o.claim.by); });
  words("missing", "why this tier cannot test the claim", [](Outcome const& o) { return o.claim.missing; });
  words("reason", "why there is no verdict", [](Outcome const& o) { return o.reason; });
  return out;
}

Judgement from_group(results::Group const& group) {
  Judgement out;
  out.family_error = group.attribute<double>("family_error");
  out.sample = named(group.attribute<std::string>("sample", name_of(Sample::seeds)),
                     {Sample::seeds, Sample::windows, Sample::documents}, group.where + "/sample");
  results::Shape const shape{group.texts("id").size()};
  auto const words = [&](char const* name) { return group.values<std::string>(name, shape); };
  auto const numbers = [&](char const* name) { return group.values<double>(name, shape); };
  auto const counts = [&](char const* name) { return group.values<std::int64_t>(name, shape); };
  for (std::size_t i = 0; i < shape[0]; ++i) {
    Outcome o;
    o.claim = {.id = words("id")[i],
               .says = words("text")[i],
               .source = group.has_array("source") ? words("source")[i] : "",
               .test = words("test")[i],
               .settled = words("settled")[i],
               .missing = words("missing")[i],
               .margin = {numbers("margin")[i], words("margin_units")[i]},
               .by = named(words("by")[i], {By::paired_bootstrap, By::paired_t}, group.where + "/by")};
    o.verdict = named(words("verdict")[i], {Verdict::holds, Verdict::fails, Verdict::undecided, Verdict::out_of_reach},
                      group.where + "/verdict");
    o.sample = out.sample;
    o.reason = words("reason")[i];
    o.effect = given(numbers("effect")[i]);
    if (!std::isnan(numbers("low")[i])) o.interval = {numbers("low")[i], numbers("high")[i]};
    o.p = given(numbers("p")[i]);
    o.p_adjusted = given(numbers("p_adjusted")[i]);
    o.p_against = given(numbers("p_against")[i]);
    o.seeds = static_cast<int>(counts("n")[i]);
    o.windows = static_cast<int>(counts("windows")[i]);
    o.relation = static_cast<std::size_t>(counts("relation")[i]);
    o.units = words("units")[i];
    out.outcomes.push_back(std::move(o));
  }
  return out;
}

Claims claims_of(Judgement const& judgement) {
  Claims out;
  out.family_error = judgement.family_error;
  out.sample = judgement.sample;
  for (auto const& outcome : judgement.outcomes) out.list.push_back(outcome.claim);
  return out;
}

}  // namespace sextant::claims
