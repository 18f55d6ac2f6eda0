// How far each channel pair of a rotary encoding turns: its wavelength, whether training saw a whole turn of it, and which
// share of the distances in use meets it at a phase that training never did.
#pragma once
#include <sextant/inspect/subject.hpp>

namespace sextant::inspect {

struct PairTurn {
  int axis = 0, pair = 0;
  double inv_freq = 0;       ///< radians per token, scaled
  double plain = 0;          ///< the same before any scaling
  double wavelength = 0;     ///< tokens a turn; infinite for a pair that stands still
  double trained_turns = 0;  ///< turns between the first and the last distance of training, by the plain frequency
  bool completed = false;    ///< training saw every phase
  double unseen_share = 0;   ///< of the distances 0 .. length - 1
};

struct Wavelengths {
  std::string label;  ///< of the term
  int head = 0;       ///< of the model; frequencies of other heads are the same unless per_head
  bool per_head = false;
  double attention_factor = 1;  ///< multiplies cos and sin
  std::string note;             ///< what an angle is counted in, where that is not the distance in tokens
  std::vector<PairTurn> pairs;
  int never_completed = 0;
  double mean_unseen = 0;
};

/// One entry a rotary term; per head where frequencies are. Without a trained length nothing counts as seen or completed.
///
/// Training meets the phases of distances 0 .. trained - 1 at the plain frequency: an arc of that length from 0. A distance
/// d below length is unseen by a pair whose phase, scaled and cut to one turn, lies beyond the arc. Encodings that bend
/// positions or measure far distances differently are followed: d is then the turn between the last query and the key d
/// tokens before it.
Finding<std::vector<Wavelengths>> wavelengths(Subject const& subject);

/// Share of the whole numbers n in [0, count) whose angle n * step, cut to one turn, lies beyond `arc`; exact, in time
/// proportional to the number of turns.
double share_beyond(double step, double count, double arc);

}  // namespace sextant::inspect
