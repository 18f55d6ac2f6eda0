#include <sextant/encoding/bias_adapter.hpp>
#include <sextant/kernels/blocks_of.hpp>

namespace sextant::encoding {

template <class T>
FormulaBias<T>::FormulaBias(BiasForm const& form, std::vector<GateSpec> specs)
    : count_(form.weight_count), trains_(form.trains), specs_(std::move(specs)), form_(form) {}
template <class T>
FormulaBias<T>::~FormulaBias() = default;

template <class T>
void FormulaBias<T>::prepare(Exec const& exec, Inputs const& in) {
  in_ = in;
  if (form_.shared_by_heads)
    count_ = static_cast<int>(in.weights.size());  // of all heads, of which a composite's part may be some
  else
    own_weights_ = count_ > 0;
  if (form_.of_offset) tabulate(exec);
  if (in.want_gradient) {
    std::size_t const rows = static_cast<std::size_t>(in.batch) * in.heads;
    table_gradient_.assign(tabulated_ && trains_ ? rows * table_width_ : 0, T(0));
    pair_gradient_.assign(tabulated_ || !trains_ ? 0 : rows * weights_read(), 0.0);
  }
}

template <class T>
void FormulaBias<T>::gradient_rows(std::vector<GateRows> query, std::vector<GateRows> key) {
  query_gradient_ = std::move(query);
  key_gradient_ = std::move(key);
}

template <class T>
void FormulaBias<T>::forward(kernels::Tile<T> const& tile) const {
  if (!covers(tile.head)) return;
  if (!tabulated_) return add_pairs(tile);
  T const* table = table_.data() + head_of(tile) * table_width_;
  over_offsets(tile, [&](int r, int c, std::ptrdiff_t at) { tile.logit[r * tile.stride + c] += table[at]; });
}

template <class T>
void FormulaBias<T>::backward(kernels::Tile<T> const& tile, T const* grad, int stride) {
  if (!covers(tile.head)) return;
  std::size_t const row = static_cast<std::size_t>(tile.batch) * in_.heads + head_of(tile);
  if (!tabulated_) return pairs_backward(tile, grad, stride, row);
  if (!trains_) return;
  T* table = table_gradient_.data() + row * table_width_;
  over_offsets(tile, [&](int r, int c, std::ptrdiff_t at) { table[at] += grad[r * stride + c]; });
}

template <class T>
kernels::OffsetTable<T> FormulaBias<T>::table() {
  if (!tabulated_) return {};
  bool const graded = in_.want_gradient && trains_;
  return {table_.data(), graded ? table_gradient_.data() : nullptr, in_.head_begin,
          in_.heads,     static_cast<std::int64_t>(table_width_),   -table_most_};
}

template <class T>
void FormulaBias<T>::finish(double* weight_gradient) {
  if (!trains_ || count_ == 0) return;
  for (int h = 0; h < in_.heads; ++h) {
    double* out = weight_gradient + (own_weights_ ? static_cast<std::size_t>(h) * count_ : 0);
    if (tabulated_) {
      table_backward(h, out);
    } else {
      int const read = weights_read();
      for (int b = 0; b < in_.batch; ++b)
        for (int n = 0; n < read; ++n)
          out[n] += pair_gradient_[(static_cast<std::size_t>(b) * in_.heads + h) * read + n];
    }
  }
}

template <class T>
std::size_t FormulaBias<T>::bytes() const {
  return shown_.size() * sizeof(std::int64_t) + (table_.size() + table_gradient_.size()) * sizeof(T) +
         pair_gradient_.size() * sizeof(double);
}

// ---- a bias of the offset alone: table[key - query + most_offset] ----

template <class T>
void FormulaBias<T>::tabulate(Exec const& exec) {
  constexpr std::int64_t chunk = 128;
  double const span = in_.most_offset - in_.least_offset;
  tabulated_ = in_.whole_positions && span <= 4.0 * (static_cast<double>(in_.query_len) + in_.key_len) + 1024;
  if (!tabulated_) return;
  std::size_t const width = static_cast<std::size_t>(span) + 1;
  bool const same = width == table_width_ && table_most_ == in_.most_offset && table_weights_ == in_.weights &&
                    table_stretch_ == in_.stretch && table_.size() == width * in_.heads;
  if (same) return;
  table_stretch_ = in_.stretch;
  table_width_ = width;
  table_most_ = in_.most_offset;
  table_weights_ = in_.weights;
  table_.resize(width * in_.heads);
  TableOffsets const offsets{in_.most_offset, in_.stretch};
  for (int h = 0; h < in_.heads; ++h) {
    T* row = table_.data() + h * width;
    std::int64_t const entries = static_cast<std::int64_t>(width);
    Kokkos::parallel_for(
        "sextant::bias_table", Kokkos::RangePolicy<HostExec>(host_side(exec), 0, kernels::blocks_of(entries, chunk)),
        [=, this](std::int64_t c) {
          std::int64_t const begin = c * chunk, end = std::min(begin + chunk, entries);
          double value[chunk];
          values(offsets, weights_of(h), formula_head(h), begin, end, value);
          std::transform(value, value + (end - begin), row + begin, [](double x) { return static_cast<T>(x); });
        });
    exec.fence();
  }
  count_finite();
}

/// shown_[n] of the first n offsets of the table, in its order, are seen by some head. Empty: no entry hides anything.
template <class T>
void FormulaBias<T>::count_finite() {
  shown_.clear();
  if (std::none_of(table_.begin(), table_.end(), [](T x) { return x == -std::numeric_limits<T>::infinity(); })) return;
  shown_.assign(table_width_ + 1, 0);
  for (std::size_t at = 0; at < table_width_; ++at) {
    bool seen = false;
    for (int h = 0; h < in_.heads; ++h) seen |= table_[h * table_width_ + at] != -std::numeric_limits<T>::infinity();
    shown_[at + 1] = shown_[at] + seen;
  }
}
/// A tile is hidden if the table is -infinity at every offset between the least and the most of its pairs.
template <class T>
kernels::Visible FormulaBias<T>::visible(int batch, int row, int rows, int col, int cols) const {
  using kernels::Visible;
  if (!tabulated_ || shown_.empty() || !in_.all_heads || in_.query_position.size() == 0) return Visible::all;
  int const line = in_.key_position.extent_int(0) > 1 ? batch : 0;
  auto const [query_least, query_most] =
      std::minmax_element(&in_.query_position(line, row), &in_.query_position(line, row) + rows);
  auto const [key_least, key_most] =
      std::minmax_element(&in_.key_position(line, col), &in_.key_position(line, col) + cols);
  auto const first = static_cast<std::ptrdiff_t>(*key_least - *query_most + table_most_);
  auto const last = static_cast<std::ptrdiff_t>(*key_most - *query_least + table_most_) + 1;
  std::int64_t const seen = shown_[last] - shown_[first];
  return seen == 0 ? Visible::none : seen == last - first ? Visible::all : Visible::some;
}

template <class T>
template <class F>
void FormulaBias<T>::over_offsets(kernels::Tile<T> const& tile, F&& f) const {
  double const* const key = tile.key_position;
  bool const run = kernels::is_run(key, tile.cols);
  for (int r = 0; r < tile.rows; ++r) {
    double const to_index = table_most_ - tile.query_position[r];
    if (run) {
      auto const first = static_cast<std::ptrdiff_t>(key[0] + to_index);
      for (int c = 0; c < tile.cols; ++c) f(r, c, first + c);
    } else {
      for (int c = 0; c < tile.cols; ++c) f(r, c, static_cast<std::ptrdiff_t>(key[c] + to_index));
    }
  }
}

template <class T>
void FormulaBias<T>::table_backward(int h, double* out) const {
  std::vector<double> sum(table_width_, 0.0);
  for (int b = 0; b < in_.batch; ++b) {
    T const* row = table_gradient_.data() + (static_cast<std::size_t>(b) * in_.heads + h) * table_width_;
    for (std::size_t at = 0; at < table_width_; ++at) sum[at] += row[at];
  }
  values_backward({table_most_, in_.stretch}, weights_of(h), formula_head(h), sum, out);
}

template class FormulaBias<float>;
template class FormulaBias<double>;

}  // namespace sextant::encoding
