#include <sextant/inspect/action.hpp>
#include <sextant/inspect/bias_profile.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::inspect {
namespace {
constexpr int grid = 64;

// Smallest whole distance whose penalty reaches 1, between the samples that enclose it, by halving.
double reach_of(Action const& action, double last, std::vector<double> const& distance,
                std::vector<double> const& value) {
  std::size_t n = 0;
  while (n < value.size() && value[0] - value[n] < 1) ++n;
  if (n == value.size() || n == 0) return n == 0 ? 0 : std::numeric_limits<double>::infinity();
  double low = distance[n - 1], high = distance[n];
  while (high - low > 1) {
    double const middle = std::floor((low + high) / 2);
    (value[0] - action.bias_at(last, last - middle) >= 1 ? high : low) = middle;
  }
  return high;
}

// Softmax mass of distances up to `near`: trapezoids between samples, whole distances counted.
double mass_within(std::vector<double> const& distance, std::vector<double> const& value, double near) {
  double const top = *std::max_element(value.begin(), value.end());
  double inside = 0, all = 0;
  for (std::size_t n = 0; n < distance.size(); ++n) {
    double const left = n == 0 ? 0 : distance[n] - distance[n - 1];
    double const right = n + 1 == distance.size() ? 0 : distance[n + 1] - distance[n];
    double const width = n == 0 || n + 1 == distance.size() ? (left + right + 1) / 2 : (left + right) / 2;
    double const weight = std::exp(value[n] - top) * width;
    all += weight;
    if (distance[n] <= near) inside += weight;
  }
  return inside / all;
}

double rank_of_attention(Action const& action, double length) {
  int const n = static_cast<int>(std::min<double>(grid, length));
  double const stride = std::floor(length / n);
  Matrix weights(n, n);
  for (int i = 0; i < n; ++i) {
    double top = -std::numeric_limits<double>::infinity(), sum = 0;
    for (int j = 0; j <= i; ++j) top = std::max(top, weights(i, j) = action.bias_at(i * stride, j * stride));
    for (int j = 0; j <= i; ++j) sum += weights(i, j) = std::exp(weights(i, j) - top);
    for (int j = 0; j <= i; ++j) weights(i, j) /= sum;
  }
  return effective_rank(singular_values(weights));
}
}  // namespace

Finding<BiasProfile> bias_profile(Subject const& subject) {
  double const last = subject.length() - 1;
  BiasProfile out{
      .distance = distances_to(last), .near = std::max(1.0, std::floor(subject.length() / 16)), .heads = {}};
  std::string open;
  for (int h = 0; h < subject.shape().heads; ++h) {
    Action const action(subject, h);
    if (!action.open().empty()) open = action.open();
    if (!action.open().empty() || !action.biases()) continue;
    HeadBias head{.head = h, .value = {}};
    for (double d : out.distance) head.value.push_back(action.bias_at(last, last - d));
    head.per_token = head.value[1] - head.value[0];
    head.reach = reach_of(action, last, out.distance, head.value);
    head.share_of_attention = mass_within(out.distance, head.value, out.near);
    head.effective_rank = rank_of_attention(action, subject.length());
    out.heads.push_back(std::move(head));
  }
  if (out.heads.empty()) return Finding<BiasProfile>::none(open.empty() ? "no head has a bias on its logits" : open);
  return out;
}

}  // namespace sextant::inspect
