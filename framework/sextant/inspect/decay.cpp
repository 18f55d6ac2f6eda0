#include <sextant/inspect/action.hpp>
#include <sextant/inspect/decay.hpp>

#include <cmath>

namespace sextant::inspect {

Finding<Decay> expected_logit(Subject const& subject) {
  int const heads = subject.shape().heads;
  double const last = subject.length() - 1, scale = 1 / std::sqrt(subject.shape().head_dim);
  Decay out;
  bool dense = false;
  for (auto const& term : subject.terms()) dense = dense || term.stages.transform;
  out.distance = distances_to(last, dense ? 2 : 8);  // a dense map costs head_dim^2 a distance
  for (int h = 0; h < heads; ++h) {
    Action const action(subject, h);
    if (!action.open().empty()) {
      if (subject.layer() == 0) return measured_logit(subject, 24);
      return Finding<Decay>::none(action.open() + "; it can be measured in layer 0 alone");
    }
    std::vector<double> content, bias;
    for (double d : out.distance) {
      content.push_back(scale * action.trace_at(last, last - d));
      bias.push_back(action.bias_at(last, last - d));
    }
    out.any_content = out.any_content || action.turns();
    out.any_bias = out.any_bias || action.biases();
    out.content.push_back(std::move(content));
    out.bias.push_back(std::move(bias));
    out.content_differs = out.content_differs || out.content.front() != out.content.back();
    out.bias_differs = out.bias_differs || out.bias.front() != out.bias.back();
  }
  return out;
}

}  // namespace sextant::inspect
