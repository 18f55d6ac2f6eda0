// y = exp(p L) x for a skew L of low rank, for many tokens, through the eigenvectors of L.
//
//   y = x + Re(W (e^{i f p} - 1) W^H x),  the columns of W [D, acting] are the eigenvectors with f != 0
//
// O(rD) per token forward. Backward, the sum over tokens of what they say of L is collected in the eigenvectors' frame
// (K in common/skew.hpp): O(r cols) per token, and cols is r when the frame is trained, D when it follows from L.
#pragma once
#include <common/partial_sums.hpp>
#include <common/skew.hpp>
#include <sextant/kernels/small_matmul.hpp>

namespace sextant::plugins {

template <class T>
class SpectralTurn {
 public:
  /// Columns of `vector` [dim, cols] row-major; only the first `acting` of them have a frequency that is not 0.
  SpectralTurn(std::vector<double> frequency, std::vector<std::complex<double>> const& vector, int dim, int acting)
      : dim_(dim), cols_(static_cast<int>(frequency.size())), acting_(acting), frequency_(std::move(frequency)) {
    for (auto const& w : vector) {
      re_.push_back(static_cast<T>(w.real()));
      im_.push_back(static_cast<T>(w.imag()));
    }
  }
  int cols() const { return cols_; }

  /// Rows of a block of tokens in the eigenvectors' frame.
  struct Frame {
    std::vector<T> re, im;
    explicit Frame(int cols) : re(static_cast<std::size_t>(token_block) * cols), im(re.size()) {}
  };
  /// frame[rows, cols] = W^H x, of the first `cols` columns.
  void enter(T const* x, std::ptrdiff_t stride, int rows, int cols, Frame& frame) const {
    kernels::small_nn<T>(x, stride, rows, re_.data(), cols_, cols, dim_, T(1), frame.re.data(), cols);
    kernels::small_nn<T>(x, stride, rows, im_.data(), cols_, cols, dim_, T(-1), frame.im.data(), cols);
  }
  /// Multiplies column a of row i by e^{i sense f_a p_i} - 1, for the acting columns; `cols` as in enter().
  void turn(double const* position, int sense, int rows, int cols, Frame& frame) const {
    for (int i = 0; i < rows; ++i)
      for (int a = 0; a < acting_; ++a) {
        double const half = 0.5 * sense * frequency_[a] * position[i], sine = std::sin(half);
        T const re = static_cast<T>(-2 * sine * sine), im = static_cast<T>(2 * sine * std::cos(half));
        T &x = frame.re[i * cols + a], &y = frame.im[i * cols + a];
        T const before = x;
        x = before * re - y * im;
        y = y * re + before * im;
      }
  }
  /// y[rows, dim] += Re(W frame), over the acting columns.
  void leave(Frame const& frame, int rows, int cols, T* y, std::ptrdiff_t stride) const {
    kernels::small_nt<T>(frame.re.data(), cols, rows, re_.data(), cols_, dim_, acting_, T(1), y, stride, true);
    kernels::small_nt<T>(frame.im.data(), cols, rows, im_.data(), cols_, dim_, acting_, T(-1), y, stride, true);
  }

  /// y[rows, dim] = exp(sense p L) x.
  void apply(T const* x, std::ptrdiff_t x_stride, double const* position, int sense, int rows, T* y,
             std::ptrdiff_t y_stride, Frame& scratch) const {
    enter(x, x_stride, rows, acting_, scratch);
    turn(position, sense, rows, acting_, scratch);
    for (int i = 0; i < rows; ++i) std::copy_n(x + i * x_stride, dim_, y + i * y_stride);
    leave(scratch, rows, acting_, y, y_stride);
  }

  /// k[cols, cols] += conj(g_a) Phi_ab(p) x_b for every row, given both in the frame of all columns. Entries between
  /// columns that do not act are left out: they say nothing of an L that keeps its rank.
  void collect(Frame const& g, Frame const& x, double const* position, int rows, std::complex<double>* k) const {
    std::vector<std::complex<double>> half(cols_);
    for (int i = 0; i < rows; ++i) {
      for (int a = 0; a < cols_; ++a) half[a] = std::polar(1.0, 0.5 * frequency_[a] * position[i]);
      std::size_t const row = static_cast<std::size_t>(i) * cols_;
      for (int a = 0; a < cols_; ++a) {
        double const gr = g.re[row + a], gi = -g.im[row + a];
        for (int b = 0; b < (a < acting_ ? cols_ : acting_); ++b) {
          auto const phi = divided_difference(frequency_[a], frequency_[b], position[i], half[a], half[b]);
          double const xr = x.re[row + b], xi = x.im[row + b];
          double const re = gr * xr - gi * xi, im = gr * xi + gi * xr;
          k[a * cols_ + b] +=
              std::complex<double>(re * phi.real() - im * phi.imag(), re * phi.imag() + im * phi.real());
        }
      }
    }
  }

 private:
  int dim_, cols_, acting_;
  std::vector<double> frequency_;
  std::vector<T> re_, im_;  // [dim, cols]
};

}  // namespace sextant::plugins
