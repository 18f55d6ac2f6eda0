// A row term outside of attention: strips made by hand, and a loss that is a weighted sum of its logits.
#pragma once
#include <sextant/base/philox.hpp>
#include <sextant/encoding/encoding.hpp>

#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <vector>

namespace sextant::test {

/// Query, key, features and gates of one layer. Query heads are a multiple of key heads; the queries are the last
/// query_len of the keys' tokens.
template <class T>
struct StripRig {
  int batch = 1, heads = 1, kv_heads = 1, query_len = 8, key_len = 8, dim = 4;
  int strip_rows = 5;  ///< rows of a strip
  double scale = 0.5;
  std::vector<int> feature_widths;
  int gates = 0;
  std::vector<double> position = {};  ///< of the keys' tokens; empty: 0, 1, ..
  /// Pairs (query's own key, key) that are hidden beside those with j > i.
  std::function<bool(int i, int j)> hides = {};

  std::vector<T> query = {}, key = {};
  std::vector<std::vector<T>> feature = {};
  std::vector<std::vector<double>> gate = {};  ///< [batch, heads, key_len]

  struct Gradients {
    std::vector<T> query, key;
    std::vector<std::vector<T>> feature;
    std::vector<std::vector<double>> gate;
  };
  using Term = encoding::RowTerm<T>;

  void fill(std::uint64_t seed) {
    auto const normal = [&](std::string const& name, std::size_t n) {
      std::vector<T> out(n);
      Stream const stream(seed, name);
      for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<T>(stream.normal(i));
      return out;
    };
    std::size_t const rows = static_cast<std::size_t>(batch) * heads;
    query = normal("query", rows * query_len * dim);
    key = normal("key", static_cast<std::size_t>(batch) * kv_heads * key_len * dim);
    feature.clear(), gate.clear();
    for (int width : feature_widths)
      feature.push_back(normal("feature" + std::to_string(width), rows * key_len * width));
    for (int g = 0; g < gates; ++g) {
      auto const z = normal("gate" + std::to_string(g), rows * key_len);
      gate.emplace_back(z.begin(), z.end());
    }
    if (position.empty())
      for (int j = 0; j < key_len; ++j) position.push_back(j);
  }

  int own(int row) const { return key_len - query_len + row; }
  bool hidden(int row, int j) const { return j > own(row) || (hides && hides(own(row), j)); }
  std::size_t head_row(int b, int h) const { return static_cast<std::size_t>(b) * heads + h; }
  T const* query_of(int b, int h) const { return query.data() + head_row(b, h) * query_len * dim; }
  T const* key_of(int b, int h) const {
    return key.data() + (static_cast<std::size_t>(b) * kv_heads + h / (heads / kv_heads)) * key_len * dim;
  }

  /// [batch, heads, query_len, key_len]; 0 on hidden pairs.
  std::vector<T> logits(Term& term) {
    term.prepare(Exec(), inputs(nullptr));
    std::vector<T> out(static_cast<std::size_t>(batch) * heads * query_len * key_len);
    std::vector<T> notes(static_cast<std::size_t>(term.notes()) * strip_rows * key_len);
    over_strips([&](kernels::Strip<T> strip, kernels::Operands<T> const& operands) {
      strip.logit = out.data() + (head_row(strip.batch, strip.head) * query_len + strip.row) * key_len;
      strip.notes = notes.data();
      logits_of(term, strip, operands);
    });
    for (T& x : out)
      if (std::isinf(x)) x = 0;
    return out;
  }
  /// d (sum of weight * logits) for weights shaped as the logits; those of hidden pairs do not count.
  Gradients gradients(Term& term, std::vector<T> const& weight) {
    Gradients g{std::vector<T>(query.size()), std::vector<T>(key.size()), {}, {}};
    for (auto const& f : feature) g.feature.emplace_back(f.size());
    for (auto const& f : gate) g.gate.emplace_back(f.size());
    term.prepare(Exec(), inputs(&g));
    std::size_t const size = static_cast<std::size_t>(strip_rows) * key_len;
    std::vector<T> notes(term.notes() * size), logit(size), grad(size);
    auto const out_of = [&](int b, int h) {
      auto const key_at = key_of(b, h) - key.data();
      return kernels::OperandGradients<T>{g.query.data() + head_row(b, h) * query_len * dim, g.key.data() + key_at, dim,
                                          dim};
    };
    over_strips([&](kernels::Strip<T> strip, kernels::Operands<T> const& operands) {
      strip.logit = logit.data(), strip.notes = notes.data();
      logits_of(term, strip, operands);
      for (int r = 0; r < strip.rows; ++r)
        for (int j = 0; j < strip.cols; ++j) {
          std::size_t const at = (head_row(strip.batch, strip.head) * query_len + strip.row + r) * key_len + j;
          grad[r * key_len + j] = hidden(strip.row + r, j) ? T(0) : weight[at];
        }
      auto out = out_of(strip.batch, strip.head);
      out.query += strip.row * dim;
      term.backward(strip, operands, grad.data(), out);
      if (term.multiplies(strip.head))
        term.multiply_backward(strip, operands, grad.data(), out);
      else
        product_backward(strip, operands, grad.data(), out);
      if (strip.row + strip.rows == query_len && term.multiplies(strip.head))
        term.multiply_finish(strip.batch, strip.head, operands, out_of(strip.batch, strip.head));
    });
    encoding::Tensors none;
    term.finish(none);
    return g;
  }

 private:
  typename Term::Inputs inputs(Gradients* g) {
    typename Term::Inputs in;
    in.batch = batch, in.query_len = query_len, in.key_len = key_len, in.heads = heads, in.head_dim = dim;
    in.first_head = {0, heads};
    in.scale = scale;
    in.want_gradient = g != nullptr;
    std::size_t const row = key_len;
    auto const rows_of = [&](std::vector<double>& data, int from) {
      return encoding::GateRows{data.data() + from, row * heads, row};
    };
    auto const features_of = [&](std::vector<T>& data, int width) {
      return encoding::FeatureRows<T>{data.data(), row * heads * width, row * width, width};
    };
    for (std::size_t n = 0; n < gate.size(); ++n) {
      in.query_gates.push_back(rows_of(gate[n], key_len - query_len));
      in.key_gates.push_back(rows_of(gate[n], 0));
      if (!g) continue;
      in.query_gate_gradient.push_back(rows_of(g->gate[n], key_len - query_len));
      in.key_gate_gradient.push_back(rows_of(g->gate[n], 0));
    }
    for (std::size_t n = 0; n < feature.size(); ++n) {
      in.features.push_back(features_of(feature[n], feature_widths[n]));
      if (g) in.feature_gradient.push_back(features_of(g->feature[n], feature_widths[n]));
    }
    return in;
  }
  template <class F>
  void over_strips(F&& f) {
    for (int b = 0; b < batch; ++b)
      for (int h = 0; h < heads; ++h)
        for (int row = 0; row < query_len; row += strip_rows) {
          int const rows = std::min(strip_rows, query_len - row);
          kernels::Strip<T> strip{b, h, row, rows, own(row) + rows, nullptr, key_len, nullptr, nullptr, nullptr, 0};
          strip.query_position = position.data() + own(row);
          strip.key_position = position.data();
          strip.notes_size = static_cast<std::ptrdiff_t>(strip_rows) * key_len;
          f(strip,
            kernels::Operands<T>{query_of(b, h) + row * dim, key_of(b, h), dim, dim, dim, static_cast<T>(scale)});
        }
  }
  void logits_of(Term& term, kernels::Strip<T> const& strip, kernels::Operands<T> const& operands) {
    if (term.multiplies(strip.head))
      term.multiply(strip, operands);
    else
      for (int r = 0; r < strip.rows; ++r)
        for (int j = 0; j < strip.cols; ++j) {
          T dot = 0;
          for (int k = 0; k < dim; ++k) dot += operands.query[r * dim + k] * operands.key[j * dim + k];
          strip.logit[r * strip.stride + j] = operands.scale * dot;
        }
    for (int r = 0; r < strip.rows; ++r)
      for (int j = 0; j < strip.cols; ++j)
        if (hidden(strip.row + r, j)) strip.logit[r * strip.stride + j] = -std::numeric_limits<T>::infinity();
    term.forward(strip, operands);
  }
  void product_backward(kernels::Strip<T> const& strip, kernels::Operands<T> const& operands, T const* grad,
                        kernels::OperandGradients<T> const& out) {
    for (int r = 0; r < strip.rows; ++r)
      for (int j = 0; j < strip.cols; ++j)
        for (int k = 0; k < dim; ++k) {
          T const g = operands.scale * grad[r * strip.stride + j];
          out.query[r * dim + k] += g * operands.key[j * dim + k];
          out.key[j * dim + k] += g * operands.query[r * dim + k];
        }
  }
};

/// (f(x + step) - f(x - step)) / (2 step) for every element of `x`.
template <class T>
std::vector<T> central_differences(std::vector<T>& x, std::function<T()> const& f, T step = T(1e-5)) {
  std::vector<T> out;
  for (T& element : x) {
    T const kept = element;
    element = kept + step;
    T const above = f();
    element = kept - step;
    out.push_back((above - f()) / (2 * step));
    element = kept;
  }
  return out;
}

/// Weights for a loss, one a logit.
template <class T>
std::vector<T> loss_weights(std::size_t count, std::uint64_t seed = 5) {
  std::vector<T> out(count);
  Stream const stream(seed, "loss weights");
  for (std::size_t i = 0; i < count; ++i) out[i] = static_cast<T>(stream.normal(i));
  return out;
}
template <class T>
T weighted_sum(std::vector<T> const& weight, std::vector<T> const& value) {
  T sum = 0;
  for (std::size_t i = 0; i < value.size(); ++i) sum += weight[i] * value[i];
  return sum;
}

}  // namespace sextant::test
