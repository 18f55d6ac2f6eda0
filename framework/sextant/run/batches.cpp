#include <sextant/run/batches.hpp>

namespace sextant::run {

model::Batch room_for(encoding::Task const& task, int rows, int length) {
  return {View2<int>("tokens", rows, length),
          View2<int>("targets", rows, length),
          task.places() ? View2<double>("positions", rows, length) : View2<double>(),
          {}};
}

void put_example(encoding::Row const& example, int r, model::Batch const& batch) {
  tasks::put_row(example, r, batch.tokens, batch.targets);
  if (batch.positions.size() > 0) tasks::put_positions(example, r, batch.positions);
}

Batches::Batches(plan::TrainStage const& stage, Source const& source)
    : seed_(static_cast<std::uint64_t>(stage.order_seed)), rows_(stage.train.rows), length_(stage.train.length) {
  if (source.task)
    task_ = source.task;
  else
    text_.emplace(split_of(*source.text, stage.data).train, length_, source.text->name + "'s training text");
}

model::Batch Batches::operator()(Exec const& exec, std::int64_t step) const {
  if (text_) {
    tasks::Tokens const rows("training rows", rows_, length_ + 1);
    text_->batch(exec, seed_, step, rows);
    return model::next_token_batch(exec, rows);
  }
  tasks::TaskRows const examples(task_);
  auto const batch = room_for(*task_, rows_, length_);
  std::uint64_t const first = static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(rows_);
  for (int row = 0; row < rows_; ++row) put_example(examples.training(seed_, first + row), row, batch);
  return batch;
}

}  // namespace sextant::run
