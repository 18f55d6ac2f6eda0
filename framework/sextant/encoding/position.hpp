// The position block of a model, resolved: which encoding acts on which heads and channels, under which scalings.
#pragma once
#include <sextant/encoding/encoding.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sextant::encoding {

/// One encoding at work in a model.
struct Term {
  std::shared_ptr<Encoding const> encoding;
  std::string label;                    ///< unique in the model: "rope", "alibi", "alibi_2"
  Shape shape;                          ///< what its formulas see
  int head_begin = 0, heads = 0;        ///< query heads of the model it acts on
  int channel_begin = 0, channels = 0;  ///< channels of each of them
  Head first_head;                      ///< what its formulas call the first of its heads
  std::optional<LayerSet> layers;       ///< absent: all
  bool acts_in(int layer) const { return !layers || layers->holds(layer); }
};

/// Immutable; shared by everything that evaluates one model. One routine, inv_freq(), yields the frequencies for
/// training, evaluation, prefill and decode.
class Position {
 public:
  /// `target_length`: tokens this use of the model reaches, for scalings told `auto`; 0 means the trained length.
  /// Throws Error where plugins, options, shape or one another do not fit.
  Position(PositionChoice const& choice, Registry const& registry, Shape const& shape, double target_length = 0);

  Shape const& shape() const { return shape_; }
  std::vector<Term> const& terms() const { return terms_; }
  std::vector<std::shared_ptr<Scaling const>> const& scalings() const { return scalings_; }
  PositionChoice const& choice() const { return choice_; }
  /// What draws the rows' positions, where they are not the index of the token.
  std::optional<PositionSampler> const& sampler() const { return sampler_; }

  /// Trainable tensors of one term, with the labelled names that a checkpoint shows: "position.alibi.slope".
  struct Parameter {
    std::string name;
    int term = 0;
    ParameterInfo info;
  };
  std::vector<Parameter> const& parameters() const { return parameters_; }

  /// Scaled inverse frequencies [heads or 1][axes][pairs] of a rotary term, in radians per unit of phase, and the number that
  /// multiplies cos and sin. `slope`, when given, receives d scaled / d plain of the same shape.
  struct Frequencies {
    Rotary form;
    int rows = 1;
    std::vector<double> inv_freq;
    double attention_factor = 1;
  };
  Frequencies frequencies(Term const& term, std::vector<double> const& weights,
                          std::vector<double>* slope = nullptr) const;

  /// Weights of a term that is not trained, or the starting point of one that is.
  std::vector<double> initial_weights(Term const& term) const;

 private:
  void add(Choice const& choice, Registry const& registry, Shape const& shape, Term place);
  void check_overlaps() const;
  ScalingContext context(Term const& term, Rotary const& form) const;

  PositionChoice choice_;
  Shape shape_;
  double target_length_;
  std::vector<Term> terms_;
  std::vector<std::shared_ptr<Scaling const>> scalings_;
  std::vector<Parameter> parameters_;
  std::optional<PositionSampler> sampler_;
};

}  // namespace sextant::encoding
