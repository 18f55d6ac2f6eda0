// Merging neighbours, the best pair first, until no pair is left: the core of BPE and of SentencePiece.
#pragma once
#include <cstddef>
#include <cstdint>
#include <queue>
#include <vector>

namespace sextant::tokens {

struct Symbol {
  std::int32_t id;          ///< -1: no token
  std::size_t begin, size;  ///< bytes of the text it stands for
};

/// A pair that may be merged: into which token, and how early (smaller is earlier).
struct Candidate {
  double order = 0;
  std::int32_t merged = -1;  ///< -1: may not be merged
};

/// Merges the pair of least order, the leftmost among equals, and again, until no pair may be merged.
/// `candidate(left, right)` says what a pair of neighbouring Symbols becomes. O(n log n) calls for n symbols.
template <class CandidateOf>
void merge(std::vector<Symbol>& symbols, CandidateOf const& candidate) {
  struct Waiting {
    double order;
    int left, right;
    std::size_t size;  // of both when they met: another size now means that one has grown since
    std::int32_t merged;
    bool operator<(Waiting const& other) const {  // a priority queue gives the greatest
      return order != other.order ? order > other.order : left > other.left;
    }
  };
  int const count = static_cast<int>(symbols.size());
  std::vector<int> before(count), after(count);
  std::priority_queue<Waiting> queue;
  auto const meet = [&](int left, int right) {
    if (left < 0 || right >= count) return;
    Candidate const c = candidate(symbols[left], symbols[right]);
    if (c.merged >= 0) queue.push({c.order, left, right, symbols[left].size + symbols[right].size, c.merged});
  };
  for (int i = 0; i < count; ++i) {
    before[i] = i - 1;
    after[i] = i + 1;
  }
  for (int i = 1; i < count; ++i) meet(i - 1, i);
  while (!queue.empty()) {
    Waiting const top = queue.top();
    queue.pop();
    Symbol& left = symbols[top.left];
    Symbol& right = symbols[top.right];
    if (left.size == 0 || right.size == 0 || left.size + right.size != top.size) continue;
    left.id = top.merged;
    left.size += right.size;
    right.size = 0;
    after[top.left] = after[top.right];
    if (after[top.left] < count) before[after[top.left]] = top.left;
    meet(before[top.left], top.left);
    meet(top.left, after[top.left]);
  }
  std::erase_if(symbols, [](Symbol const& s) { return s.size == 0; });
}

}  // namespace sextant::tokens
