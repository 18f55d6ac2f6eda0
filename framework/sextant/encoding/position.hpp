// The position block of a model, resolved: which encoding acts on which heads and channels, under which scalings.
#pragma once
#include <sextant/encoding/encoding.hpp>

#include <limits>
#include <memory>
#include <string>
#include <vector>

namespace sextant::encoding {

/// One encoding at work in a model.
struct Term {
  std::shared_ptr<Encoding const> encoding;
  std::string label;                    ///< unique in the model: "rope", "alibi", "alibi_2"
  Shape shape;                          ///< what its formulas see
  Stages stages;                        ///< that the encoding joins with this shape
  int head_begin = 0, heads = 0;        ///< query heads of the model it acts on
  int channel_begin = 0, channels = 0;  ///< channels of each of them
  Head first_head;                      ///< what its formulas call the first of its heads
  std::optional<LayerSet> layers;       ///< absent: all
  bool acts_in(int layer) const { return !layers || layers->holds(layer); }
};

/// Immutable; shared by everything that evaluates one model. One routine, frequencies(), yields them for training,
/// evaluation, prefill and decode.
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
  /// multiplies cos and sin, and how these are stored. `slope`, when given, receives d scaled / d plain of the same shape. `length`: tokens of the
  /// sequence, its largest position + 1, for scalings that follow it; 0: none past the trained length. `position`: of the
  /// token, for scalings that keep the first ones.
  struct Frequencies {
    Rotary form;
    int rows = 1;
    std::vector<double> inv_freq;
    double attention_factor = 1;
    TableFormat format = {};
    bool turns_as(Frequencies const& other) const {
      return inv_freq == other.inv_freq && attention_factor == other.attention_factor && format == other.format;
    }
  };
  Frequencies frequencies(Term const& term, std::vector<double> const& weights, std::vector<double>* slope = nullptr,
                          double length = 0, double position = far) const;
  /// Behind all tokens that a scaling keeps.
  static constexpr double far = std::numeric_limits<double>::infinity();
  /// Whether frequencies() depends on the length.
  bool follows_length() const { return follows_length_; }
  /// Positions at which frequencies() changes, rising: a scaling keeps the tokens before each.
  std::vector<double> const& kept() const { return kept_; }
  /// What the encoding's phase of a position becomes under the scalings.
  double scaled_phase(Term const& term, double plain) const;
  /// Whether scaled_phase() differs from its argument.
  bool bends_phases() const { return bends_phases_; }
  /// Whether query_scale() of a term is anything but 1.
  bool scales_queries(Term const& term) const;
  /// Factor on the query rows of a term's heads in a layer, of the encoding and of the scalings.
  double query_scale(Term const& term, int layer, double position) const;
  /// What positions are divided by before a term's bias formula sees them.
  double stretch(Term const& term) const;

  /// Weights of a term that is not trained, or the starting point of one that is.
  std::vector<double> initial_weights(Term const& term) const;

 private:
  void add(Choice const& choice, Registry const& registry, Shape const& shape, Term place);
  void check_overlaps() const;
  void check_scalings();
  ScalingContext context(Term const& term) const;
  /// f(scaling, what it may know) for all scalings in order.
  template <class F>
  void for_scalings(Term const& term, double length, F&& f, double position = far) const;

  PositionChoice choice_;
  Shape shape_;
  double target_length_;
  std::vector<Term> terms_;
  std::vector<std::shared_ptr<Scaling const>> scalings_;
  std::vector<Parameter> parameters_;
  std::optional<PositionSampler> sampler_;
  bool follows_length_ = false, bends_phases_ = false, scales_queries_ = false, rounds_ = false;
  std::vector<double> kept_;
};

}  // namespace sextant::encoding
