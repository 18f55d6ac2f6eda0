#include <sextant/base/error.hpp>
#include <sextant/kernels/attention_strip.hpp>
#include <sextant/kernels/small_matmul.hpp>

namespace sextant::kernels::host {

template <class T>
HeadStrip<T>::HeadStrip(Problem<T> const& p, int rows, Cursor& memory)
    : p_(p), stride_(round_up(p.key_len, chunk) + 64 / static_cast<int>(sizeof(T))), notes_size_(rows * stride_) {
  int const chunks = blocks_of(p.key_len, chunk);
  std::int64_t notes = 0;
  for (auto const* link : p.links) notes += link->notes();
  logit_ = memory.take<T>(notes_size_);
  notes_ = memory.take<T>(notes * notes_size_);
  query_ = memory.take<T>(static_cast<std::int64_t>(p.branches.size()) * rows * p.head_dim);
  spare_ = memory.take<T>(std::int64_t(rows) * chunk);
  choice_ = memory.take<signed char>(p.rule ? std::int64_t(chunks) * rows * chunk : 0);
  chunk_ = memory.take<Chunk>(chunks);
}

template <class T>
void HeadStrip<T>::open(int b, int h, int row, int rows, int cols, StripKeys<T> const* keys) {
  b_ = b, h_ = h, row_ = row, rows_ = rows, cols_ = cols, keys_ = keys;
}

template <class T>
Strip<T> HeadStrip<T>::strip(int n) const {
  T* notes = notes_;
  for (int i = 0; i < n; ++i) notes += p_.links[static_cast<std::size_t>(i)]->notes() * notes_size_;
  return {
      b_,    h_,         row_, rows_, cols_, logit_, stride_, p_.query_position.at(b_, row_), p_.key_position.at(b_, 0),
      notes, notes_size_};
}

template <class T>
Operands<T> HeadStrip<T>::operands(int branch) const {
  auto const& from = p_.branches[static_cast<std::size_t>(branch)];
  return {
      from.query.at(b_, h_, row_), from.key.at(b_, kv_head(), 0), from.query.row, from.key.row, p_.head_dim, p_.scale};
}

template <class T>
OperandGradients<T> HeadStrip<T>::gradients(Branch<T> const& out) const {
  return {out.query.at(b_, h_, row_), out.key.at(b_, kv_head(), 0), out.query.row, out.key.row};
}

template <class T>
RowLink<T>* HeadStrip<T>::multiplier(int& n) const {
  for (n = 0; n < static_cast<int>(p_.links.size()); ++n)
    if (auto* link = p_.links[static_cast<std::size_t>(n)]; link->multiplies(h_)) return link;
  return nullptr;
}

template <class T>
bool HeadStrip<T>::visible(int c) const {
  return p_.visible(b_, row_, rows_, c * chunk, std::min(chunk, cols_ - c * chunk));
}

/// What each chunk needs. Links work on pairs that a modifier will hide as on any other, so with links a chunk is left
/// out for a modifier only after them: what they see does not depend on how the keys fall into chunks.
template <class T>
void HeadStrip<T>::plan(MaskRow const& mask) {
  Span const ids = mask.query_range(row_, rows_);
  for (int c = 0, col = 0; col < cols_; ++c, col += chunk) {
    int const cols = std::min(chunk, cols_ - col), branches = static_cast<int>(p_.branches.size());
    auto const part = mask.part(row_, rows_, ids, col, cols, mask.key_range(col, cols));
    Chunk& to = chunk_[c] = {part.begin, part.end, part.masked, part.begin < part.end, 0};
    if (to.seen && p_.links.empty()) to.seen = visible(c);
    if (to.seen && p_.rule) {
      to.branch = p_.rule->uniform(h_, p_.query_position.at(b_, row_), rows_, p_.key_position.at(b_, col + to.begin),
                                   to.end - to.begin);
      expect(to.branch >= BranchRule::mixed && to.branch < branches, "attention: the branch rule names branch ",
             to.branch, ", expected one of ", branches);
      to.seen = to.branch != BranchRule::hidden;
    }
    if (!to.seen) to.begin = to.end = 0;
  }
}

template <class T>
template <class F>
void HeadStrip<T>::for_runs(F&& f) const {
  int const chunks = blocks_of(cols_, chunk);
  for (int c = 0, n; c < chunks; c += n) {
    n = 1;
    Chunk const& first = chunk_[c];
    if (first.begin == first.end) continue;
    Run run{c * chunk + first.begin, c * chunk + first.end, first.branch};
    for (; first.branch >= 0 && c + n < chunks; ++n) {
      Chunk const& next = chunk_[c + n];
      if (next.begin == next.end || next.branch != first.branch || (c + n) * chunk + next.begin != run.end) break;
      run.end = (c + n) * chunk + next.end;
    }
    f(run);
  }
}

template <class T>
void HeadStrip<T>::form(MaskRow const& mask) {
  plan(mask);
  int n;
  if (auto const* link = multiplier(n)) {
    link->multiply(strip(n), operands());
    for_runs([&](Run const& run) {
      if (run.branch == BranchRule::mixed) select(run);
    });
  } else {
    load_queries();
    for_runs([&](Run const& run) {
      if (run.branch == BranchRule::mixed)
        mixed_product(run);
      else
        keys_->logits(run.branch, query(run.branch), rows_, run.begin, run.end, logit_, stride_, 0);
    });
  }
  hide(mask);
}

template <class T>
void HeadStrip<T>::load_queries() {
  for (int branch = 0; branch < static_cast<int>(p_.branches.size()); ++branch) {
    auto const from = operands(branch);
    T* to = query(branch);
    for (int r = 0; r < rows_; ++r, to += from.dim)
      for (int d = 0; d < from.dim; ++d) to[d] = from.query[r * from.query_stride + d] * from.scale;
  }
}

template <class T>
void HeadStrip<T>::select(Run const& run) {
  signed char* const choice = choice_ + std::int64_t(run.begin / chunk) * rows_ * chunk;
  int const cols = run.end - run.begin, branches = static_cast<int>(p_.branches.size());
  p_.rule->select(h_, p_.query_position.at(b_, row_), rows_, p_.key_position.at(b_, run.begin), cols, choice);
  for (int i = 0; i < rows_ * cols; ++i)
    expect(choice[i] >= BranchRule::hidden && choice[i] < branches, "attention: the branch rule selects branch ",
           int{choice[i]}, ", expected one of ", branches);
}

/// Pairs of the run that come from `branch`.
template <class T>
int HeadStrip<T>::present(Run const& run, int branch) const {
  signed char const* const choice = choice_ + std::int64_t(run.begin / chunk) * rows_ * chunk;
  return static_cast<int>(std::count(choice, choice + rows_ * (run.end - run.begin), branch));
}

template <class T>
void HeadStrip<T>::mixed_product(Run const& run) {
  select(run);
  int const cols = run.end - run.begin, origin = run.begin / chunk * chunk;
  signed char const* const choice = choice_ + std::int64_t(origin) * rows_;
  for (int branch = 0; branch < static_cast<int>(p_.branches.size()); ++branch) {
    if (!present(run, branch)) continue;
    keys_->logits(branch, query(branch), rows_, run.begin, run.end, spare_, chunk, origin);
    for (int r = 0; r < rows_; ++r) {
      T* const to = logit_ + r * stride_ + run.begin;
      T const* const from = spare_ + r * chunk + run.begin - origin;
      for (int j = 0; j < cols; ++j) to[j] = choice[r * cols + j] == branch ? from[j] : to[j];
    }
  }
}

template <class T>
void HeadStrip<T>::hide(MaskRow const& mask) {
  constexpr T hidden = -std::numeric_limits<T>::infinity();
  for (int c = 0, col = 0; col < cols_; ++c, col += chunk) {
    Chunk const& part = chunk_[c];
    T* const x = logit_ + col;
    int const begin = part.seen ? part.begin : 0, end = part.seen ? part.end : 0;
    for (int r = 0; r < rows_; ++r) {
      std::fill(x + r * stride_, x + r * stride_ + begin, hidden);
      std::fill(x + r * stride_ + end, x + r * stride_ + chunk, hidden);
    }
    if (!part.seen) continue;
    if (part.masked) mask.hide(x, stride_, row_, rows_, col, begin, end);
    if (part.branch != BranchRule::mixed) continue;
    signed char const* choice = choice_ + std::int64_t(c) * rows_ * chunk;
    for (int r = 0; r < rows_; ++r, choice += end - begin)
      for (int j = begin; j < end; ++j) x[r * stride_ + j] = choice[j - begin] < 0 ? hidden : x[r * stride_ + j];
  }
}

template <class T>
void HeadStrip<T>::fill_unseen(T* x) const {
  for (int c = 0; c * chunk < cols_; ++c)
    for (int r = 0; r < rows_ && !chunk_[c].seen; ++r) std::fill_n(x + r * stride_ + c * chunk, chunk, T(0));
}

template <class T>
Tile<T> HeadStrip<T>::tile(int begin, int end) const {
  return p_.tile(b_, h_, row_, rows_, begin, end - begin, logit_ + begin, static_cast<int>(stride_));
}

inline constexpr int tile_cols = 4 * chunk;

template <class T>
void HeadStrip<T>::modify(MaskRow const& mask) {
  if (p_.modifiers.empty()) return;
  if (!p_.links.empty())
    for (int c = 0; c * chunk < cols_; ++c) chunk_[c].seen = chunk_[c].seen && visible(c);
  for_stretches(tile_cols, [&](int begin, int end) {
    for (auto const* link : p_.modifiers) link->forward(tile(begin, end));
  });
  hide(mask);
}

template <class T>
void HeadStrip<T>::modify_backward(T const* grad) const {
  if (p_.modifiers.empty()) return;
  for_stretches(tile_cols, [&](int begin, int end) {
    for (auto* link : p_.modifiers) link->backward(tile(begin, end), grad + begin, static_cast<int>(stride_));
  });
}

template <class T>
void HeadStrip<T>::spread(Run const& run, int branch, T const* slope, std::ptrdiff_t stride, int origin,
                          std::vector<Branch<T>> const& out, std::vector<Rows<T>> const& sums) const {
  auto const& to = out[static_cast<std::size_t>(branch)].query;
  auto const& sum = sums[static_cast<std::size_t>(branch)];
  keys_->add_keys(branch, slope, stride, rows_, run.begin, run.end, origin, to.at(b_, h_, row_), to.row);
  small_tn(slope + (run.begin - origin), stride, run.end - run.begin, query(branch), p_.head_dim, p_.head_dim, rows_,
           T(1), sum.at(b_, kv_head(), run.begin), sum.row, true);
}

template <class T>
void HeadStrip<T>::multiply_backward(T const* grad, std::vector<Branch<T>> const& out,
                                     std::vector<Rows<T>> const& sums) const {
  int n;
  if (auto* link = multiplier(n)) return link->multiply_backward(strip(n), operands(), grad, gradients(out[0]));
  for_runs([&](Run const& run) {
    if (run.branch != BranchRule::mixed) return spread(run, run.branch, grad, stride_, 0, out, sums);
    int const cols = run.end - run.begin, origin = run.begin / chunk * chunk;
    signed char const* const choice = choice_ + std::int64_t(origin) * rows_;
    for (int branch = 0; branch < static_cast<int>(p_.branches.size()); ++branch) {
      if (!present(run, branch)) continue;
      for (int r = 0; r < rows_; ++r) {
        T const* const from = grad + r * stride_ + run.begin;
        T* const to = spare_ + r * chunk + run.begin - origin;
        for (int j = 0; j < cols; ++j) to[j] = choice[r * cols + j] == branch ? from[j] : T(0);
      }
      spread(run, branch, spare_, chunk, origin, out, sums);
    }
  });
}

template <class T>
void HeadStrip<T>::multiply_finish(int b, int h, Branch<T> const& out) {
  open(b, h, 0, 0, p_.key_len, nullptr);
  int n;
  if (auto* link = multiplier(n)) link->multiply_finish(b, h, operands(), gradients(out));
}

template class HeadStrip<float>;
template class HeadStrip<double>;

}  // namespace sextant::kernels::host
