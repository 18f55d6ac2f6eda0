// The plain loops' unit: one row of logits of one query head, which links see as a strip of one row.
#pragma once
#include <sextant/kernels/attention.hpp>

#include <cmath>
#include <limits>

namespace sextant::reference {

inline constexpr double none = -std::numeric_limits<double>::infinity();
inline constexpr double lowest = -1e8;  // a row whose logits are all far below this sees nothing

inline bool visible(kernels::Mask const& mask, int b, int i, int j, int query_len, int key_len) {
  long const own = static_cast<long>(i) + key_len - query_len;
  if (mask.causal && j > own) return false;
  if (mask.window > 0 && std::abs(own - j) >= mask.window) return false;
  if (mask.key_document.size() == 0) return true;
  int const document = mask.query_document(b, i);
  return document >= 0 && document == mask.key_document(b, j);
}

/// What one row of one query head is made of. Links see it as a strip of one row.
template <class T>
struct Row {
  kernels::AttentionInput<T> const& in;
  int b, h, i;
  int keys = in.key.extent_int(2), dim = in.query.extent_int(3);
  std::vector<T> logit = std::vector<T>(keys), query = {}, key = {}, notes = {};
  std::vector<signed char> branch = std::vector<signed char>(keys);  // or BranchRule::hidden

  int kv_head() const { return h / (in.query.extent_int(1) / in.key.extent_int(1)); }
  double scale() const { return in.scale != 0 ? in.scale : 1.0 / std::sqrt(static_cast<double>(dim)); }
  double const* position(View2<double> const& view, int at) const {
    return view.size() ? &view(view.extent(0) > 1 ? b : 0, at) : nullptr;
  }
  kernels::Tile<T> tile() {
    return {b, h, i, 0, 1, keys, logit.data(), keys, position(in.query_position, i), position(in.key_position, 0)};
  }
  kernels::Strip<T> strip(std::size_t n) {
    std::size_t at = 0, all = 0;
    for (std::size_t k = 0; k < in.rows.size(); ++k) (k < n ? at : all) += in.rows[k]->notes();
    notes.resize((at + all) * keys);
    return {b,
            h,
            i,
            1,
            keys,
            logit.data(),
            keys,
            position(in.query_position, i),
            position(in.key_position, 0),
            notes.data() + at * keys,
            keys};
  }
  Heads<T const> const& queries(int n) const { return n == 0 ? in.query : in.more_query[n - 1]; }
  Heads<T const> const& all_keys(int n) const { return n == 0 ? in.key : in.more_key[n - 1]; }
  bool padding(int j) const { return in.mask.key_document.size() > 0 && in.mask.key_document(b, j) < 0; }
  bool own_padding() const { return in.mask.query_document.size() > 0 && in.mask.query_document(b, i) < 0; }
  kernels::Operands<T> operands() {
    if (query.empty()) {
      query.resize(dim), key.resize(static_cast<std::size_t>(keys) * dim);
      for (int d = 0; d < dim && !own_padding(); ++d) query[d] = in.query(b, h, i, d);
      for (int j = 0; j < keys; ++j)
        for (int d = 0; d < dim && !padding(j); ++d)
          key[static_cast<std::size_t>(j) * dim + d] = in.key(b, kv_head(), j, d);
    }
    return {query.data(), key.data(), dim, dim, dim, static_cast<T>(scale())};
  }
  kernels::RowLink<T>* multiplier(std::size_t& n) const {
    for (n = 0; n < in.rows.size(); ++n)
      if (in.rows[n]->multiplies(h)) return in.rows[n];
    return nullptr;
  }

  void hide() {
    int const query_len = in.query.extent_int(2);
    for (int j = 0; j < keys; ++j)
      if (branch[j] == kernels::BranchRule::hidden || !visible(in.mask, b, i, j, query_len, keys))
        logit[j] = static_cast<T>(none);
  }
  /// Logits before the links; hidden pairs are -infinity.
  void form() {
    if (in.branch_rule && keys > 0)
      in.branch_rule->select(h, position(in.query_position, i), 1, position(in.key_position, 0), keys, branch.data());
    std::size_t n;
    if (auto const* link = multiplier(n); link && keys > 0)
      link->multiply(strip(n), operands());
    else
      for (int j = 0; j < keys; ++j) {
        if (branch[j] == kernels::BranchRule::hidden) continue;
        double sum = 0;
        for (int d = 0; d < dim; ++d)
          sum += static_cast<double>(queries(branch[j])(b, h, i, d)) *
                 static_cast<double>(all_keys(branch[j])(b, kv_head(), j, d));
        logit[j] = static_cast<T>(sum * scale());
      }
    if (!in.rows.empty()) hide();
  }
  /// The chain of tile modifiers, and what is hidden.
  void modify() {
    if (keys > 0)
      for (auto const* link : in.modifiers) link->forward(tile());
    hide();
  }
};

/// One row of the heads that are worked on at once: one, or all of a batch row when a link goes across them.
template <class T>
struct Rows {
  kernels::AttentionInput<T> const& in;
  std::vector<Row<T>> row;

  static int at_once(kernels::AttentionInput<T> const& in) {
    for (auto const* link : in.rows)
      if (link->across_heads()) return in.query.extent_int(1);
    return 1;
  }
  Rows(kernels::AttentionInput<T> const& input, int b, int h, int i) : in(input) {
    for (int k = 0; k < at_once(in); ++k) row.push_back(Row<T>{in, b, h + k, i});
    for (auto& each : row) each.form();
    for (std::size_t n = 0; n < in.rows.size() && row[0].keys > 0; ++n) {
      auto [strips, operands] = see(n);
      if (in.rows[n]->across_heads())
        in.rows[n]->forward_heads(strips, operands);
      else
        for (std::size_t k = 0; k < row.size(); ++k) in.rows[n]->forward(strips[k], operands[k]);
    }
    for (auto& each : row) each.modify();
  }
  std::pair<std::vector<kernels::Strip<T>>, std::vector<kernels::Operands<T>>> see(std::size_t n) {
    std::pair<std::vector<kernels::Strip<T>>, std::vector<kernels::Operands<T>>> all;
    for (auto& each : row) all.first.push_back(each.strip(n)), all.second.push_back(each.operands());
    return all;
  }
  /// grad: d loss / d final logit on entry, before the links on return.
  void backward(std::vector<std::vector<T>>& grad, std::vector<kernels::OperandGradients<T>> const& out) {
    std::vector<T*> slopes;
    for (auto& each : grad) slopes.push_back(each.data());
    for (std::size_t k = 0; k < row.size(); ++k)
      for (auto* link : in.modifiers) link->backward(row[k].tile(), slopes[k], row[k].keys);
    for (std::size_t n = in.rows.size(); n-- > 0;) {
      auto [strips, operands] = see(n);
      if (in.rows[n]->across_heads())
        in.rows[n]->backward_heads(strips, operands, slopes, out);
      else
        for (std::size_t k = 0; k < row.size(); ++k) in.rows[n]->backward(strips[k], operands[k], slopes[k], out[k]);
    }
    for (std::size_t k = 0; k < row.size(); ++k) {
      std::size_t n;
      if (auto* link = row[k].multiplier(n))
        link->multiply_backward(row[k].strip(n), row[k].operands(), slopes[k], out[k]);
    }
  }
};

}  // namespace sextant::reference
