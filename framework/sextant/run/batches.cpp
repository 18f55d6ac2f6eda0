#include <sextant/run/batches.hpp>

namespace sextant::run {

Batches::Batches(plan::TrainStage const& stage, Source const& source)
    : seed_(static_cast<std::uint64_t>(stage.order_seed)), rows_(stage.train.rows), length_(stage.train.length) {
  if (source.task)
    task_.emplace(source.task);
  else
    text_.emplace(split_of(*source.text, stage.data).train, length_, source.text->name + "'s training text");
}

model::Batch Batches::operator()(Exec const& exec, std::int64_t step) const {
  if (text_) {
    tasks::Tokens const rows("training rows", rows_, length_ + 1);
    text_->batch(exec, seed_, step, rows);
    return model::next_token_batch(exec, rows);
  }
  model::Batch batch{View2<int>("tokens", rows_, length_), View2<int>("targets", rows_, length_), {}, {}};
  for (int row = 0; row < rows_; ++row)
    tasks::put_row(task_->training(seed_, static_cast<std::uint64_t>(step) * static_cast<std::uint64_t>(rows_) + row),
                   row, batch.tokens, batch.targets);
  return batch;
}

}  // namespace sextant::run
