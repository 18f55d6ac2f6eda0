// passkey: five digits told somewhere in a window of the test text and asked for at its end, for models of bytes.
#include <sextant/base/error.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/tasks/passkey.hpp>
#include <sextant/tasks/sampler.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::run {
namespace {
constexpr int depths = 8;

std::vector<std::int32_t> bytes_of(std::string const& words) {
  std::vector<std::int32_t> out;
  for (char const c : words) out.push_back(static_cast<unsigned char>(c));
  return out;
}
double depth_of(int trial) { return (trial % depths + 0.5) / depths; }
int key_of(int trial, std::uint64_t which) {
  return 10000 + static_cast<int>(Stream(which, "passkey").below(90000, static_cast<std::uint64_t>(trial)));
}

struct Answer {
  bool right = true;
  double loss = 0;  ///< nat/token, of its digits
};

/// What the model makes of the last `digits` tokens of a text; whether they are right only where `judged`.
Answer read(Probing const& p, std::vector<std::int32_t> const& text, int digits, int trial, bool judged) {
  int const length = static_cast<int>(text.size()) - 1;
  model::Batch batch{View2<int>("tokens", 1, length), View2<int>("targets", 1, length), {}, {}};
  for (int i = 0; i < length; ++i) {
    batch.tokens(0, i) = text[static_cast<std::size_t>(i)];
    batch.targets(0, i) = i >= length - digits ? text[static_cast<std::size_t>(i) + 1] : -1;
  }
  batch.positions = evaluation_positions(p.network, trial, 1, length);
  Answer out;
  View2<double> const nll("nll", 1, length);
  p.network.loss_per_token(p.exec, batch, nll);
  p.exec.fence();
  for (int n = 0; n < digits; ++n) out.loss += nll(0, length - digits + n) / digits;
  if (!judged) return out;
  View2<float> const logits("logits", digits, p.network.config().vocabulary);
  p.network.logits(p.exec, batch, logits);
  p.exec.fence();
  for (int n = 0; n < digits; ++n) {
    float const* const row = &logits(n, 0);
    out.right =
        out.right && row[batch.targets(0, length - digits + n)] == *std::max_element(row, row + logits.extent(1));
  }
  return out;
}

void put_depths(results::Group& eval, std::string const& name, std::vector<double> const& each,
                std::string const& units) {
  std::vector<double> mean(depths), count(depths);
  for (std::size_t n = 0; n < each.size(); ++n) mean[n % depths] += each[n], count[n % depths] += 1;
  for (int d = 0; d < depths; ++d) mean[d] = count[d] > 0 ? mean[d] / count[d] : std::nan("");
  auto& grid = eval.put(name + "_by_depth", {1, depths}, mean, units, name + " by where the digits were told");
  grid.along({"length", "depth"});
  if (each.size() < depths) grid.reason("fewer texts than depths");
}
}  // namespace

results::Group measure_passkey(Probing const& p) {
  auto const& wanted = p.stage.evaluation;
  auto const part = split_of(*p.source.text, p.stage.data);
  tasks::EvalWindows const windows(part.test, wanted.windows, p.stage.span, p.source.text->name + "'s test text");
  auto const asked = bytes_of(tasks::passkey_asked());
  int const digits = 5, length = p.stage.row;
  int const around = static_cast<int>(bytes_of(tasks::passkey_told(10000)).size() + asked.size()) + 1 + digits;
  expect(length >= around + 2, wanted.name, ": a passkey takes ", around, " bytes, and a window has ", length,
         "; expected longer windows");
  std::vector<double> exact, gain;
  for (int trial = 0; trial < windows.count(); ++trial) {
    stop_point("while looking for passkeys; finished stages are kept");
    tasks::Tokens const tokens("window", 1, length + 1);
    windows.rows(p.exec, trial, tokens);
    p.exec.fence();
    std::span const hay(tokens.data(), static_cast<std::size_t>(length + 1 - around));
    int const key = key_of(trial, 1), other = key_of(trial, 2);
    auto const text_telling = [&](int told) {
      return tasks::hide(hay, depth_of(trial), bytes_of(tasks::passkey_told(told)), asked,
                         bytes_of(tasks::passkey_answer(key)));
    };
    Answer const found = read(p, text_telling(key), digits, trial, true),
                 missed = read(p, text_telling(other), digits, trial, false);
    exact.push_back(found.right);
    gain.push_back(missed.loss - found.loss);
    p.progress.update(static_cast<double>(trial + 1) / windows.count());
  }
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  std::vector<double> depth;
  for (int d = 0; d < depths; ++d) depth.push_back(depth_of(d));
  record.eval().put("depth", depth, "1", "share of the text before the digits are told");
  if (wanted.keeps("exact")) {
    record.add({"exact", "mean", "exact", "1", "share of texts with every digit the likeliest one"}, exact,
               windows.count());
    put_depths(record.eval(), "exact", exact, "1");
  }
  if (wanted.keeps("gain")) {
    record.add({"gain", "mean", "gain", "nat/token",
                "loss of the digits where others are told, less that where they are told"},
               gain, std::int64_t{windows.count()} * digits);
    put_depths(record.eval(), "gain", gain, "nat/token");
  }
  return record.finish();
}

}  // namespace sextant::run
