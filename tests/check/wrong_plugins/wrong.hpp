// What the deliberately wrong plugins share: a row term with no parameters whose subclass says what it adds.
#pragma once
#include <sextant/plugin.hpp>

#include <cmath>

namespace sextant::wrong {
using namespace ::sextant::encoding;

template <class T>
class Rows : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  using Strip = kernels::Strip<T>;
  using Operands = kernels::Operands<T>;
  void prepare(Exec const&, Inputs const& in) override { in_ = in; }
  void finish(Tensors&) override {}

 protected:
  static bool hidden(Strip const& s, int r, int c) { return std::isinf(s.logit[r * s.stride + c]); }
  /// Index among the keys of the token that query row r belongs to.
  int own(Strip const& s, int r) const { return in_.key_len - in_.query_len + s.row + r; }
  Inputs in_;
};

/// logit(i, j) += 0.2 cos(p_j) q_i . k_from(i, j), for a key that from() chooses; -1: none.
template <class T>
class ReadsAnotherKey : public Rows<T> {
 public:
  using typename Rows<T>::Strip;
  using typename Rows<T>::Operands;
  virtual int from(Strip const& s, int r, int c) const = 0;

  void forward(Strip const& s, Operands const& o) const override {
    for_each(
        s,
        [&](int r, int c, int key) {
          T sum = 0;
          for (int d = 0; d < o.dim; ++d) sum += o.query[r * o.query_stride + d] * o.key[key * o.key_stride + d];
          s.logit[r * s.stride + c] += weight(s, c) * sum;
        },
        true);
  }
  void backward(Strip const& s, Operands const& o, T* grad, kernels::OperandGradients<T> const& out) override {
    for_each(
        s,
        [&](int r, int c, int key) {
          T const g = weight(s, c) * grad[r * s.stride + c];
          for (int d = 0; d < o.dim; ++d) {
            out.query[r * out.query_stride + d] += g * o.key[key * o.key_stride + d];
            if (g != 0) out.key[key * out.key_stride + d] += g * o.query[r * o.query_stride + d];
          }
        },
        false);
  }

 private:
  static T weight(Strip const& s, int c) { return T(0.2 * std::cos(s.key_position[c])); }
  template <class F>
  void for_each(Strip const& s, F&& f, bool forward) const {
    for (int r = 0; r < s.rows; ++r)
      for (int c = 0; c < s.cols; ++c) {
        int const key = this->from(s, r, c);
        if (key >= 0 && !(forward && this->hidden(s, r, c))) f(r, c, key);
      }
  }
};

}  // namespace sextant::wrong
