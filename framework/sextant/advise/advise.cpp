#include <sextant/advise/advise.hpp>
#include <sextant/base/error.hpp>
#include <sextant/doctor/finding.hpp>
#include <sextant/inspect/wavelengths.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::advise {
namespace {
constexpr int most_examined = 1 << 24;  // tokens, as inspect::Subject takes

void check(Wish const& wish) {
  auto const tokens = [](double n) { return n == std::floor(n) && n >= 2 && n <= 1e9; };
  char const* const range = " from 2 to 1e9";
  expect(tokens(wish.trained), "advise: --trained is ", wish.trained, ", expected a whole number of tokens", range);
  expect(tokens(wish.target), "advise: --to is ", wish.target, ", expected a whole number of tokens", range);
  expect(wish.budget >= 0 && wish.budget <= 1, "advise: --budget is ", 100 * wish.budget,
         " %, expected a share of the training tokens from 0 % to 100 %");
  expect(!wish.memory || *wish.memory > 0, "advise: --memory is ", wish.memory.value_or(0),
         ", expected more than nothing");
  expect(!wish.memory || wish.cache.known(),
         "advise: --memory is compared with the keys and values of a sequence, so it needs "
         "--layers, --kv-heads and --head-width");
  expect(!wish.base || wish.head_width > 0, "advise: --base needs --head-width");
  expect(!wish.base || wish.target <= most_examined, "advise: --to is ", spec::number_text(wish.target),
         " beside --base, whose frequencies are examined up to ", most_examined,
         " tokens; expected at most that, or no --base");
}

Evidence evidence_of(Wish const& wish, std::vector<encoding::Choice> const& scalings, std::string const& name,
                     encoding::Registry const& registry) {
  doctor::Patient patient{
      .position = {{{"rope", {{"base", *wish.base}}, {}}}, scalings, static_cast<int>(wish.trained)},
      .shape = {.heads = 1, .kv_heads = 1, .head_dim = wish.head_width, .model_dim = wish.head_width}};
  patient.registry = &registry;
  auto const found = inspect::wavelengths(patient.subject(wish.target));
  auto const& turns = found->front();
  Evidence out{.scaling = name, .unseen = turns.mean_unseen, .pairs = static_cast<int>(turns.pairs.size())};
  out.completed = out.pairs - turns.never_completed;
  out.first_negative = doctor::first_negative(patient.frequencies(wish.target), wish.target);
  return out;
}

void gather_evidence(Advice& out, encoding::Registry const& registry) {
  auto const& wish = out.wish;
  if (!wish.base) return;
  out.evidence.push_back(evidence_of(wish, {}, "none", registry));
  if (wish.factor() <= 1) return;
  for (char const* use : {"linear", "ntk", "yarn"})
    out.evidence.push_back(evidence_of(wish, {{use, {{"factor", wish.factor()}}, {}}},
                                       text(use, " x", spec::number_text(wish.factor())), registry));
}

void weigh_memory(Advice& out) {
  auto const& wish = out.wish;
  if (!wish.cache.known()) return;
  out.cache = cache_bytes(wish.cache, wish.target);
  if (!wish.memory || *out.cache <= *wish.memory) return;
  double const fits = std::floor(*wish.memory / cache_bytes(wish.cache, 1));
  std::string const need =
      text("keys and values of ", wish.target, " tokens take ", spec::number_text(std::ceil(*out.cache / 1048576)),
           " MiB, and there are ", spec::number_text(std::floor(*wish.memory / 1048576)), " MiB: they hold ", fits,
           " tokens");
  bool const window = wish.task == Task::stream && fits >= 1;
  if (window) {
    out.unknown.push_back(need + "; a stream with a window below that fits");
    return;
  }
  out.contradictions.push_back(need +
                               (wish.task == Task::retrieval ? ", and retrieval from anywhere needs all of them" : "") +
                               "; fewer key heads, smaller numbers (--number-bytes) or --task stream would fit");
}
}  // namespace

double cache_bytes(CacheShape const& cache, double length) {
  return 2.0 * cache.layers * cache.kv_heads * cache.head_width * length * cache.number_bytes;
}

std::string filled(char const* words, double factor) {
  std::string out = words;
  for (auto at = out.find("{factor}"); at != std::string::npos; at = out.find("{factor}", at))
    out.replace(at, 8, spec::number_text(factor));
  return out;
}

Advice advise(Wish const& wish, encoding::Registry const& registry) {
  check(wish);
  Advice out;
  out.wish = wish;
  for (auto const& rule : rules()) {
    if (!rule.holds(wish.factor(), wish.budget, wish.task, wish.from_scratch)) continue;
    if (std::string_view(rule.id) == "base-bound" && wish.base) continue;  // the evidence says it
    (rule.verdict == Verdict::recommend ? out.recommended : out.cautions).push_back(rule);
  }
  weigh_memory(out);
  gather_evidence(out, registry);
  if (wish.task == Task::stream && wish.factor() > 1 && wish.budget > 0)
    out.unknown.push_back(text("what a tuning budget of ", spec::number_text(100 * wish.budget),
                               " % adds to a stream with a window: no rule covers it"));
  if (out.recommended.empty())
    out.unknown.push_back(text("how to reach ", spec::number_text(wish.factor()), " times the trained length with ",
                               spec::number_text(100 * wish.budget), " % of the training tokens",
                               wish.from_scratch ? ", for a model yet to be trained" : "",
                               wish.task == Task::any ? "" : ", for ", wish.task == Task::any ? "" : name_of(wish.task),
                               ": no paper or study in the table covers it"));
  return out;
}

}  // namespace sextant::advise
