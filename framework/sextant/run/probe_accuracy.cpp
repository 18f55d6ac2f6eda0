// accuracy: which tokens of the answers a model finds likeliest, example by example.
#include <sextant/base/error.hpp>
#include <sextant/run/batches.hpp>
#include <sextant/run/probe.hpp>
#include <sextant/run/stop.hpp>
#include <sextant/statistics/proportion.hpp>
#include <sextant/tasks/task_rows.hpp>

#include <algorithm>

namespace sextant::run {
namespace {
/// For each row of the batch the share of its targets that are the likeliest token.
std::vector<double> shares_right(Exec const& exec, Network& network, model::Batch const& batch) {
  std::vector<double> right(static_cast<std::size_t>(batch.size())), asked(right.size());
  int const *const targets = batch.targets.data(), length = batch.seq_len();
  network.each_logits(exec, batch, [&](std::int64_t first, View2<float> const& logits) {
    for (int i = 0; i < logits.extent_int(0); ++i) {
      int const target = targets[first + i];
      if (target < 0) continue;
      float const* const row = &logits(i, 0);
      auto const r = static_cast<std::size_t>((first + i) / length);
      asked[r] += 1;
      right[r] += row[target] == *std::max_element(row, row + logits.extent(1));
    }
  });
  for (std::size_t r = 0; r < right.size(); ++r) right[r] /= asked[r];
  return right;
}

void move_positions(int origin, model::Batch& batch) {
  if (origin == 0) return;
  bool const said = batch.positions.size() > 0;
  if (!said) batch.positions = View2<double>("positions", batch.size(), batch.seq_len());
  for (int r = 0; r < batch.size(); ++r)
    for (int i = 0; i < batch.seq_len(); ++i) batch.positions(r, i) = origin + (said ? batch.positions(r, i) : i);
}
}  // namespace

results::Group measure_accuracy(Probing const& p) {
  tasks::TaskRows const rows(p.source.task);
  int const count = p.stage.evaluation.windows, length = p.stage.row;
  bool const by_depth = p.source.task->by_depth();
  std::vector<double> token, exact;
  std::vector<std::int64_t> number;
  std::int64_t scored = 0;
  for (int first = 0; first < count; first += p.stage.rows) {
    stop_point("while evaluating; finished stages are kept");
    int const now = std::min(p.stage.rows, count - first);
    auto batch = room_for(*p.source.task, now, length);
    for (int r = 0; r < now; ++r) {
      auto const example = rows.test(p.stage.length, static_cast<std::uint64_t>(first) + r,
                                     by_depth ? std::optional(depth_of(first + r)) : std::nullopt);
      scored += std::count(example.scored.begin(), example.scored.end(), 1);
      put_example(example, r, batch);
      number.push_back(first + r);
    }
    if (auto const drawn = evaluation_positions(p.network, first, now, length); drawn.size() > 0)
      batch.positions = drawn;
    move_positions(p.stage.evaluation.origin, batch);
    for (double const share : shares_right(p.exec, p.network, batch)) {
      token.push_back(share);
      exact.push_back(share == 1);
    }
    p.progress.update(static_cast<double>(first + now) / count);
  }
  ProbeRecord record(p, number, "number of each test example");
  auto const& kept = p.stage.evaluation;
  if (kept.keeps("token")) record.keep("token", token, scored);
  if (kept.keeps("exact")) {
    record.keep("exact", exact, count);
    auto const range = statistics::wilson(static_cast<int>(std::count(exact.begin(), exact.end(), 1.0)), count, 0.95);
    record.eval()
        .put("exact_low", std::vector<double>{range.low}, "1", "lower end of Wilson's 95 % interval of exact")
        .along({"length"});
    record.eval()
        .put("exact_high", std::vector<double>{range.high}, "1", "upper end of Wilson's 95 % interval of exact")
        .along({"length"});
    if (by_depth) {
      put_depths(record.eval(), "share of what can stand before it that does");
      put_by_depth(record.eval(), "exact", exact, "1", "the answer was told");
    }
  }
  return record.finish();
}

}  // namespace sextant::run
