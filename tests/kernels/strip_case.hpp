// What the strip tests share: made-up links whose backward is derived by hand, a rule of three branches, and a problem
// that owns all of it twice, for the kernel and for the plain loops.
#pragma once
#include <cmath>
#include <memory>

#include "attention_case.hpp"

namespace sextant::test {

constexpr double hidden = -std::numeric_limits<double>::infinity();

/// Parameters of a link, one a head, with gradients kept apart by (batch, head).
template <class T>
struct StripLink : kernels::RowLink<T> {
  std::vector<double> weight, by_lane;
  StripLink(int batch, int heads) : by_lane(static_cast<std::size_t>(batch) * heads) {
    for (int h = 0; h < heads; ++h) weight.push_back(0.3 + 0.1 * h);
  }
  double& grad_at(kernels::Strip<T> const& s) { return by_lane[s.batch * weight.size() + s.head]; }
  std::vector<double> grad() const {
    std::vector<double> sum(weight.size());
    for (std::size_t i = 0; i < by_lane.size(); ++i) sum[i % weight.size()] += by_lane[i];
    return sum;
  }
};

/// A scan: logit(j) -= w * sum of sigmoid(logit(t)) over the visible t > j.
template <class T>
struct SuffixSum final : StripLink<T> {
  using StripLink<T>::StripLink;
  int notes() const override { return 1; }
  void forward(kernels::Strip<T> const& s, kernels::Operands<T> const&) const override {
    for (int r = 0; r < s.rows; ++r) {
      T *const x = s.logit + r * s.stride, *const note = s.note(0) + r * s.stride;
      double sum = 0;
      for (int j = s.cols - 1; j >= 0; --j) {
        double const gate = 1 / (1 + std::exp(-static_cast<double>(x[j])));
        note[j] = static_cast<T>(gate);
        x[j] -= static_cast<T>(this->weight[s.head] * sum);
        sum += gate;
      }
    }
  }
  void backward(kernels::Strip<T> const& s, kernels::Operands<T> const&, T* grad,
                kernels::OperandGradients<T> const&) override {
    for (int r = 0; r < s.rows; ++r) {
      T *const g = grad + r * s.stride, *const note = s.note(0) + r * s.stride;
      double after = 0;
      for (int j = s.cols - 1; j >= 0; --j) {
        this->grad_at(s) -= static_cast<double>(g[j]) * after;
        after += static_cast<double>(note[j]);
      }
      double before = 0;
      for (int j = 0; j < s.cols; ++j) {
        double const own = static_cast<double>(g[j]), gate = static_cast<double>(note[j]);
        g[j] += static_cast<T>(-this->weight[s.head] * before * gate * (1 - gate));
        before += own;
      }
    }
  }
};

/// out += w * sum over j of weight(j) * (cos(0.1 j + d)).
template <class T>
struct ValueWave final : StripLink<T> {
  using StripLink<T>::StripLink;
  static double wave(int j, int d) { return std::cos(0.1 * j + d); }
  bool adds_to_values() const override { return true; }
  void values(kernels::Strip<T> const& s, T* out, std::ptrdiff_t stride, int dim) const override {
    for (int r = 0; r < s.rows; ++r)
      for (int d = 0; d < dim; ++d) {
        double sum = 0;
        for (int j = 0; j < s.cols; ++j) sum += static_cast<double>(s.logit[r * s.stride + j]) * wave(j, d);
        out[r * stride + d] += static_cast<T>(this->weight[s.head] * sum);
      }
  }
  void values_backward(kernels::Strip<T> const& s, T const* grad_out, std::ptrdiff_t stride, int dim,
                       T* grad_weight) override {
    for (int r = 0; r < s.rows; ++r)
      for (int j = 0; j < s.cols; ++j) {
        double sum = 0;
        for (int d = 0; d < dim; ++d) sum += static_cast<double>(grad_out[r * stride + d]) * wave(j, d);
        grad_weight[r * s.stride + j] += static_cast<T>(this->weight[s.head] * sum);
        this->grad_at(s) += static_cast<double>(s.logit[r * s.stride + j]) * sum;
      }
  }
};

/// Forms the logits of odd heads: scale * q . k * (1 + w cos(0.3 (query position - key position))). Hands on what keys
/// receive when the head is done.
template <class T>
struct Swell final : StripLink<T> {
  std::vector<std::vector<T>> pending;  // [batch, head][key, dim]
  Swell(int batch, int heads) : StripLink<T>(batch, heads), pending(static_cast<std::size_t>(batch) * heads) {}
  bool multiplies(int head) const override { return head % 2 == 1; }
  static double wave(kernels::Strip<T> const& s, int r, int j) {
    return std::cos(0.3 * (s.query_position[r] - s.key_position[j]));
  }
  static double dot(kernels::Operands<T> const& x, int r, int j) {
    double sum = 0;
    for (int d = 0; d < x.dim; ++d)
      sum += static_cast<double>(x.query[r * x.query_stride + d]) * static_cast<double>(x.key[j * x.key_stride + d]);
    return sum * static_cast<double>(x.scale);
  }
  void multiply(kernels::Strip<T> const& s, kernels::Operands<T> const& x) const override {
    for (int r = 0; r < s.rows; ++r)
      for (int j = 0; j < s.cols; ++j)
        s.logit[r * s.stride + j] = static_cast<T>(dot(x, r, j) * (1 + this->weight[s.head] * wave(s, r, j)));
  }
  void multiply_backward(kernels::Strip<T> const& s, kernels::Operands<T> const& x, T const* grad,
                         kernels::OperandGradients<T> const& out) override {
    auto& key = pending[s.batch * this->weight.size() + s.head];
    if (key.size() < static_cast<std::size_t>(s.cols) * x.dim) key.resize(static_cast<std::size_t>(s.cols) * x.dim);
    for (int r = 0; r < s.rows; ++r)
      for (int j = 0; j < s.cols; ++j) {
        double const g = static_cast<double>(grad[r * s.stride + j]);
        this->grad_at(s) += g * dot(x, r, j) * wave(s, r, j);
        T const slope = static_cast<T>(g * static_cast<double>(x.scale) * (1 + this->weight[s.head] * wave(s, r, j)));
        for (int d = 0; d < x.dim; ++d) {
          out.query[r * out.query_stride + d] += slope * x.key[j * x.key_stride + d];
          key[static_cast<std::size_t>(j) * x.dim + d] += slope * x.query[r * x.query_stride + d];
        }
      }
  }
  void multiply_finish(int batch, int head, kernels::Operands<T> const& x,
                       kernels::OperandGradients<T> const& out) override {
    auto& key = pending[batch * this->weight.size() + head];
    for (std::size_t i = 0; i < key.size(); ++i) out.key[i / x.dim * out.key_stride + i % x.dim] += key[i];
    key.clear();
  }
};

/// Mixes heads: logit(h) += tanh(sum over g of w(h) sin(1 + h + 2 g) logit(g)), hidden ones counting 0.
template <class T>
struct HeadMix final : StripLink<T> {
  using StripLink<T>::StripLink;
  using Strips = std::span<kernels::Strip<T> const>;
  int notes() const override { return 1; }
  bool across_heads() const override { return true; }
  static double part(std::size_t h, std::size_t g) { return std::sin(1.0 + h + 2.0 * g); }
  static double finite(T x) { return x == static_cast<T>(hidden) ? 0 : static_cast<double>(x); }
  static double inner(Strips heads, std::size_t h, std::ptrdiff_t at) {
    double sum = 0;
    for (std::size_t g = 0; g < heads.size(); ++g) sum += part(h, g) * finite(heads[g].note(0)[at]);
    return sum;
  }
  void forward_heads(Strips heads, std::span<kernels::Operands<T> const>) const override {
    for (auto const& s : heads)
      for (int r = 0; r < s.rows; ++r) std::copy_n(s.logit + r * s.stride, s.cols, s.note(0) + r * s.stride);
    for (std::size_t h = 0; h < heads.size(); ++h)
      for (int r = 0; r < heads[h].rows; ++r)
        for (std::ptrdiff_t at = r * heads[h].stride; at < r * heads[h].stride + heads[h].cols; ++at)
          heads[h].logit[at] += static_cast<T>(std::tanh(this->weight[h] * inner(heads, h, at)));
  }
  void backward_heads(Strips heads, std::span<kernels::Operands<T> const>, std::span<T* const> grad,
                      std::span<kernels::OperandGradients<T> const>) override {
    for (int r = 0; r < heads[0].rows; ++r)
      for (std::ptrdiff_t at = r * heads[0].stride; at < r * heads[0].stride + heads[0].cols; ++at) {
        std::vector<double> slope(heads.size());
        for (std::size_t h = 0; h < heads.size(); ++h) {
          double const x = inner(heads, h, at), y = std::tanh(this->weight[h] * x);
          slope[h] = static_cast<double>(grad[h][at]) * (1 - y * y);
          this->grad_at(heads[h]) += slope[h] * x;
        }
        for (std::size_t g = 0; g < heads.size(); ++g) {
          double sum = 0;
          for (std::size_t h = 0; h < heads.size(); ++h) sum += slope[h] * this->weight[h] * part(h, g);
          if (heads[g].note(0)[at] != static_cast<T>(hidden)) grad[g][at] += static_cast<T>(sum);
        }
      }
  }
};

/// Branches by distance: below 20, below 60, further (`count` of them); some pairs hidden, and in head 1 all far ones.
struct ByDistance final : kernels::BranchRule {
  int count;
  bool hides;
  explicit ByDistance(int count_, bool hides_) : count(count_), hides(hides_) {}
  int branch(int head, double distance) const {
    distance = std::abs(distance);
    if (hides && ((distance >= 30 && distance < 33) || (head == 1 && distance >= 70))) return hidden;
    return std::min(count - 1, distance < 20 ? 0 : distance < 60 ? 1 : 2);
  }
  void select(int head, double const* query, int rows, double const* key, int cols, signed char* out) const override {
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; ++j) *out++ = static_cast<signed char>(branch(head, query[r] - key[j]));
  }
  int uniform(int head, double const* query, int rows, double const* key, int cols) const override {
    int const first = branch(head, query[0] - key[0]);
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; ++j)
        if (branch(head, query[r] - key[j]) != first) return mixed;
    return first;
  }
};

/// What a problem is made of, by letters: 2 or 3 branches, h(ides pairs), s(can), v(alues), p(roduct), m(ixes heads),
/// b(ias by tiles), n(ear keys only).
template <class T>
struct StripCase : Attention<T> {
  std::unique_ptr<ByDistance> rule;
  std::vector<std::unique_ptr<StripLink<T>>> links;
  LinearBias<T> bias;
  Near<T> near;
  kernels::BranchGradients<T> branch_grad;

  explicit StripCase(Shape const& s, std::string const& parts, std::uint64_t seed = 1)
      : Attention<T>(s, seed), bias(s.batch, std::vector<double>(s.heads, 0.02)), near(41, s.key_len - s.query_len) {
    auto const has = [&](char c) { return parts.find(c) != std::string::npos; };
    int const branches = has('3') ? 3 : has('2') ? 2 : 1;
    if (branches > 1 || has('h')) rule = std::make_unique<ByDistance>(branches, has('h'));
    this->in.branch_rule = rule.get();
    for (int n = 1; n < branches; ++n) {
      this->in.more_query.push_back(random_heads<T>(seed, text("query", n), s.batch, s.heads, s.query_len, s.head_dim));
      this->in.more_key.push_back(random_heads<T>(seed, text("key", n), s.batch, s.kv_heads, s.key_len, s.head_dim));
      branch_grad.query.push_back(zero_heads<T>(s.batch, s.heads, s.query_len, s.head_dim));
      branch_grad.key.push_back(zero_heads<T>(s.batch, s.kv_heads, s.key_len, s.head_dim));
      Kokkos::deep_copy(branch_grad.query.back(), std::numeric_limits<T>::quiet_NaN());
      Kokkos::deep_copy(branch_grad.key.back(), std::numeric_limits<T>::quiet_NaN());
    }
    auto const add = [&](auto link) { links.push_back(std::move(link)); };
    if (has('s')) add(std::make_unique<SuffixSum<T>>(s.batch, s.heads));
    if (has('v')) add(std::make_unique<ValueWave<T>>(s.batch, s.heads));
    if (has('m')) add(std::make_unique<HeadMix<T>>(s.batch, s.heads));
    if (has('p')) add(std::make_unique<Swell<T>>(s.batch, s.heads));
    for (auto const& link : links) this->in.rows.push_back(link.get());
    if (has('b')) this->in.modifiers.push_back(&bias);
    if (has('n')) this->in.modifiers.push_back(&near);
  }
  void backward() {
    kernels::AttentionWorkspace workspace;
    kernels::attention_backward<T>(Exec(), this->in, this->out, this->log_sum_exp, this->grad_out, this->grad_query,
                                   this->grad_key, this->grad_value, workspace, branch_grad);
  }
  void reference_backward() {
    reference::attention_backward<T>(this->in, this->out, this->log_sum_exp, this->grad_out, this->grad_query,
                                     this->grad_key, this->grad_value, branch_grad);
  }
  /// Every gradient by name.
  std::vector<std::pair<std::string, Values>> gradients() const {
    std::vector<std::pair<std::string, Values>> all{
        {"query", values(this->grad_query)}, {"key", values(this->grad_key)}, {"value", values(this->grad_value)}};
    for (std::size_t n = 0; n < branch_grad.query.size(); ++n) {
      all.emplace_back(text("query of branch ", n + 1), values(branch_grad.query[n]));
      all.emplace_back(text("key of branch ", n + 1), values(branch_grad.key[n]));
    }
    for (std::size_t n = 0; n < links.size(); ++n) all.emplace_back(text("link ", n), values(links[n]->grad()));
    all.emplace_back("bias", values(bias.grad_slope()));
    return all;
  }
};

}  // namespace sextant::test
