// The probes: what each measures, in which units, and what it reads. The one list of them.
#pragma once
#include <sextant/spec/spec.hpp>

#include <string>
#include <utility>
#include <vector>

namespace sextant::spec {

struct ProbeFacts {
  Probe probe;
  std::string name;
  bool reads_task;  ///< examples of data.task, else windows of data.corpus
  bool in_bytes;    ///< asks in words, which it writes as bytes
  std::string about;
  struct Measure {
    std::string name, units, about;
  };
  std::vector<Measure> measures;   ///< what `keep` may list
  std::vector<std::string> usual;  ///< what it keeps unless told
  bool compares = false;           ///< logits of two passes over a window, each held whole
};

std::vector<ProbeFacts> const& probes();
ProbeFacts const& facts_of(Probe probe);
/// Throws Error when the probe has no measure of that name.
ProbeFacts::Measure const& measure_of(ProbeFacts const& probe, std::string const& name);
/// Units of a measure of the probe; "" when it has none of that name.
std::string units_of(ProbeFacts const& probe, std::string const& measure);
/// The probe order makes two neighbours change places every so many tokens.
inline constexpr int exchange_spacing = 128;
/// Measure swapD is over the tokens D to this many behind an exchange; the next one's own tokens are not among them.
int last_behind(int distance);
/// Tokens of a window that the probe repetition lets the model read; the model writes the others.
int prompt_of(int length);
/// What wrote the tokens that a measure of the probe repetition looks at.
enum class Writing { likeliest, drawn, text };
Writing writing_of(std::string const& measure);
/// The number in the name of a measure: 64 of swap64.
int number_of(std::string const& measure);
/// Every measure of any probe, once.
std::vector<std::string> all_measures();

}  // namespace sextant::spec
