#include <sextant/base/error.hpp>
#include <sextant/results/table.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/tasks/sampler.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// Mean over windows and its standard error.
struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(std::vector<double> const& each) {
  double const windows = static_cast<double>(each.size());
  Mean out;
  for (double x : each) out.value += x / windows;
  double square = 0;
  for (double x : each) square += (x - out.value) * (x - out.value);
  out.error = windows > 1 ? std::sqrt(square / (windows - 1) / windows) : std::nan("");
  return out;
}

/// Of every token of every window [windows, seen].
struct Scores {
  std::vector<double> nll;    ///< nat
  std::vector<double> bytes;  ///< that the token stands for
};

Scores scores(Exec const& exec, tasks::EvalWindows const& windows, int seen, int at_once, tasks::TokenText const& text,
              Network& network, Progress& progress) {
  Scores out;
  out.nll.resize(static_cast<std::size_t>(windows.count()) * seen);
  for (int first = 0; first < windows.count(); first += at_once) {
    stop_point("while evaluating; finished stages are kept");
    int const rows = std::min(at_once, windows.count() - first);
    tasks::Tokens const tokens("evaluation rows", rows, seen + 1);
    windows.rows(exec, first, tokens);
    View2<double> const nll("nll", rows, seen);
    auto batch = model::next_token_batch(exec, tokens);
    if (auto const& sampler = network.position().sampler(); sampler && sampler->evaluates) {
      batch.positions = View2<double>("positions", rows, seen);
      for (int row = 0; row < rows; ++row)  // of the window, whatever stands beside it
        draw_positions(*sampler, Stream(0, "evaluate/positions"), static_cast<std::uint64_t>(first) + row, seen,
                       &batch.positions(row, 0));
    }
    network.loss_per_token(exec, batch, nll);
    exec.fence();
    std::copy(nll.data(), nll.data() + nll.size(), out.nll.begin() + static_cast<std::ptrdiff_t>(first) * seen);
    for (int row = 0; row < rows; ++row)
      for (int i = 1; i <= seen; ++i) out.bytes.push_back(text.token_bytes[static_cast<std::size_t>(tokens(row, i))]);
    progress.update(static_cast<double>(first + rows) / windows.count());
  }
  return out;
}

}  // namespace

results::Group evaluate(Exec const& exec, plan::EvaluateStage const& stage, plan::Plan const& plan,
                        std::string const& run, tasks::TokenText const& source, Network& network, Progress& progress) {
  auto const& wanted = stage.evaluation;
  auto const& trained =
      *std::find_if(plan.train.begin(), plan.train.end(), [&](auto const& t) { return t.id == stage.train_id; });
  auto const part = split_of(source, trained.data);
  tasks::EvalWindows const windows(part.test, wanted.windows, stage.span, source.name + "'s test text");
  int const seen = stage.seen(), count = windows.count();
  Scores const found = scores(exec, windows, seen, stage.rows, source, network, progress);
  auto const& nll = found.nll;

  results::Group record;
  record.set("kind", "evaluate");
  record["config"].set("evaluate." + wanted.name + ".windows", count);
  auto& eval = record["eval"][wanted.name];
  std::vector<std::int64_t> const at{stage.length};
  eval.put("length", at, "token", "length of the window");
  eval.put("seen", std::vector<std::int64_t>{seen}, "token", "tokens that the model saw of it: its end")
      .along({"length"});
  eval.put("window", windows.ends(), "token", "end of each window in the test text");
  results::ResultTable rows;
  auto const put = [&](std::string const& region, int from, std::vector<double> const& each, std::string const& units,
                       std::string const& what) {
    Mean const m = mean_of(each);
    eval.put(region, std::vector<double>{m.value}, units, what).along({"length"});
    eval.put(region + "_stderr", std::vector<double>{m.error}, units, "standard error of " + region + " over windows")
        .along({"length"});
    eval.put(region + "_by_window", {1, each.size()}, each, units, region + " of each window")
        .along({"length", "window"});
    rows.push_back({.study = plan.study,
                    .run = run,
                    .seed = stage.seed,
                    .encoding = stage.arm,
                    .scaling = stage.view,
                    .probe = wanted.name,
                    .length = stage.length,
                    .region = region,
                    .metric = "loss",
                    .value = m.value,
                    .error = m.error,
                    .n = static_cast<std::int64_t>(count) * (seen - from),
                    .units = units});
  };
  // A window's loss over the bytes that a window has on average: the mean is the loss of all over the bytes of all.
  auto const per_byte = [&](std::vector<double> each, int from) {
    double const bytes = mean_of(by_window(found.bytes, count, seen, from)).value;
    for (double& x : each) x /= bytes;
    return each;
  };
  bool const bytes_known = stage.data.tokens != "bytes" && source.exact;
  auto const add = [&](std::string const& region, int from, std::string const& what) {
    auto const each = by_window(nll, count, seen, from);
    put(region, from, each, "nat/token", what);
    if (bytes_known) put(region + spec::per_byte, from, per_byte(each, from), "nat/byte", what + ", by their bytes");
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
    eval.put(text("position_", stage.length), index, "token", "position in the window");
    eval.put(name, position, "nat/token", "mean loss at each position").along({text("position_", stage.length)});
  }
  record["results"] = results::columns(rows);
  return record;
}

}  // namespace sextant::run
