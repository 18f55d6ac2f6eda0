// What all probes share: what they are given, and the record that they leave.
#pragma once
#include <sextant/results/table.hpp>
#include <sextant/run/source.hpp>
#include <sextant/run/stages.hpp>
#include <sextant/tasks/sampler.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sextant::run {

/// One measurement to carry out: `network` holds the trained weights, seen under the stage's position block.
struct Probing {
  Exec const& exec;
  plan::EvaluateStage const& stage;
  plan::Plan const& plan;
  std::string const& run;
  Source const& source;
  Network& network;
  Progress& progress;
};

/// The record of a measurement: rows of results/, and arrays of eval/<name>/ along length and window.
class ProbeRecord {
 public:
  /// `windows` tells what was measured apart: where windows end in the test text, or numbers of examples.
  ProbeRecord(Probing const& probing, std::vector<std::int64_t> const& windows, char const* windows_are);

  struct Measure {
    std::string name;            ///< as a claim calls it
    std::string region, metric;  ///< as tables call it
    std::string units, what;
  };
  /// A measure with a value for each window; `n`: how many numbers its mean is over.
  void add(Measure const& measure, std::vector<double> const& each, std::int64_t n);
  /// The same of a measure over whole windows, in the units and words that spec::probes() has for it.
  void keep(std::string const& measure, std::vector<double> const& each, std::int64_t n);

  results::Group& eval() { return record_["eval"][name_]; }
  results::Group finish();

 private:
  Probing const& probing_;
  std::string name_;
  results::Group record_;
  results::ResultTable rows_;
};

/// Mean and its standard error over the values; the error of one value is NaN.
struct Mean {
  double value = 0, error = 0;
};
Mean mean_of(std::vector<double> const& each);

/// Positions that an encoding's sampler draws for row `first`, first + 1, ... of an evaluation; empty where it draws none.
View2<double> evaluation_positions(Network const& network, int first, int rows, int length);

/// The windows of the test text that the stage asks for.
tasks::EvalWindows test_windows(Probing const& probing);
/// Takes tokens [row + 1] of a window, the last of them only predicted, and the window's number.
using UseWindow = std::function<void(std::span<std::int32_t const>, int)>;
/// Windows one after the other. Throws Stopped saying `doing` when a stop was requested.
void each_window(Probing const& probing, tasks::EvalWindows const& windows, char const* doing, UseWindow const& use);

/// [rows, length] of tokens [rows, length + 1]: the loss of each, in nat; `first`: the number of the first row.
View2<double> losses(Probing const& probing, tasks::Tokens const& tokens, int first);

/// What is told in the n-th text or example is told at one of so many depths, in turns.
inline constexpr int depths = 8;
double depth_of(int n);
/// The axis that put_by_depth needs.
void put_depths(results::Group& eval, char const* depth_is);
/// MEASURE_by_depth [length, depth]: means over the texts or examples of each depth; `told`: "the digits were told".
void put_by_depth(results::Group& eval, std::string const& measure, std::vector<double> const& each,
                  std::string const& units, std::string const& told);

results::Group measure_loss(Probing const& probing);
results::Group measure_accuracy(Probing const& probing);
results::Group measure_passkey(Probing const& probing);
results::Group measure_attention(Probing const& probing);
results::Group measure_order(Probing const& probing);
results::Group measure_permutation(Probing const& probing);
results::Group measure_shift(Probing const& probing);
results::Group measure_streaming(Probing const& probing);
results::Group measure_repetition(Probing const& probing);

}  // namespace sextant::run
