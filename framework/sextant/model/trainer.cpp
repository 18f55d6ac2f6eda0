#include <sextant/base/error.hpp>
#include <sextant/kernels/reduce.hpp>
#include <sextant/model/trainer.hpp>

#include <cmath>

namespace sextant::model {

void TrainConfig::check() const {
  schedule.check();
  auto const beta = [](char const* name, double value) {
    expect(value >= 0 && value < 1, "train: ", name, " is ", value, ", expected 0 up to but not 1");
  };
  beta("beta1", beta1);
  beta("beta2", beta2);
  expect(eps > 0, "train: eps is ", eps, ", expected a number > 0");
  expect(decay >= 0, "train: decay is ", decay, ", expected a number >= 0");
  expect(clip >= 0, "train: clip is ", clip, ", expected a number > 0, or 0 for none");
  expect(pass.tokens_at_once >= 0, "train: tokens_at_once is ", pass.tokens_at_once, ", expected at least 0");
}

template <class T>
Trainer<T>::Trainer(Model<T>& model, TrainConfig const& config)
    : model_(model),
      config_(config),
      moment1_("sextant::moment1", model.layout().size()),
      moment2_("sextant::moment2", model.layout().size()) {
  config_.check();
}

template <class T>
StepReport Trainer<T>::step(Exec const& exec, Batch const& batch) {
  std::int64_t const step = step_ + 1;
  StepReport report{step, 0, config_.schedule.rate_at(step), 0};
  report.loss = model_.loss_and_gradient(exec, batch, config_.pass);
  report.gradient_norm = std::sqrt(kernels::sum_of_squares<T>(exec, model_.gradients(), scratch_));
  expect(std::isfinite(report.loss) && std::isfinite(report.gradient_norm), "train: step ", step, ": loss is ",
         report.loss, " and the gradient's norm ", report.gradient_norm, ", expected finite numbers");
  bool const too_long = config_.clip > 0 && report.gradient_norm > config_.clip;
  kernels::AdamW const options{report.rate, config_.beta1, config_.beta2, config_.eps, config_.decay};
  kernels::adamw<T>(exec, options, step, too_long ? config_.clip / report.gradient_norm : 1.0,
                    static_cast<std::int64_t>(model_.layout().decayed()), model_.parameters(), model_.gradients(),
                    moment1_, moment2_);
  exec.fence();
  step_ = step;
  return report;
}

template class Trainer<float>;
template class Trainer<double>;

}  // namespace sextant::model
