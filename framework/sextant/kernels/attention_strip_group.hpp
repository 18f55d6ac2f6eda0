// The strips of the query heads that are worked on at once: one, or all heads of a batch row when a link goes across them.
#pragma once
#include <sextant/kernels/attention_strip.hpp>
#include <sextant/kernels/attention_strip_plan.hpp>

namespace sextant::kernels::host {

template <class T>
class StripGroup {
 public:
  StripGroup(Problem<T> const& p, Cursor& memory) : p_(p), most_rows_(strip_rows(p)) {
    int const heads = heads_at_once(p);
    for (int h = 0; h < heads; ++h) heads_.emplace_back(p, most_rows_, memory);
    strips_.resize(heads_.size()), operands_.resize(heads_.size()), gradients_.resize(heads_.size());
  }

  int most_rows() const { return most_rows_; }
  std::vector<HeadStrip<T>>& heads() { return heads_; }

  /// The final logits of rows [row, row + most_rows) of heads [h, h + heads) of batch row b; false without any key.
  /// `keys` begins with those of head h.
  bool form(MaskRow const& mask, int b, int h, int row, StripKeys<T> const* keys) {
    int const rows = std::min(most_rows_, p_.query_len - row), cols = mask.keys(row, rows).end;
    for (int k = 0; auto& head : heads_) {
      head.open(b, h + k, row, rows, cols, keys + k / p_.group());
      ++k;
    }
    if (cols <= 0) return false;
    for (auto& head : heads_) head.form(mask);
    for (int n = 0; n < static_cast<int>(p_.links.size()); ++n) {
      auto const* link = p_.links[static_cast<std::size_t>(n)];
      see(n);
      if (link->across_heads())
        link->forward_heads(strips_, operands_);
      else
        for (std::size_t k = 0; k < heads_.size(); ++k) link->forward(strips_[k], operands_[k]);
    }
    for (auto& head : heads_) head.modify(mask);
    return true;
  }

  /// From d loss / d final logit of each head to what the operands receive.
  void backward(std::vector<T*> const& grad, std::vector<Branch<T>> const& out, std::vector<Rows<T>> const& sums) {
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      heads_[k].modify_backward(grad[k]);
      gradients_[k] = heads_[k].gradients(out[0]);
    }
    for (int n = static_cast<int>(p_.links.size()); n-- > 0;) {
      auto* link = p_.links[static_cast<std::size_t>(n)];
      see(n);
      if (link->across_heads())
        link->backward_heads(strips_, operands_, grad, gradients_);
      else
        for (std::size_t k = 0; k < heads_.size(); ++k)
          link->backward(strips_[k], operands_[k], grad[k], gradients_[k]);
    }
    for (std::size_t k = 0; k < heads_.size(); ++k) heads_[k].multiply_backward(grad[k], out, sums);
  }

 private:
  void see(int n) {
    for (std::size_t k = 0; k < heads_.size(); ++k) {
      strips_[k] = heads_[k].strip(n);
      operands_[k] = heads_[k].operands();
    }
  }

  Problem<T> const& p_;
  int most_rows_;
  std::vector<HeadStrip<T>> heads_;
  std::vector<Strip<T>> strips_;
  std::vector<Operands<T>> operands_;
  std::vector<OperandGradients<T>> gradients_;
};

/// Scratch that a worker of type Worker needs: Worker(arguments..., Cursor&) takes it.
template <class Worker, class... Arguments>
std::size_t strip_scratch(Arguments const&... arguments) {
  Cursor counter;
  Worker(arguments..., counter);
  return counter.used();
}

/// One Worker for each thread of the shop, in its own memory.
template <class Worker, class... Arguments>
std::vector<Worker> crew(Workshop const& shop, Arguments const&... arguments) {
  shop.reserve_each(strip_scratch<Worker>(arguments...));
  std::vector<Worker> workers;
  for (Block const& own : *shop.own) {
    Cursor memory(own.data());
    workers.emplace_back(arguments..., memory);
  }
  return workers;
}

}  // namespace sextant::kernels::host
