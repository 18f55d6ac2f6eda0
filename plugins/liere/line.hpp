// LieRE along one axis: all points share a generator, R(p) = exp(p S). One decomposition per block and head when a tensor
// changes, O(n) per channel and token after it, and nothing kept per token.
#pragma once
#include <common/spectral_turn.hpp>
#include <sextant/plugin.hpp>

#include <optional>

namespace sextant::plugins {

/// Tensors: upper [H or 1, 1, blocks, n(n-1)/2].
template <class T>
class LiereLine final : public Transform<T> {
  using Turn = SpectralTurn<T>;
  using Frame = typename Turn::Frame;

 public:
  using Inputs = typename Transform<T>::Inputs;
  LiereLine(int block, bool per_head) : block_(block), per_head_(per_head) {}

  void prepare(Exec const& exec, Inputs const& in) override {
    bool const same = in.tensors == in_.tensors && in.channels == in_.channels && in.heads == in_.heads;
    in_ = in;
    if (!same) {
      turns_.assign(static_cast<std::size_t>(rows()) * blocks(), {});
      spectra_.assign(turns_.size(), {});
      for_each_index(exec, static_cast<std::int64_t>(turns_.size()), [this](std::int64_t n) { decompose(n); });
    }
    if (in.want_gradient) sums_.reset(in.batch, in.heads, in.kv_heads, blocks() * sum_width());
  }

  void forward(Side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    Frame scratch(block_);
    for_each_piece(b, [&](int first, int rows, int block, double const* position) {
      int const c = block * block_;
      turn(h, block).apply(in + first * in_stride + c, in_stride, position, 1, rows, out + first * out_stride + c,
                           out_stride, scratch);
    });
  }

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    Frame x(block_), g(block_), scratch(block_);
    double* const sums = sums_.at(side, b, h);
    for_each_piece(b, [&](int first, int rows, int block, double const* position) {
      int const c = block * block_;
      T const *at_x = in + first * in_stride + c, *at_g = grad_out + first * grad_out_stride + c;
      Turn const& mine = turn(h, block);
      mine.enter(at_x, in_stride, rows, block_, x);
      mine.enter(at_g, grad_out_stride, rows, block_, g);
      mine.collect(g, x, position, rows, complex_at(sums + block * sum_width()));
      mine.apply(at_g, grad_out_stride, position, -1, rows, grad_in + first * grad_in_stride + c, grad_in_stride,
                 scratch);
    });
  }

  void finish(Tensors& gradient) override {
    std::size_t const square = static_cast<std::size_t>(block_) * block_, triangle = upper_count(block_);
    for (int h = 0; h < rows(); ++h) {
      auto sum = sums_.total(h, per_head_);
      for (int block = 0; block < blocks(); ++block) {
        std::size_t const at = static_cast<std::size_t>(h) * blocks() + block;
        std::vector<double> of_skew(square, 0.0);
        add_skew_gradient(spectra_[at], complex_at(&sum[block * sum_width()]), of_skew.data());
        add_upper_gradient(of_skew.data(), block_, 1, gradient[0].data() + at * triangle);
      }
    }
  }

 private:
  int rows() const { return per_head_ ? in_.heads : 1; }
  int blocks() const { return in_.channels / block_; }
  std::size_t sum_width() const { return 2 * static_cast<std::size_t>(block_) * block_; }
  Turn const& turn(int h, int block) const {
    return *turns_[static_cast<std::size_t>(per_head_ ? h : 0) * blocks() + block];
  }
  /// A matrix of complex sums lies in a row of sums_ as pairs of numbers.
  static std::complex<double>* complex_at(double* sums) { return reinterpret_cast<std::complex<double>*>(sums); }

  void decompose(std::int64_t n) {
    std::vector<double> s(static_cast<std::size_t>(block_) * block_);
    skew_from_upper(in_.tensors[0].data() + static_cast<std::size_t>(n) * upper_count(block_), block_, s.data());
    spectra_[n] = skew_spectrum(s.data(), block_);
    turns_[n].emplace(spectra_[n].frequency, spectra_[n].vector, block_, block_);
  }
  /// f(first token, tokens, block of channels, their positions).
  template <class F>
  void for_each_piece(int b, F&& f) const {
    double position[token_block];
    for (int first = 0; first < in_.count; first += token_block) {
      int const rows = std::min(token_block, in_.count - first);
      for (int i = 0; i < rows; ++i) position[i] = *in_.at(b, first + i);
      for (int block = 0; block < blocks(); ++block) f(first, rows, block, position);
    }
  }

  int block_;
  bool per_head_;
  Inputs in_;
  std::vector<std::optional<Turn>> turns_;  // [rows, blocks]
  std::vector<SkewSpectrum> spectra_;
  PartialSums sums_;
};

}  // namespace sextant::plugins
