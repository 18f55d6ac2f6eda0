// Gradients against central differences, in double.
#include <sextant/check/conformance_exam.hpp>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace sextant::check {
namespace {
constexpr double bound = 1e-7;

/// A loss around one trial, its slope along any direction, and what the backward says of it.
class Slope {
 public:
  Slope(Exam& exam, Trial const& trial)
      : exam_(exam),
        probe_(trial, exam.registry()),
        weight_out_(normal_tensor("weight out", {std::size_t(trial.batch), std::size_t(trial.heads),
                                                 std::size_t(trial.length), std::size_t(trial.value_dim)})),
        weight_x_(normal_tensor("weight x", probe_.x.shape)),
        exact_(probe_.slopes(weight_out_, weight_x_)) {}

  void inputs() {
    auto const& t = probe_.trial;
    auto const axes = [&](int heads, int channels) {
      return Axes{{"batch", t.batch}, {"head", heads}, {"token", t.length}, {"channel", channels}};
    };
    check("d/dq", probe_.q.values, exact_.q, axes(t.heads, t.head_dim));
    check("d/dk", probe_.k.values, exact_.k, axes(t.kv_heads, t.head_dim));
    check("d/dv", probe_.v.values, exact_.v, axes(t.kv_heads, t.value_dim));
    check("d/dx", probe_.x.values, exact_.x, {{"batch", t.batch}, {"token", t.length}, {"channel", t.model_dim}});
  }
  void parameters() {
    for (std::size_t n = 0; n < probe_.parameters.size(); ++n)
      check("d/d " + probe_.names[n], probe_.parameters[n], exact_.parameters[n],
            {{"number", static_cast<int>(probe_.parameters[n].size())}});
  }

 private:
  /// The steepest entries, some others, and a random direction through all of them.
  void check(std::string const& what, std::vector<double>& values, std::vector<double> const& exact, Axes const& axes) {
    std::vector<std::size_t> order(values.size());
    std::iota(order.begin(), order.end(), 0);
    std::size_t const some = std::min<std::size_t>(4, order.size());
    std::partial_sort(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(some), order.end(),
                      [&](auto a, auto b) { return std::abs(exact[a]) > std::abs(exact[b]); });
    order.resize(some);
    Stream const stream(31, what);
    for (std::uint64_t n = 0; n < 2; ++n)
      order.push_back(static_cast<std::size_t>(stream.below(static_cast<std::int64_t>(values.size()), n)));
    std::vector<double> found = exact, measured = exact;
    for (std::size_t at : order) {
      std::vector<double> direction(values.size(), 0.0);
      direction[at] = 1;
      measured[at] = along(values, direction, exact[at]);
    }
    exam_.close(what, found, measured, bound, axes);
    std::vector<double> direction = normal("direction " + what, values.size());
    double length = 0, slope = 0;
    for (double d : direction) length += d * d;
    for (std::size_t i = 0; i < direction.size(); ++i) {
      direction[i] /= std::sqrt(length);
      slope += direction[i] * exact[i];
    }
    exam_.close(what + " along a random direction", {slope}, {along(values, direction, slope)}, bound);
  }

  /// The central difference; at a kink the one-sided difference that agrees with `exact`, where one does.
  double along(std::vector<double>& values, std::vector<double> const& direction, double exact) {
    auto const difference = [&](double h) { return (at(values, direction, h) - at(values, direction, -h)) / (2 * h); };
    // Richardson's extrapolation: a loss of a frequency times a far position bends within the step.
    double const central = (4 * difference(5e-6) - difference(1e-5)) / 3;
    double const size = std::max({1.0, std::abs(exact), std::abs(central)});
    if (std::abs(central - exact) <= bound * size) return central;
    double const here = at(values, direction, 0), step = 1e-6;
    double const right = (at(values, direction, step) - here) / step;
    double const left = (here - at(values, direction, -step)) / step;
    bool const kink = std::abs(right - left) > 1e-4 * size;
    if (kink && std::min(std::abs(right - exact), std::abs(left - exact)) < 1e-4 * size) return exact;
    return central;
  }
  double at(std::vector<double>& values, std::vector<double> const& direction, double step) {
    std::vector<double> const kept = values;
    for (std::size_t i = 0; i < values.size(); ++i) values[i] += step * direction[i];
    double const loss = probe_.loss(weight_out_, weight_x_);
    values = kept;
    return loss;
  }

  Exam& exam_;
  Probe<double> probe_;
  Tensor weight_out_, weight_x_;
  Probe<double>::Slopes exact_;
};

template <class Body>
void on_all_samples(Exam& exam, Body&& body) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = 6;
    trial.value_dim = 2;
    std::vector<Trial> trials{trial};
    if (sample.option.empty()) {
      trial.causal = false;
      trials.push_back(trial);
      trial.causal = true;
      trial.positions = {0, 0.5, 1.25, 2, 3.75, 5};
      trials.push_back(trial);
      trial.positions = {0, 1, 3, 5, 40, 300};
      trials.push_back(trial);
      trial.positions.clear();
      trial.heads = 4, trial.kv_heads = 2;
      trials.push_back(trial);
    }
    for (auto const& one : trials)
      if (!exam.subject.refusal(one)) {
        Slope slope(exam, exam.on(one));
        body(slope);
      }
  }
}
}  // namespace

void check_input_gradients(Exam& exam) {
  on_all_samples(exam, [](Slope& slope) { slope.inputs(); });
}

void check_parameter_gradients(Exam& exam) {
  bool any = false;
  for (auto const& sample : exam.subject.samples())
    any |= !encoding::Position(exam.subject.trial(sample.choice).choice, exam.registry(),
                               exam.subject.trial(sample.choice).shape())
                .parameters()
                .empty();
  if (!any) return exam.not_applicable("it trains nothing");
  on_all_samples(exam, [](Slope& slope) { slope.parameters(); });
}

}  // namespace sextant::check
