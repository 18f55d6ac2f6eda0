#include "synthetic.hpp"

#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>

#include <cmath>

namespace sextant::test {
namespace {
constexpr std::int64_t trained = 256;

double start_of(std::string const& encoding) {
  if (encoding == "nope") return 1.95;
  if (encoding == "sinusoidal") return 1.80;
  if (encoding == "rope") return 1.42;
  if (encoding == "alibi") return 1.45;
  if (encoding == "rope+alibi") return 1.40;
  return 1.43;
}
double slope_of(std::string const& encoding, std::string const& scaling) {
  if (scaling == "linear") return 0.75;
  if (scaling == "ntk") return 0.16;
  if (scaling == "yarn") return 0.13;
  if (encoding == "rope") return 0.45;
  if (encoding == "sinusoidal") return 0.38;
  if (encoding == "nope") return 0.12;
  return 0.01;
}
}  // namespace

double synthetic_loss(std::string const& encoding, std::string const& scaling, double position) {
  double const warm = 0.9 * std::exp(-position / 24.0) + 0.25 * std::exp(-position / 160.0);
  double const past = std::max(0.0, std::log2(position / trained));
  return start_of(encoding) + warm + slope_of(encoding, scaling) * past * (scaling == "none" ? 1.0 + 0.2 * past : 1.0);
}

report::StudyView synthetic_study(SyntheticOptions const& options) {
  report::StudyView study;
  study.file = "synthetic.h5";
  study.name = "synthetic";
  study.title = "Synthetic study (made-up numbers)";
  study.question = "Synthetic: which encoding keeps its loss beyond the length it was trained at?";
  study.created = "2026-01-01T00:00:00Z";
  study.creator = "sextant test generator";
  study.tier = "smoke";
  study.trained_length = trained;
  study.controls = {"window_control"};
  study.facts = {{"commit", "0000000 (synthetic)"}, {"backend", "none: nothing was run"}, {"threads", "0"}};
  study.libraries = {{"synthetic-library", "0.0"}};
  study.plugins = {{"rope", "1", "synthetic", std::string(64, '0'), "arXiv:2104.09864"}};
  study.inputs = {{"synthetic.txt", "corpus", std::string(64, '0'), "none", 0}};
  study.sources = {"synthetic source, line 1"};
  study.spec_source = "study: synthetic\n";
  study.spec_resolved = "study: synthetic\ntrain:\n  length: 256  # <default>\n";

  auto const add_arm = [&](std::string const& encoding, std::string const& scaling) {
    for (std::int64_t const seed : options.seeds) {
      Stream const noise(static_cast<std::uint64_t>(seed), "synthetic/" + encoding + "/" + scaling);
      double const shift = 0.012 * noise.normal(0);
      report::RunView run;
      run.id = text("run-", encoding, "-", scaling, "-", seed);
      run.status = "done";
      run.seed = seed;
      run.encoding = encoding;
      run.scaling = scaling;
      run.config = {{"train.steps", "600"}, {"model.layers", "4"}};
      if (scaling == "none") {
        run.train.loss_units = "nat/byte";
        for (int step = 1; step <= 600; ++step) {
          double const target = start_of(encoding) + shift;
          run.train.step.push_back(step);
          run.train.token.push_back(4096.0 * step);
          run.train.wall.push_back(0.1 * step);
          run.train.loss.push_back(target + (5.5 - target) * std::exp(-step / 70.0) + 0.03 * noise.normal(step, 1));
          run.train.rate.push_back(2e-3);
          run.train.gradient_norm.push_back(1.0);
          run.train.speed.push_back(40000 + 500 * noise.uniform(step, 2));
        }
      } else {
        run.parents = {text("run-", encoding, "-none-", seed)};
      }
      for (std::int64_t const length : options.lengths) {
        std::string const units = "nat/byte";
        report::PositionCurve curve{"lm_loss", length, {}, units};
        double sum = 0;
        for (std::int64_t i = 0; i < length; ++i) {
          double const position = static_cast<double>(i) + 1;
          curve.loss.push_back(synthetic_loss(encoding, scaling, position) + shift +
                               0.06 *
                                   noise.normal(static_cast<std::uint64_t>(i), 3 + static_cast<std::uint64_t>(length)));
          sum += curve.loss.back();
        }
        double const value = sum / static_cast<double>(length);
        study.rows.push_back(
            {run.id, seed, encoding, scaling, "lm_loss", length, "mean", "loss", value, 0.01, 64, units});
        study.rows.push_back(
            {run.id, seed, encoding, scaling, "lm_loss", length, "tail64", "loss", curve.loss.back(), 0.02, 64, units});
        if (options.control && length > trained)
          study.rows.push_back({run.id, seed, encoding, scaling, "window_control", length, "mean", "loss",
                                start_of(encoding) + 0.05 + shift, 0.01, 64, units});
        if (length == options.lengths.back()) run.positions.push_back(std::move(curve));
      }
      study.runs.push_back(std::move(run));
    }
  };
  for (auto const& encoding : options.encodings) {
    add_arm(encoding, "none");
    if (encoding == "rope")
      for (auto const& scaling : options.rope_scalings) add_arm(encoding, scaling);
  }
  return study;
}

}  // namespace sextant::test
