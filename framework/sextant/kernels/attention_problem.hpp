// Attention inside: what a call works on, as plain pointers, and the workers of the host kernel. attention.cpp checks the
// shapes, fills a Problem and launches. Nothing here knows Kokkos, so that files for the CPU's vectors compile without it.
#pragma once
#include <sextant/base/function.hpp>
#include <sextant/kernels/attention_mask.hpp>
#include <sextant/kernels/blocks_of.hpp>
#include <sextant/kernels/cursor.hpp>
#include <sextant/kernels/precision.hpp>
#include <sextant/kernels/rows.hpp>
#include <sextant/kernels/strip.hpp>
#include <sextant/kernels/tile.hpp>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

namespace sextant::kernels::host {

/// A logit this low hides its pair as -infinity does: a row of nothing else is a row that sees no key.
inline constexpr double hidden_below = -1e8;

using kernels::Rows;

/// [batch or 1, len]
struct Positions {
  double const* data = nullptr;
  std::ptrdiff_t batch = 0;
  SEXTANT_FUNCTION double const* at(int b, int i) const { return data ? data + b * batch + i : nullptr; }
};

/// One of the products that a pair's logit may come from.
template <class T>
struct Branch {
  Rows<T> query, key;
};

/// Sizes, operands and mask: numbers and pointers alone, which a device can be handed.
template <class T>
struct Arrays {
  int batch = 0, heads = 0, kv_heads = 0, query_len = 0, key_len = 0, head_dim = 0, value_dim = 0;
  Rows<T const> query, key, value;
  Positions query_position, key_position;
  T scale = 1;
  MaskRule mask;
  T* log_sum_exp = nullptr;  ///< [batch, heads, query_len]

  SEXTANT_FUNCTION int group() const { return heads / kv_heads; }
  SEXTANT_FUNCTION T* log_sum_exp_at(int b, int h) const {
    return log_sum_exp + (std::int64_t(b) * heads + h) * query_len;
  }
  SEXTANT_FUNCTION Tile<T> tile(int b, int h, int row, int rows, int col, int cols, T* logit, int stride) const {
    return {b, h, row, col, rows, cols, logit, stride, query_position.at(b, row), key_position.at(b, col)};
  }
};

template <class T>
struct Problem : Arrays<T> {
  std::vector<TileModifier<T>*> modifiers;
  std::vector<OffsetTable<T>> tables;  ///< of the modifiers, if each has one; else empty
  std::vector<RowLink<T>*> links;
  std::vector<Branch<T const>> branches;  ///< the first is {query, key}
  BranchRule const* rule = nullptr;
  Precision precision = Precision::fp32;

  /// True when the work goes by strips: a few query rows against all their keys.
  bool strips() const { return !links.empty() || rule; }
  /// False when some link hides the whole tile.
  bool visible(int b, int row, int rows, int col, int cols) const {
    for (auto const* link : modifiers)
      if (link->visible(b, row, rows, col, cols) == Visible::none) return false;
    return true;
  }
};

template <class T>
struct Gradients {
  Rows<T const> out, grad_out;
  Rows<T> query, key, value;
  std::vector<Branch<T>> branches;  ///< the first is {query, key}
};

/// Memory on 64-byte boundaries that only grows.
class Block {
 public:
  void reserve(std::size_t bytes);
  std::size_t bytes() const { return bytes_; }
  void* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(void* p) const;
  };
  std::unique_ptr<void, Free> data_;
  std::size_t bytes_ = 0;
};

/// Workers take the tasks [0, tasks) one by one, in order; body(worker, task). Rethrows what a body threw.
using Tasks = std::function<void(char const* label, std::int64_t tasks,
                                 std::function<void(int worker, std::int64_t task)> const& body)>;

/// Scratch of a call: one block for all and one for each worker.
struct Workshop {
  Tasks run;
  Block* shared;
  std::vector<Block>* own;  ///< one a worker

  void reserve_each(std::size_t bytes) const {
    for (Block& b : *own) b.reserve(bytes);
  }
};

template <class T>
void forward(Problem<T> const& p, Rows<T> const& out, Workshop const& shop);
/// The same for a few rows against many keys: reads keys and values once, where they lie, in fixed splits.
template <class T>
void decode(Problem<T> const& p, Rows<T> const& out, Workshop const& shop);
template <class T>
void backward(Problem<T> const& p, Gradients<T> const& g, Workshop const& shop);
/// The same for problems with strips().
template <class T>
void strip_forward(Problem<T> const& p, Rows<T> const& out, Workshop const& shop);
template <class T>
void strip_backward(Problem<T> const& p, Gradients<T> const& g, Workshop const& shop);

/// Rows up to which decode() is the faster one. A function of the lengths alone, so that a row's bits do not depend on
/// its batch.
inline constexpr int decode_rows = 8;

}  // namespace sextant::kernels::host
