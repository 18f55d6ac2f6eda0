#include <sextant/base/error.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
constexpr char const* nat = "nat/token";

std::vector<ProbeFacts::Measure> swaps() {
  std::vector<ProbeFacts::Measure> out;
  for (int d = 1; d <= 64; d *= 2) {
    std::string const where = d == 1 ? "right" : text(d, " to ", 2 * d - 1, " tokens");
    out.push_back(
        {text("swap", d), nat, text("rise of the loss ", where, " behind two neighbours that changed places")});
  }
  return out;
}
}  // namespace

std::vector<ProbeFacts> const& probes() {
  static std::vector<ProbeFacts> const all = {
      {Probe::lm_loss,
       "lm_loss",
       false,
       false,
       "negative log-likelihood of windows of the test text",
       {{"mean", nat, "mean over the window"},
        {"tail64", nat, "mean over its last 64 tokens"},
        {"per_position", nat, "at each position"}},
       {"mean"}},
      {Probe::accuracy,
       "accuracy",
       true,
       false,
       "answers to examples of the task that no training row shows",
       {{"token", "1", "share of the answer's tokens that are the likeliest one, given those before"},
        {"exact", "1", "share of examples with every token of the answer right"}},
       {"token", "exact"}},
      {Probe::passkey,
       "passkey",
       false,
       true,
       "five digits told somewhere in the text and asked for at its end",
       {{"exact", "1", "share of texts with every digit the likeliest one"},
        {"gain", nat, "how much less the digits cost than where the text tells others"}},
       {"exact", "gain"}},
      {Probe::attention,
       "attention",
       false,
       false,
       "weights of attention over windows of the test text",
       {{"entropy", "nat", "of a row's weights, mean over heads"},
        {"spread", "1", "standard deviation of the logits that a row sees, mean over heads"},
        {"distance50", "token", "distance within which half of the weight lies, mean over heads"},
        {"distance90", "token", "the same of 90 %"},
        {"distance95", "token", "the same of 95 %"}},
       {"entropy", "spread", "distance50", "distance90", "distance95"}},
      {Probe::order,
       "order",
       false,
       false,
       "how much the loss rises when neighbours change places",
       swaps(),
       {"swap1", "swap8", "swap64"}},
  };
  return all;
}

ProbeFacts const& facts_of(Probe probe) {
  return *std::find_if(probes().begin(), probes().end(), [&](auto const& each) { return each.probe == probe; });
}

std::string units_of(ProbeFacts const& probe, std::string const& measure) {
  for (auto const& each : probe.measures)
    if (each.name == measure) return each.units;
  return "";
}

std::vector<std::string> all_measures() {
  std::vector<std::string> out;
  for (auto const& probe : probes())
    for (auto const& measure : probe.measures)
      if (std::find(out.begin(), out.end(), measure.name) == out.end()) out.push_back(measure.name);
  return out;
}

}  // namespace sextant::spec
