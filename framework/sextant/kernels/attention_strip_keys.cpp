#include <sextant/kernels/attention_strip_keys.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/kernels/small_panel.hpp>

namespace sextant::kernels::host {
namespace {
/// Rows [first, first + count) of the lane into packed panels of `length` rows.
template <class T>
void pack_lane(T const* from, std::ptrdiff_t stride, int first, int count, int dim, int length, T* to) {
  for (int d = 0; d < dim; d += panel_width<T>) {
    int const columns = std::min(panel_width<T>, dim - d);
    pack_rows<T>(from + first * stride + d, stride, count, count, columns, nullptr,
                 to + std::int64_t(d) * length + std::int64_t(first) * round_up(columns, width<T>));
  }
}
template <class T>
void pack_columns(T const* from, std::ptrdiff_t stride, int first, int count, int dim, T* to) {
  pack_transposed<T>(from + first * stride, stride, count, round_up(count, width<T>), dim, nullptr,
                     to + std::int64_t(first) * dim);
}
}  // namespace

template <class T>
StripKeys<T>::StripKeys(Problem<T> const& p, Pass pass, bool packed, Cursor& memory)
    : p_(p), pass_(pass), packed_(packed), length_(round_up(p.key_len, chunk)) {
  if (!packed) return;
  std::int64_t const length = length_, branches = static_cast<std::int64_t>(p.branches.size());
  key_columns_ = memory.take<T>(branches * length * p.head_dim);
  if (pass == Pass::forward) {
    value_rows_ = memory.take<T>(length * round_up(p.value_dim, width<T>));
  } else {
    key_rows_ = memory.take<T>(branches * length * round_up(p.head_dim, width<T>));
    value_columns_ = memory.take<T>(length * p.value_dim);
  }
}

template <class T>
std::size_t StripKeys<T>::bytes(Problem<T> const& p, Pass pass) {
  Cursor counter;
  StripKeys(p, pass, true, counter);
  return counter.used();
}

template <class T>
void StripKeys<T>::pack(int first) {
  int const count = std::min(piece, p_.key_len - first);
  T const* const value = p_.value.at(b_, kv_head_, 0);
  for (int n = 0; n < static_cast<int>(p_.branches.size()); ++n) {
    T const* const from = key(n).at(b_, kv_head_, 0);
    pack_columns(from, key(n).row, first, count, p_.head_dim, key_columns(n));
    if (pass_ == Pass::backward) pack_lane(from, key(n).row, first, count, p_.head_dim, length_, key_rows(n));
  }
  if (pass_ == Pass::forward)
    pack_lane(value, p_.value.row, first, count, p_.value_dim, length_, value_rows_);
  else
    pack_columns(value, p_.value.row, first, count, p_.value_dim, value_columns_);
}

template <class T>
void StripKeys<T>::logits(int branch, T const* query, int rows, int begin, int end, T* to, std::ptrdiff_t stride,
                          int origin) const {
  if (packed_)
    return panel_nt(query, p_.head_dim, rows, key_columns(branch), begin, end, p_.head_dim, to, stride, origin);
  auto const& from = key(branch);
  small_nt(query, p_.head_dim, rows, from.at(b_, kv_head_, begin), from.row, end - begin, p_.head_dim, T(1),
           to + (begin - origin), stride);
}

template <class T>
void StripKeys<T>::weights(T const* grad_out, int rows, int begin, int end, T* to, std::ptrdiff_t stride) const {
  if (packed_) return panel_nt(grad_out, p_.value_dim, rows, value_columns_, begin, end, p_.value_dim, to, stride, 0);
  small_nt(grad_out, p_.value_dim, rows, p_.value.at(b_, kv_head_, begin), p_.value.row, end - begin, p_.value_dim,
           T(1), to + begin, stride);
}

template <class T>
void StripKeys<T>::add_values(T const* weight, std::ptrdiff_t stride, int rows, int begin, int end, T* to) const {
  if (packed_)
    return panel_nn(weight + begin, stride, rows, value_rows_, length_, begin, end, p_.value_dim, T(1), to,
                    p_.value_dim);
  small_nn(weight + begin, stride, rows, p_.value.at(b_, kv_head_, begin), p_.value.row, p_.value_dim, end - begin,
           T(1), to, p_.value_dim, true);
}

template <class T>
void StripKeys<T>::add_keys(int branch, T const* slope, std::ptrdiff_t stride, int rows, int begin, int end, int origin,
                            T* to, std::ptrdiff_t to_stride) const {
  slope += begin - origin;
  if (packed_)
    return panel_nn(slope, stride, rows, key_rows(branch), length_, begin, end, p_.head_dim, p_.scale, to, to_stride);
  auto const& from = key(branch);
  small_nn(slope, stride, rows, from.at(b_, kv_head_, begin), from.row, p_.head_dim, end - begin, p_.scale, to,
           to_stride, true);
}

template class StripKeys<float>;
template class StripKeys<double>;

}  // namespace sextant::kernels::host
