// The training batches of a stage: batch k is a function of (seed, k) alone, whatever came before.
#pragma once
#include <sextant/model/batch.hpp>
#include <sextant/run/source.hpp>
#include <sextant/tasks/sampler.hpp>
#include <sextant/tasks/task_rows.hpp>

namespace sextant::run {

/// Room for `rows` examples of a task, with positions where it says them.
model::Batch room_for(encoding::Task const& task, int rows, int length);
void put_example(encoding::Row const& example, int r, model::Batch const& batch);

class Batches {
 public:
  /// Throws Error when the text is too short for a row.
  Batches(plan::TrainStage const& stage, Source const& source);

  /// Tokens and targets [rows, length] of batch `step`, in memory of its own. A task's targets are its answers alone, and its
  /// positions are there where it says them.
  model::Batch operator()(Exec const& exec, std::int64_t step) const;

 private:
  std::uint64_t seed_;
  int rows_, length_;
  std::optional<tasks::RowSampler> text_;
  std::shared_ptr<encoding::Task const> task_;
};

}  // namespace sextant::run
