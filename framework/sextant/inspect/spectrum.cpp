#include <sextant/base/error.hpp>
#include <sextant/inspect/action.hpp>
#include <sextant/inspect/spectrum.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::inspect {
namespace {
// Steps from the query's side: content and bias of a query n tokens after the first key.
class Steps {
 public:
  explicit Steps(Action const& action) : action_(action), origin_(action.at(0, 0)) {
    double const corner = origin_.content(0, 0);
    Matrix plain = Matrix::identity(origin_.content.rows);
    for (double& x : plain.data) x *= corner;
    scalar_ = corner != 0 && frobenius(difference(origin_.content, plain)) <= 1e-12 * frobenius(plain);
  }
  /// content(0, 0) is a multiple of the identity, so that C(n) is content(n, 0) over that number.
  bool scalar() const { return scalar_; }
  double bias(double n) const { return action_.bias_at(n, 0) - origin_.bias; }
  Matrix content(double n) const {
    Matrix out = action_.at(n, 0).content;
    for (double& x : out.data) x /= origin_.content(0, 0);
    return out;
  }

 private:
  Action const& action_;
  Pair origin_;
  bool scalar_ = false;
};

// C(n)'s largest and smallest singular value. Where C^T C is diagonal already, as for turns, that is read off.
std::pair<double, double> extremes(Matrix const& c) {
  Matrix const gram = product_transposed(c, c);
  double off = 0, low = gram(0, 0), high = low;
  for (int i = 0; i < gram.rows; ++i)
    for (int j = 0; j < gram.cols; ++j) {
      if (i == j)
        low = std::min(low, gram(i, i)), high = std::max(high, gram(i, i));
      else
        off = std::max(off, std::abs(gram(i, j)));
    }
  if (off <= 1e-13 * high) return {std::sqrt(high), std::sqrt(low)};
  auto const s = singular_values(c);
  return {s.front(), s.back()};
}

void measure_laws(Action const& action, Steps const& steps, double most, Spectrum& out) {
  double const probes[][2] = {{1, 1}, {1, 2}, {3, 5}, {7, 16}, {11, 29}};
  for (auto const& [a, b] : probes) {
    if (a + b > most) continue;
    Matrix const whole = steps.content(a + b);
    double const size = std::max(1e-300, frobenius(whole));
    double const residual = frobenius(difference(product(steps.content(a), steps.content(b)), whole)) / size;
    out.content_residual = std::max(out.content_residual, residual);
    double const bias = steps.bias(a + b);
    out.bias_residual =
        std::max(out.bias_residual, std::abs(steps.bias(a) + steps.bias(b) - bias) / std::max(1.0, std::abs(bias)));
    for (double shift : {1.0, 13.0}) {
      Pair const here = action.at(a + b, b), there = action.at(a + b + shift, b + shift);
      double const scale = std::max(1e-300, frobenius(here.content));
      out.relative_residual =
          std::max({out.relative_residual, frobenius(difference(there.content, here.content)) / scale,
                    std::abs(there.bias - here.bias)});
    }
  }
}
}  // namespace

void lift_singular_values(double s, double out[2]) {
  double const root = std::abs(s) * std::sqrt(1 + s * s / 4);
  out[0] = std::sqrt(1 + s * s / 2 + root);
  out[1] = 1 / out[0];  // 1 + s^2/2 - root cancels for large s; the product of the two is 1
}

Finding<Spectrum> spectrum(Subject const& subject, int head) {
  Action const action(subject, head);
  using None = Finding<Spectrum>;
  if (!action.open().empty()) return None::none(action.open());
  if (!action.turns() && !action.biases())
    return None::none("position changes neither contents nor logits, so one step is the identity");
  Steps const steps(action);
  if (!steps.scalar()) return None::none("query and key of one position differ by more than a factor");
  if (!std::isfinite(steps.bias(1))) return None::none("neighbours are hidden from one another");
  Spectrum out{.head = head, .content = action.turns(), .bias = action.biases()};
  if (out.content) out.step = eigenvalues(steps.content(1));
  if (out.bias) out.step.insert(out.step.end(), 2, 1.0);  // the block [[1, 0], [b, 1]]
  std::stable_sort(out.step.begin(), out.step.end(),
                   [](auto const& x, auto const& y) { return std::abs(x) > std::abs(y) * (1 + 1e-12); });
  for (auto const& z : out.step) out.generator.push_back(std::log(z));
  out.radius = std::abs(out.step.front());
  double const most = subject.length() - 1;
  for (double n = 1; n <= most; n *= 2) {
    auto const [high, low] = out.content ? extremes(steps.content(n)) : std::pair{1.0, 1.0};
    double pair[2] = {1, 1};
    if (out.bias) lift_singular_values(steps.bias(n), pair);
    out.growth.push_back({n, high, std::max(high, pair[0]), std::min(low, pair[1])});
  }
  measure_laws(action, steps, most, out);
  if (out.bias) {
    out.lift_s = steps.bias(most);
    Matrix block = Matrix::identity(2);
    block(1, 0) = out.lift_s;
    auto const measured = singular_values(block);
    out.lift_measured[0] = measured[0];
    out.lift_measured[1] = measured[1];
    lift_singular_values(out.lift_s, out.lift_lemma);
  }
  return out;
}

}  // namespace sextant::inspect
