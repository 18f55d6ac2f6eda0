#include <sextant/check/layer.hpp>
#include <sextant/inspect/decay.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::inspect {
namespace {
constexpr int longest = 192;

check::Tensor tensor(std::vector<std::size_t> shape) {
  std::size_t size = 1;
  for (std::size_t n : shape) size *= n;
  return {std::move(shape), std::vector<double>(size)};
}

// [batch, heads, length, dim] where all tokens of a row and all its heads hold one vector.
check::Tensor one_vector_a_row(int batch, int heads, int length, int dim, Stream const& stream) {
  auto out = tensor({static_cast<std::size_t>(batch), static_cast<std::size_t>(heads), static_cast<std::size_t>(length),
                     static_cast<std::size_t>(dim)});
  for (std::size_t n = 0; n < out.values.size(); ++n) {
    std::size_t const row = n / (static_cast<std::size_t>(heads) * length * dim);
    out.values[n] = stream.normal(row * dim + n % dim);
  }
  return out;
}
}  // namespace

Decay measured_logit(Subject const& subject, int draws) {
  auto const& shape = subject.shape();
  int const length = static_cast<int>(std::min<double>(longest, subject.length()));
  std::vector<double> positions(length);
  for (int i = 0; i < length; ++i) positions[i] = i;
  check::Layer<double> layer(subject.shared_position(), draws, length, positions);
  for (std::size_t n = 0; n < layer.slots().size(); ++n) layer.set(n, subject.values_of(*layer.slots()[n].parameter));
  Stream const content(subject.seed(), "inspect/content"), token(subject.seed(), "inspect/token");
  auto const q = one_vector_a_row(draws, shape.heads, length, shape.head_dim, content);
  auto const k = one_vector_a_row(draws, shape.kv_heads, length, shape.head_dim, content);
  auto x = one_vector_a_row(draws, 1, length, shape.model_dim, token);
  x.shape = {static_cast<std::size_t>(draws), static_cast<std::size_t>(length),
             static_cast<std::size_t>(shape.model_dim)};
  layer.encode(q, k, x);
  auto const logits = layer.logits(1 / std::sqrt(shape.head_dim), {}).biased;

  Decay out;
  out.draws = draws;
  out.any_content = true;
  out.distance = distances_to(length - 1);
  for (int h = 0; h < shape.heads; ++h) {
    std::vector<double> mean;
    for (double d : out.distance) {
      double sum = 0, square = 0;
      for (int b = 0; b < draws; ++b) {
        std::size_t const row = (static_cast<std::size_t>(b) * shape.heads + h) * length + length - 1;
        double const logit = logits[row * length + length - 1 - static_cast<std::size_t>(d)];
        sum += logit, square += logit * logit;
      }
      mean.push_back(sum / draws);
      double const variance = std::max(0.0, square / draws - mean.back() * mean.back());
      if (std::isfinite(variance)) out.standard_error = std::max(out.standard_error, std::sqrt(variance / draws));
    }
    out.bias.emplace_back(mean.size(), 0.0);
    out.content.push_back(std::move(mean));
    out.content_differs = out.content_differs || out.content.front() != out.content.back();
  }
  return out;
}

}  // namespace sextant::inspect
