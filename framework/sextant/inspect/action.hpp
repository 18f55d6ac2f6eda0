// What one head makes of a query at position i and a key at position j before the softmax: a matrix between their
// contents and a bias beside it,
//
//   logit(i, j) = scale q^T content k + bias.
//
// For a method with group structure content(i, j) is a representation of i - j, and the bias is the corner of a unipotent
// block [[1, 0], [bias, 1]] beside it.
#pragma once
#include <sextant/inspect/matrix.hpp>
#include <sextant/inspect/subject.hpp>

#include <memory>

namespace sextant::inspect {

struct Pair {
  Matrix content;   ///< [head_dim, head_dim]; temperature and attention factor included
  double bias = 0;  ///< logits; -infinity when the pair is hidden
};

/// One head's action at its starting weights. Gates read what a token with zero input gives them.
class Action {
 public:
  Action(Subject const& subject, int head);
  ~Action();
  Action(Action&&) noexcept;

  /// Why a pair's logit is no such form: what lies between query and key, or other logits of the row, decide as well.
  /// Empty when it is.
  std::string const& open() const { return open_; }
  bool turns() const { return turns_; }    ///< content is anything but the identity
  bool biases() const { return biases_; }  ///< some term adds a bias

  /// These throw Error when open().
  Pair at(double query_position, double key_position) const;
  double bias_at(double query_position, double key_position) const;
  /// trace(content); where nothing but turns of channel pairs acts, in O(head_dim) and without forming it.
  double trace_at(double query_position, double key_position) const;

 private:
  struct Turn;
  struct Map;
  Subject const* subject_;
  int head_;
  double scale_;
  std::string open_;
  bool turns_ = false, biases_ = false;
  std::vector<std::size_t> terms_;
  std::vector<Turn> turn_;
  std::vector<Map> map_;
};

}  // namespace sextant::inspect
