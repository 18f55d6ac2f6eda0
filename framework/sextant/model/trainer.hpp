// Training: schedule, clipping, AdamW; and its checkpoint, from which it goes on bit for bit.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/kernels/optimizer.hpp>
#include <sextant/model/model.hpp>
#include <sextant/model/schedule.hpp>

namespace sextant::model {

struct TrainConfig {
  Schedule schedule;
  double beta1 = 0.9, beta2 = 0.95, eps = 1e-8;
  double decay = 0.1;  ///< of matrices; gains, biases and what encodings learn are not decayed
  double clip = 1.0;   ///< longest gradient; 0: as it is
  PassOptions pass;

  /// Throws Error when a member is out of range.
  void check() const;
};

struct StepReport {
  std::int64_t step = 0;  ///< 1 for the first
  double loss = 0;        ///< mean nat per predicted token, before the step
  double rate = 0;
  double gradient_norm = 0;  ///< before clipping
};

template <class T>
class Trainer {
 public:
  Trainer(Model<T>& model, TrainConfig const& config);

  /// One optimiser step on the batch. Throws Error when loss or gradient is not finite; the parameters are then as
  /// they were.
  StepReport step(Exec const& exec, Batch const& batch);

  std::int64_t steps_done() const { return step_; }
  TrainConfig const& config() const { return config_; }

  /// One safetensors file: every parameter by name, its two moments as "moment1." and "moment2." + name, and in the
  /// metadata the step, `note` and a digest. Written atomically.
  void save(fs::path const& path, std::string const& note = "") const;
  /// Takes parameters, moments and step from a file of save() and returns its note. Throws Error naming the file and
  /// the tensor that is missing, too many or of another shape; nothing is changed then.
  std::string load(fs::path const& path);

 private:
  Model<T>& model_;
  TrainConfig config_;
  std::int64_t step_ = 0;
  View1<T> moment1_, moment2_;
  kernels::Scratch<double> scratch_;
};

/// A file as save() writes it, at step 0 and without moments: for load_parameters().
template <class T>
void save_parameters(fs::path const& path, Model<T> const& model, std::string const& note);

/// The parameters alone, as save() has them; moments in the file are passed over. Returns the note.
template <class T>
std::string load_parameters(fs::path const& path, Model<T>& model);

}  // namespace sextant::model
