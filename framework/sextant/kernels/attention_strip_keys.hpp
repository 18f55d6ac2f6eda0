// Keys and values of one (batch, kv head) as the products of strips want them: packed once for all strips, or, for few
// queries and where that would take much memory, read where they lie.
#pragma once
#include <sextant/kernels/attention_host.hpp>

namespace sextant::kernels::host {

enum class Pass { forward, backward };

template <class T>
class StripKeys {
 public:
  /// Keys packed by one call of pack(): a multiple of `chunk`.
  static constexpr int piece = 16 * chunk;

  StripKeys(Problem<T> const& p, Pass pass, bool packed, Cursor& memory);
  static std::size_t bytes(Problem<T> const& p, Pass pass);

  void open(int b, int kv_head) { b_ = b, kv_head_ = kv_head; }
  /// Keys [first, first + piece); a piece is one thread's.
  void pack(int first);
  void pack_all() {
    for (int first = 0; first < p_.key_len; first += piece) pack(first);
  }

  // Matrices of a strip are [rows, stride] and begin at key `origin`, a multiple of `chunk`; keys [begin, end) lie in
  // the chunks behind it. What is formed may reach over to the ends of the outer chunks.

  /// to = query . key
  void logits(int branch, T const* query, int rows, int begin, int end, T* to, std::ptrdiff_t stride, int origin) const;
  /// to = grad_out . value
  void weights(T const* grad_out, int rows, int begin, int end, T* to, std::ptrdiff_t stride) const;
  /// to[rows, value_dim] += weight * value
  void add_values(T const* weight, std::ptrdiff_t stride, int rows, int begin, int end, T* to) const;
  /// to += scale * slope * key
  void add_keys(int branch, T const* slope, std::ptrdiff_t stride, int rows, int begin, int end, int origin, T* to,
                std::ptrdiff_t to_stride) const;

 private:
  Rows<T const> const& key(int branch) const { return p_.branches[static_cast<std::size_t>(branch)].key; }
  T* key_columns(int branch) const { return key_columns_ + branch * std::int64_t(length_) * p_.head_dim; }
  T* key_rows(int branch) const { return key_rows_ + branch * std::int64_t(length_) * round_up(p_.head_dim, width<T>); }

  Problem<T> const& p_;
  Pass pass_;
  bool packed_;
  int length_, b_ = 0, kv_head_ = 0;
  T *key_columns_ = nullptr, *key_rows_ = nullptr;  // a branch each; columns [key panel][dim][panel], rows [panel][key]
  T *value_columns_ = nullptr, *value_rows_ = nullptr;
};

}  // namespace sextant::kernels::host
