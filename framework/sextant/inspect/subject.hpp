// What is inspected: a position block in a model's shape, at a length, with the weights a fresh model would start from.
#pragma once
#include <sextant/encoding/position.hpp>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::inspect {

using encoding::Head;
using encoding::Position;
using encoding::Tensors;
using encoding::Term;

/// An analysis that applies has a value; one that does not says why in a sentence.
template <class T>
struct Finding {
  std::optional<T> value;
  std::string why_not;
  Finding(T found) : value(std::move(found)) {}
  static Finding none(std::string reason) { return Finding(Absent{std::move(reason)}); }
  explicit operator bool() const { return value.has_value(); }
  T const* operator->() const { return &*value; }

 private:
  struct Absent {
    std::string reason;
  };
  explicit Finding(Absent absent) : why_not(std::move(absent.reason)) {}
};

struct Setting {
  encoding::Shape shape;
  double length = 0;  ///< tokens looked at, N
  std::uint64_t seed = 1;
  int layer = 0;  ///< terms that do not act in it are left out
};

class Subject {
 public:
  /// Throws Error where the choice does not fit the shape, and for a length below 2 or above 2^24.
  Subject(encoding::PositionChoice const& choice, encoding::Registry const& registry, Setting const& setting);

  Position const& position() const { return *position_; }
  std::shared_ptr<Position const> const& shared_position() const { return position_; }
  std::vector<Term> const& terms() const { return position_->terms(); }
  bool acts(std::size_t term) const { return terms()[term].acts_in(setting_.layer); }
  int layer() const { return setting_.layer; }
  encoding::Shape const& shape() const { return position_->shape(); }
  double length() const { return setting_.length; }
  double trained() const { return position_->choice().trained_length; }
  std::uint64_t seed() const { return setting_.seed; }
  /// Some of what is shown are trained tensors at their starting values.
  bool has_weights() const { return !position_->parameters().empty(); }
  /// Starting value of every number of a parameter.
  std::vector<double> values_of(Position::Parameter const& parameter) const;

  /// Formula weights of one of a term's heads, head counting from 0 in the term.
  double const* weights(std::size_t term, int head) const;
  std::vector<double> const& all_weights(std::size_t term) const { return parts_[term].weights; }
  /// Of a rotary term, in a sequence of length() tokens.
  Position::Frequencies frequencies(std::size_t term) const {
    return position_->frequencies(terms()[term], all_weights(term), nullptr, length());
  }
  Tensors const& tensors(std::size_t term) const { return parts_[term].tensors; }
  /// The trained table of an encoding that embeds, [table_length, model_dim].
  double table_at(std::size_t term, int row, int channel) const;
  /// Gates of a term's head for a token whose input to them is zero, as a bias formula reads them at this position.
  std::vector<double> gates(std::size_t term, int head, double position) const;

  Head formula_head(Term const& term, int head) const { return {term.first_head.index + head, term.first_head.count}; }
  /// Terms that act on a model's head, in order.
  std::vector<std::size_t> terms_of(int head) const;

 private:
  struct Part {
    std::vector<double> weights;  ///< [heads or 1, count]
    Tensors tensors;
    std::vector<double> gate_bias;   ///< [gates, heads]
    std::vector<std::size_t> table;  ///< index of the table's parameter, or empty
  };
  Part draw(std::size_t term) const;

  Setting setting_;
  std::shared_ptr<Position const> position_;
  std::vector<Part> parts_;
};

/// Whole distances from 0 to `most`, each up to 16, then about `per_octave` for each doubling; ascending, both ends kept.
std::vector<double> distances_to(double most, int per_octave = 8);

}  // namespace sextant::inspect
