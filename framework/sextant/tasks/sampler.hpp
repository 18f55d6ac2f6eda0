// Rows of tokens cut from a text: training batches that depend on nothing but their number, and fixed evaluation windows.
#pragma once
#include <cstdint>
#include <sextant/base/kokkos.hpp>
#include <span>
#include <string>
#include <vector>

namespace sextant::tasks {

using Tokens = View2<std::int32_t>;  ///< [rows, length + 1]: inputs are columns 0..length-1, targets 1..length

/// Draws training rows. Row r of batch k is length + 1 neighbouring tokens from a start drawn uniformly over the text, a
/// function of (seed, k, r) alone: no state to save, and any batch can be had in any order.
class RowSampler {
 public:
  /// Throws Error when the text is shorter than length + 1 tokens; `what` names it in the message.
  RowSampler(std::span<std::int32_t const> text, int length, std::string const& what = "the training text");

  /// Fills tokens [rows, length + 1].
  void batch(Exec const& exec, std::uint64_t seed, std::int64_t k, Tokens const& tokens) const;

  int length() const { return length_; }

 private:
  View1<std::int32_t> text_;
  int length_;
};

/// Fixed ends, spread evenly over a text. The window of length L at end e is the L + 1 tokens before e, so that the short
/// window is the end of the long one and every length predicts the same last tokens.
class EvalWindows {
 public:
  /// Throws Error when the text has fewer than `count` places for max_length + 1 tokens.
  EvalWindows(std::span<std::int32_t const> text, int count, int max_length, std::string const& what = "the test text");

  int count() const { return static_cast<int>(ends_.size()); }
  int max_length() const { return max_length_; }
  std::vector<std::int64_t> const& ends() const { return ends_; }

  /// Windows first, first + 1, ... into tokens [rows, length + 1], for any length up to max_length.
  void rows(Exec const& exec, int first, Tokens const& tokens) const;

 private:
  View1<std::int32_t> text_;
  std::vector<std::int64_t> ends_;
  int max_length_;
};

}  // namespace sextant::tasks
