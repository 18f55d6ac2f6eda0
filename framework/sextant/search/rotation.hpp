// Between scalings and points of a search: what a scaling does to the pairs of one model, as divisors.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/search/method.hpp>

namespace sextant::search {

class Rotation {
 public:
  /// Of a trained model that is to reach `target` tokens. Throws Error where there is nothing to search: no rotary encoding or
  /// several, frequencies of one's own for every head, trained or formed from gates, a scaling that is there already, or a
  /// target within the trained length.
  Rotation(encoding::PositionChoice const& trained, encoding::Shape const& shape, int target,
           encoding::Registry const& registry);

  int pairs() const { return static_cast<int>(plain_.size()); }
  double factor() const { return factor_; }

  /// A scaling of frequencies, as divisors of them and a magnitude; exact for linear, ntk and yarn at their definition.
  Genome genome_of(encoding::Choice const& scaling) const;
  /// The scaling longrope whose long list is the genome's; its short list is ones: within the trained length frequencies stay.
  encoding::Choice scaling_of(Genome const& genome) const;
  encoding::Choice scaling_of(YarnPoint const& point) const;
  encoding::PositionChoice under(encoding::Choice const& scaling) const;

  /// linear, ntk and yarn with this factor, where the rotation takes them.
  std::vector<Start> starts() const;
  /// YaRN as its plugin has it.
  YarnPoint released_yarn() const;
  /// Factors from 1 to 1.25 times this one and the kept tokens of the paper (table of its search space); the magnitudes are
  /// those of the starts and of longrope.
  Space space(double step) const;

 private:
  encoding::Position::Frequencies frequencies(std::vector<encoding::Choice> const& scalings) const;

  encoding::PositionChoice trained_;
  encoding::Shape shape_;
  encoding::Registry const& registry_;
  int target_;
  double factor_ = 1;
  std::size_t term_ = 0;
  std::vector<double> plain_;  // radians per token
};

}  // namespace sextant::search
