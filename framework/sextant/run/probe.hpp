// What all probes share: what they are given, and the record that they leave.
#pragma once
#include <sextant/results/table.hpp>
#include <sextant/run/source.hpp>
#include <sextant/run/stages.hpp>

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

results::Group measure_loss(Probing const& probing);
results::Group measure_accuracy(Probing const& probing);
results::Group measure_passkey(Probing const& probing);
results::Group measure_attention(Probing const& probing);
results::Group measure_order(Probing const& probing);
results::Group measure_permutation(Probing const& probing);
results::Group measure_shift(Probing const& probing);
results::Group measure_streaming(Probing const& probing);

}  // namespace sextant::run
