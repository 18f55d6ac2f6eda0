#include <sextant/advise/rule.hpp>
#include <sextant/base/error.hpp>

#include <algorithm>
#include <utility>

namespace sextant::advise {
namespace {
std::vector<std::pair<char const*, Task>> const names = {{"any", Task::any},
                                                         {"lm", Task::lm},
                                                         {"retrieval", Task::retrieval},
                                                         {"stream", Task::stream},
                                                         {"algorithmic", Task::algorithmic}};
}  // namespace

char const* name_of(Task task) {
  for (auto const& [name, value] : names)
    if (value == task) return name;
  return "";
}

Task task_of(std::string const& name) {
  std::vector<std::string> known;
  for (auto const& [word, task] : names) {
    if (name == word) return task;
    known.push_back(word);
  }
  fail("advise: --task is ", name, did_you_mean(name, known));
}

bool Rule::holds(double factor, double budget, Task task, bool scratch) const {
  bool const of_task = tasks.empty() || std::find(tasks.begin(), tasks.end(), task) != tasks.end();
  return from_scratch == scratch && factor > above && factor <= up_to && budget >= least_budget &&
         budget <= most_budget && of_task;
}

std::vector<Rule> const& rules() {
  using enum Verdict;
  using enum Task;
  static std::vector<Rule> const all = {
      // A trained model.
      {.id = "within",
       .verdict = recommend,
       .up_to = 1,
       .what = "leave the model as it is",
       .position = "scaling: none",
       .reason = "every distance up to the target was met in training, so no phase is new",
       .citation = "arXiv:2306.15595, section 2.2"},
      {.id = "stream",
       .verdict = recommend,
       .above = 1,
       .tasks = {stream},
       .what = "a window of recent tokens with a few first ones kept (attention sinks)",
       .position = "encoding: [{use: rope}, {use: streaming_sinks}]",
       .reason = "streams of millions of tokens stay stable without tuning; what left the window is not remembered",
       .citation = "arXiv:2309.17453, abstract"},
      {.id = "dynamic-yarn",
       .verdict = recommend,
       .above = 1,
       .up_to = 2,
       .most_budget = 0.000999,
       .what = "YaRN that follows the length of each sequence, without tuning",
       .position = "scaling: {use: dynamic_yarn}",
       .reason = "allows more than twice the context without any fine-tuning, and changes nothing within it",
       .citation = "arXiv:2309.00071, section 1"},
      {.id = "longrope-untuned",
       .verdict = recommend,
       .above = 1,
       .up_to = 8,
       .most_budget = 0.000999,
       .what = "factors searched for this model (LongRoPE), without tuning",
       .position = "scaling: {use: longrope, short_factor: [...], long_factor: [...]}",
       .reason = "a searched factor for each pair reaches eight times the context without fine-tuning",
       .citation = "arXiv:2402.13753, abstract"},
      {.id = "self-extend",
       .verdict = recommend,
       .above = 1,
       .up_to = 4,
       .most_budget = 0.000999,
       .what = "Self-Extend: far positions in groups, near ones as they are, without tuning",
       .position = "encoding: {use: self_extend}",
       .reason = "only distances met in training occur, at the cost of resolution far away: group G and window W reach "
                 "(trained - W) G + W tokens; Llama 2 is shown at 16K, four times its 4096",
       .citation = "arXiv:2401.01325, sections 3 and 4"},
      {.id = "dual-chunk",
       .verdict = recommend,
       .above = 1,
       .up_to = 24,
       .most_budget = 0.000999,
       .what = "dual chunk attention, without tuning",
       .position = "encoding: {use: dual_chunk}",
       .reason = "Llama 2 70B, trained at 4096, supports more than 100k tokens without continual training",
       .citation = "arXiv:2402.17463, abstract"},
      {.id = "yarn",
       .verdict = recommend,
       .above = 1,
       .up_to = 32,
       .least_budget = 0.001,
       .what = "YaRN with a short tuning at the longer length",
       .position = "scaling: {use: yarn, factor: {factor}}",
       .reason =
           "Llama 2 reaches 16 and 32 times its 4096 tokens after tuning on about 0.1 % of its training tokens, with a "
           "tenth of the tokens that earlier methods need",
       .citation = "arXiv:2309.00071, abstract and section 4"},
      {.id = "continued-retrieval",
       .verdict = recommend,
       .above = 1,
       .up_to = 32,
       .least_budget = 0.0025,
       .tasks = {retrieval},
       .what = "a larger base and continued training on a balanced mixture with long texts upsampled",
       .position = "scaling: {use: abf, base: ...}",
       .reason =
           "0.5 to 5 billion tokens (of the 2000 of Llama 2) let models retrieve from anywhere in 128K, 32 times 4096",
       .citation = "arXiv:2402.10171, abstract"},
      {.id = "staged",
       .verdict = recommend,
       .above = 1,
       .up_to = 16,
       .least_budget = 0.05,
       .what = "continued training at lengths raised in stages, with a base chosen for the target from the start",
       .position = "encoding: {use: rope, base: 500000}",
       .reason = "Llama 3 went from 8K to 128K in six stages over about 800 of its 15600 billion tokens",
       .citation = "arXiv:2407.21783, section 3.4.2"},
      {.id = "longrope",
       .verdict = recommend,
       .above = 1,
       .up_to = 512,
       .least_budget = 0.001,
       .what = "LongRoPE: searched factors, tuned in two steps, then readjusted for short inputs",
       .position = "scaling: {use: longrope, short_factor: [...], long_factor: [...]}",
       .reason = "4K and more to 2048K with at most 1000 tuning steps at lengths within 256K",
       .citation = "arXiv:2402.13753, abstract"},
      {.id = "pi",
       .verdict = recommend,
       .above = 1,
       .up_to = 16,
       .least_budget = 0.001,
       .what = "position interpolation with tuning",
       .position = "scaling: {use: linear, factor: {factor}}",
       .reason = "LLaMA reaches 32768, 16 times its 2048 tokens, within 1000 tuning steps",
       .citation = "arXiv:2306.15595, abstract"},
      {.id = "pose",
       .verdict = recommend,
       .above = 1,
       .up_to = 64,
       .least_budget = 0.001,
       .what = "PoSE: tune at the trained length with positions skipped, so that tuning needs no long rows",
       .position = "encoding: {use: pose, parts: [rope]}",
       .reason = "LLaMA reaches 128K, 64 times 2048, in tuning windows of 2048; keys of the long rows are still needed "
                 "in use",
       .citation = "arXiv:2309.10400, abstract"},
      {.id = "untuned-linear",
       .verdict = avoid,
       .above = 1,
       .most_budget = 0.000999,
       .what = "linear scaling without tuning",
       .reason =
           "SmolLM2 at twice its 8192 tokens has three times the perplexity under it that its last 8192 tokens alone "
           "give (+216 %), and as much within them; under YaRN +4.0 %",
       .citation = "study: experiments/smollm2"},
      {.id = "measure-retrieval",
       .verdict = caution,
       .above = 1,
       .tasks = {retrieval},
       .what = "measure retrieval by depth and length, not perplexity alone",
       .reason = "of the models that claim 32K or more, half hold satisfactory performance there",
       .citation = "arXiv:2404.06654, abstract"},
      {.id = "drope",
       .verdict = caution,
       .above = 1,
       .least_budget = 0.001,
       .what = "DroPE is worth a trial: take the rotation away and recalibrate at the trained length",
       .position = "scaling: drope",
       .reason = "it needs no training at the longer length; how far it reaches has to be measured",
       .citation = "arXiv:2512.12167, abstract"},
      {.id = "base-bound",
       .verdict = caution,
       .above = 1,
       .what = "give --base and --head-width: the base bounds the length at which like keys score above unlike ones",
       .reason = "below the bound a model keeps a low perplexity and fails to retrieve",
       .citation = "arXiv:2405.14591, abstract and section 4"},
      {.id = "window-control",
       .verdict = caution,
       .above = 1,
       .tasks = {any, lm},
       .what = "compare with the same model reading only its last trained-length tokens",
       .reason =
           "no untuned scaling (linear, NTK, YaRN) made SmolLM2 read 12288 or 16384 tokens better than their last "
           "8192: repair is not use of the context",
       .citation = "study: experiments/smollm2"},
      // A model that is yet to be trained.
      {.id = "scratch-long",
       .verdict = recommend,
       .up_to = 1,
       .from_scratch = true,
       .what = "rotation with a base above the bound for the target",
       .position = "encoding: {use: rope, base: ...}",
       .reason =
           "training at the target length leaves nothing to extrapolate; the base must still be large enough for it",
       .citation = "arXiv:2405.14591, section 4"},
      {.id = "scratch-algorithmic",
       .verdict = recommend,
       .above = 1,
       .tasks = {algorithmic},
       .from_scratch = true,
       .what = "randomised positions: train on sorted random positions below the target",
       .position = "encoding: {use: randomised, parts: [rope]}",
       .reason = "accuracy on unseen lengths rises by 12 % on average over 15 algorithmic tasks",
       .citation = "arXiv:2305.16843, abstract"},
      {.id = "scratch-nope",
       .verdict = recommend,
       .above = 1,
       .tasks = {algorithmic},
       .from_scratch = true,
       .what = "no position encoding",
       .position = "encoding: nope",
       .reason = "a decoder without one generalises to longer reasoning tasks better than with ALiBi, rotary or "
                 "absolute ones",
       .citation = "arXiv:2305.19466, abstract"},
      {.id = "scratch-alibi",
       .verdict = recommend,
       .above = 1,
       .up_to = 8,
       .tasks = {any, lm, stream},
       .from_scratch = true,
       .what = "ALiBi",
       .position = "encoding: alibi",
       .reason = "a byte model trained at 256 keeps its loss (1.766 nats a byte) at 2048; it reaches further by "
                 "looking less far",
       .citation = "study: experiments/quickstart, after arXiv:2108.12409"},
  };
  return all;
}

}  // namespace sextant::advise
