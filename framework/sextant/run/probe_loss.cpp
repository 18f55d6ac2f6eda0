// lm_loss: how well windows of the test text are predicted.
#include <sextant/base/error.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>

#include <algorithm>

namespace sextant::run {
namespace {

constexpr int tail = 64;  // tokens at the end of a window that region tail64 averages over

/// Each window's mean loss on positions [from, length).
std::vector<double> by_window(std::vector<double> const& nll, int windows, int length, int from) {
  std::vector<double> each(windows, 0.0);
  for (int w = 0; w < windows; ++w) {
    for (int i = from; i < length; ++i) each[w] += nll[static_cast<std::size_t>(w) * length + i];
    each[w] /= length - from;
  }
  return each;
}

/// Of every token of every window [windows, seen].
struct Scores {
  std::vector<double> nll;    ///< nat
  std::vector<double> bytes;  ///< that the token stands for
};

Scores scores(Probing const& p, tasks::EvalWindows const& windows) {
  Scores out;
  auto const& token_bytes = p.source.text->token_bytes;
  int const seen = p.stage.seen();
  out.nll.reserve(static_cast<std::size_t>(windows.count()) * seen);
  for (int first = 0; first < windows.count(); first += p.stage.rows) {
    stop_point("while evaluating; finished stages are kept");
    int const rows = std::min(p.stage.rows, windows.count() - first);
    tasks::Tokens const tokens("evaluation rows", rows, seen + 1);
    windows.rows(p.exec, first, tokens);
    auto const nll = losses(p, tokens, first);
    out.nll.insert(out.nll.end(), nll.data(), nll.data() + nll.size());
    for (int row = 0; row < rows; ++row)
      for (int i = 1; i <= seen; ++i) out.bytes.push_back(token_bytes[static_cast<std::size_t>(tokens(row, i))]);
    p.progress.update(static_cast<double>(first + rows) / windows.count());
  }
  return out;
}

}  // namespace

results::Group measure_loss(Probing const& p) {
  auto const& stage = p.stage;
  auto const& source = *p.source.text;
  auto const& wanted = stage.evaluation;
  auto const windows = test_windows(p);
  int const seen = stage.seen(), count = windows.count();
  Scores const found = scores(p, windows);
  auto const& nll = found.nll;

  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  // A window's loss over the bytes that a window has on average: the mean is the loss of all over the bytes of all.
  auto const per_byte = [&](std::vector<double> each, int from) {
    double const bytes = mean_of(by_window(found.bytes, count, seen, from)).value;
    for (double& x : each) x /= bytes;
    return each;
  };
  bool const bytes_known = stage.data.tokens != "bytes" && source.exact;
  auto const add = [&](std::string const& region, int from, std::string const& what) {
    auto const each = by_window(nll, count, seen, from);
    std::int64_t const scored = std::int64_t{count} * (seen - from);
    record.add({region, region, "loss", "nat/token", what}, each, scored);
    if (!bytes_known) return;
    std::string const name = region + spec::per_byte;
    record.add({name, name, "loss", "nat/byte", what + ", by their bytes"}, per_byte(each, from), scored);
  };
  if (wanted.keeps("mean")) add("mean", 0, "mean loss over the tokens seen");
  if (wanted.keeps("tail64"))
    add("tail64", std::max(0, seen - tail), "mean loss over the last 64 tokens of the window");
  if (wanted.keeps("per_position")) {
    std::vector<double> position(seen, 0.0);
    std::vector<std::int64_t> index(seen);
    for (int i = 0; i < seen; ++i) {
      index[i] = stage.length - seen + i;
      for (int w = 0; w < count; ++w) position[i] += nll[static_cast<std::size_t>(w) * seen + i] / count;
    }
    std::string const name = text("per_position_", stage.length);
    auto& eval = record.eval();
    eval.put(text("position_", stage.length), index, "token", "position in the window");
    eval.put(name, position, "nat/token", "mean loss at each position").along({text("position_", stage.length)});
  }
  return record.finish();
}

}  // namespace sextant::run
