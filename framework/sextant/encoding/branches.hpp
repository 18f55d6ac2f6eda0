// Which branch a pair takes, asked of the terms of a layer: heads of no branching term take the first.
#pragma once
#include <sextant/encoding/position.hpp>

#include <algorithm>

namespace sextant::encoding {

class BranchChoice final : public kernels::BranchRule {
 public:
  void clear() { terms_.clear(); }
  void add(Term const& term) { terms_.push_back(&term); }
  bool empty() const { return terms_.empty(); }

  int uniform(int head, double const* query, int rows, double const* key, int cols) const override {
    Term const* term = term_of(head);
    if (!term) return 0;
    auto const [query_least, query_most] = std::minmax_element(query, query + rows);
    auto const [key_least, key_most] = std::minmax_element(key, key + cols);
    return term->encoding->branch_of_block(*query_least, *query_most, *key_least, *key_most);
  }
  void select(int head, double const* query, int rows, double const* key, int cols, signed char* out) const override {
    Term const* term = term_of(head);
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        out[r * cols + c] = static_cast<signed char>(term ? term->encoding->branch(query[r], key[c]) : 0);
  }

 private:
  Term const* term_of(int head) const {
    for (auto const* term : terms_)
      if (head >= term->head_begin && head < term->head_begin + term->heads) return term;
    return nullptr;
  }
  std::vector<Term const*> terms_;
};

}  // namespace sextant::encoding
