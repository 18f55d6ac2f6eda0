#include <sextant/advise/advise.hpp>
#include <sextant/base/error.hpp>
#include <sextant/spec/number.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

namespace sextant::advise {
namespace {
void show(std::string& out, char const* head, Rule const& rule, double factor) {
  out += fmt::format("{}{}\n", head, rule.what);
  if (*rule.position) out += fmt::format("  in a spec  {}\n", filled(rule.position, factor));
  out += fmt::format("  because    {}\n  source     {}\n", filled(rule.reason, factor), rule.citation);
}

void show_evidence(std::string& out, Advice const& advice) {
  if (advice.evidence.empty()) return;
  auto const& first = advice.evidence.front();
  out += fmt::format(
      "\nby formulas, base {} and heads of {} channels: {} of {} pairs complete a turn within {:.0f} tokens\n",
      spec::number_text(*advice.wish.base), advice.wish.head_width, first.completed, first.pairs, advice.wish.trained);
  out += fmt::format("  {:<14} {:>14}  {}\n", "scaling", "unseen phases", "like keys score above unlike ones up to");
  for (auto const& e : advice.evidence)
    out += fmt::format(
        "  {:<14} {:>12.1f} %  {}\n", e.scaling, 100 * e.unseen,
        e.first_negative > advice.wish.target ? "the target" : fmt::format("{:.0f} tokens", e.first_negative));
}

nlohmann::json json_of(Rule const& rule, double factor) {
  return {{"id", rule.id},
          {"what", rule.what},
          {"position", filled(rule.position, factor)},
          {"reason", filled(rule.reason, factor)},
          {"citation", rule.citation},
          {"avoid", rule.verdict == Verdict::avoid}};
}
}  // namespace

std::string advice_text(Advice const& advice) {
  auto const& wish = advice.wish;
  std::string out =
      fmt::format("{} at {:.0f} tokens, wanted at {:.0f}: {} times; {} % of the training tokens for tuning; task {}\n",
                  wish.from_scratch ? "to be trained" : "trained", wish.trained, wish.target,
                  spec::number_text(wish.factor()), spec::number_text(100 * wish.budget), name_of(wish.task));
  if (advice.cache)
    out += fmt::format(
        "keys and values of the target: {:.1f} MiB a sequence, by 2 layers kv_heads head_width length bytes\n",
        *advice.cache / 1048576);
  for (auto const& sentence : advice.contradictions) out += "\ncontradiction: " + sentence + "\n";
  for (std::size_t n = 0; n < advice.recommended.size(); ++n)
    show(out, n == 0 ? (advice.contradictions.empty() ? "\nrecommended: " : "\nbut for that: ") : "\nor: ",
         advice.recommended[n], wish.factor());
  for (auto const& rule : advice.cautions)
    show(out, rule.verdict == Verdict::avoid ? "\navoid: " : "\nmind: ", rule, wish.factor());
  show_evidence(out, advice);
  for (auto const& sentence : advice.unknown) out += "\nnot known: " + sentence + "\n";
  return out;
}

nlohmann::json advice_json(Advice const& advice) {
  auto const& wish = advice.wish;
  nlohmann::json out = {{"trained", wish.trained},         {"target", wish.target},
                        {"factor", wish.factor()},         {"budget", wish.budget},
                        {"task", name_of(wish.task)},      {"from_scratch", wish.from_scratch},
                        {"answers", advice.answers()},     {"contradictions", advice.contradictions},
                        {"unknown", advice.unknown},       {"recommended", nlohmann::json::array()},
                        {"mind", nlohmann::json::array()}, {"evidence", nlohmann::json::array()}};
  if (advice.cache) out["cache_bytes"] = *advice.cache;
  for (auto const& rule : advice.recommended) out["recommended"].push_back(json_of(rule, wish.factor()));
  for (auto const& rule : advice.cautions) out["mind"].push_back(json_of(rule, wish.factor()));
  for (auto const& e : advice.evidence)
    out["evidence"].push_back({{"scaling", e.scaling},
                               {"unseen", e.unseen},
                               {"completed", e.completed},
                               {"pairs", e.pairs},
                               {"first_negative", e.first_negative}});
  return out;
}

}  // namespace sextant::advise
