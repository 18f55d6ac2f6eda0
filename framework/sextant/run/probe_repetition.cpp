// repetition: the model reads the first half of a window of the test text and writes on to its length, with the likeliest
// tokens and with drawn ones. How much of what it writes has it written before, and how much does the text say twice?
#include <sextant/kernels/matmul.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/run/writing.hpp>
#include <sextant/spec/probes.hpp>

#include <algorithm>
#include <map>

namespace sextant::run {
namespace {
/// Draws are of (seed, window, step) alone.
Choose choice(Probing const& p, spec::Writing writing, int first) {
  Stream const stream(static_cast<std::uint64_t>(p.stage.seed), "repetition");
  return [=](std::span<float const> logits, int row, int step) {
    stop_point("while writing on; finished stages are kept");
    if (writing == spec::Writing::likeliest) return likeliest(logits);
    return drawn(logits, stream.uniform(static_cast<std::uint64_t>(step), static_cast<std::uint64_t>(first + row)));
  };
}

/// The windows first, first + 1, ... `texts`, or what the model makes of their first halves.
View2<int> written(Probing const& p, spec::Writing writing, View2<int> const& texts, int first) {
  if (writing == spec::Writing::text) return texts;
  int const rows = texts.extent_int(0), prompt = spec::prompt_of(p.stage.row);
  View2<int> const prompts("prompts", rows, prompt);
  for (int row = 0; row < rows; ++row) std::copy_n(&texts(row, 0), prompt, &prompts(row, 0));
  return write_on(p.exec, p.network, prompts, evaluation_positions(p.network, first, rows, p.stage.row), p.stage.row,
                  choice(p, writing, first));
}
}  // namespace

results::Group measure_repetition(Probing const& p) {
  auto const& keep = p.stage.evaluation.keep;
  int const length = p.stage.row, prompt = spec::prompt_of(length);
  int const at_once = std::min(p.stage.rows, kernels::few_rows);
  auto const windows = test_windows(p);
  std::vector<std::vector<double>> by_window(keep.size());
  for (int first = 0; first < windows.count(); first += at_once) {
    int const rows = std::min(at_once, windows.count() - first);
    tasks::Tokens const texts("texts", rows, length + 1);
    windows.rows(p.exec, first, texts);
    p.exec.fence();
    std::map<spec::Writing, View2<int>> by_writing;
    for (std::size_t k = 0; k < keep.size(); ++k) {
      auto const writing = spec::writing_of(keep[k]);
      auto const [at, fresh] = by_writing.try_emplace(writing);
      if (fresh) at->second = written(p, writing, texts, first);
      for (int row = 0; row < rows; ++row)
        by_window[k].push_back(
            repeated({&at->second(row, prompt), static_cast<std::size_t>(length - prompt)}, spec::number_of(keep[k])));
    }
    p.progress.update(static_cast<double>(first + rows) / windows.count());
  }
  ProbeRecord record(p, windows.ends(), "end of each window in the test text");
  for (std::size_t k = 0; k < keep.size(); ++k) record.keep(keep[k], by_window[k], windows.count());
  return record.finish();
}

}  // namespace sextant::run
