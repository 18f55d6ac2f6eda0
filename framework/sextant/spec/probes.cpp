#include <sextant/base/error.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <cctype>

namespace sextant::spec {
namespace {
constexpr char const* nat = "nat/token";
constexpr char const *drawn_suffix = "_sampled", *text_suffix = "_text";

std::vector<ProbeFacts::Measure> swaps() {
  std::vector<ProbeFacts::Measure> out;
  for (int d = 1; d <= 64; d *= 2) {
    std::string const where = d == 1 ? "right" : text(d, " to ", last_behind(d), " tokens");
    out.push_back(
        {text("swap", d), nat, text("rise of the loss ", where, " behind two neighbours that changed places")});
  }
  return out;
}

std::vector<ProbeFacts::Measure> shifts() {
  std::vector<ProbeFacts::Measure> out;
  for (int by : {1, 100, 10000, 1000000})
    out.push_back({text("shift", by), "1",
                   text("distance of the logits with all positions moved by ", by, by == 1 ? " token" : " tokens",
                        " from those with none moved")});
  return out;
}

std::vector<ProbeFacts::Measure> chunks() {
  std::vector<ProbeFacts::Measure> out;
  for (int n : {1, 7, 64})
    out.push_back({text("chunk", n), "1",
                   text("distance of the logits of the window read ", n, n == 1 ? " token" : " tokens",
                        " at a time through the key cache from those of one pass")});
  return out;
}

std::vector<ProbeFacts::Measure> repeats() {
  std::vector<ProbeFacts::Measure> out;
  for (int n : {4, 8, 16}) {
    std::string const name = text("repeat", n), share = text("share of the runs of ", n, " tokens ");
    out.push_back({name, "1", share + "it writes that it has written before, the likeliest token each time"});
    out.push_back({name + drawn_suffix, "1", share + "it writes that it has written before, drawing every token"});
    out.push_back({name + text_suffix, "1", share + "in the text's own second half that stood in it before"});
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
      {Probe::permutation,
       "permutation",
       false,
       false,
       "whether shuffled tokens give the shuffled logits",
       {{"open", "1",
         "distance of the logits of the shuffled window from the shuffled logits, by the same weights without a causal "
         "mask"},
        {"causal", "1", "the same under the model's causal mask"}},
       {"open", "causal"},
       true},
      {Probe::shift,
       "shift",
       false,
       false,
       "whether logits depend on where a window begins",
       shifts(),
       {"shift1", "shift100", "shift10000", "shift1000000"},
       true},
      {Probe::streaming,
       "streaming",
       false,
       false,
       "whether a window read in pieces through the key cache has the logits of one pass",
       chunks(),
       {"chunk1", "chunk7", "chunk64"},
       true},
      {Probe::repetition,
       "repetition",
       false,
       false,
       "how much a model that writes on from the first half of a window repeats itself",
       repeats(),
       {"repeat8", "repeat8_sampled", "repeat8_text"}},
  };
  return all;
}

ProbeFacts const& facts_of(Probe probe) {
  return *std::find_if(probes().begin(), probes().end(), [&](auto const& each) { return each.probe == probe; });
}

namespace {
ProbeFacts::Measure const* find_measure(ProbeFacts const& probe, std::string const& name) {
  auto const found = std::find_if(probe.measures.begin(), probe.measures.end(),
                                  [&](auto const& measure) { return measure.name == name; });
  return found == probe.measures.end() ? nullptr : &*found;
}
}  // namespace

ProbeFacts::Measure const& measure_of(ProbeFacts const& probe, std::string const& name) {
  auto const* const found = find_measure(probe, name);
  expect(found, "probe ", probe.name, " has no measure ", name);
  return *found;
}

std::string units_of(ProbeFacts const& probe, std::string const& name) {
  // Specs know one tail; `extend` takes others.
  auto const* const found = find_measure(probe, name.starts_with("tail") ? "tail64" : name);
  return found ? found->units : "";
}

int last_behind(int distance) { return std::min(2 * distance - 1, exchange_spacing - 2); }

int prompt_of(int length) { return length / 2; }

Writing writing_of(std::string const& measure) {
  return measure.ends_with(drawn_suffix)  ? Writing::drawn
         : measure.ends_with(text_suffix) ? Writing::text
                                          : Writing::likeliest;
}

int number_of(std::string const& measure) {
  auto const digits = std::find_if(measure.begin(), measure.end(), [](unsigned char c) { return std::isdigit(c); });
  return digits == measure.end() ? 0 : std::stoi(std::string(digits, measure.end()));
}

std::vector<std::string> all_measures() {
  std::vector<std::string> out;
  for (auto const& probe : probes())
    for (auto const& measure : probe.measures)
      if (std::find(out.begin(), out.end(), measure.name) == out.end()) out.push_back(measure.name);
  return out;
}

}  // namespace sextant::spec
