// Loss of documents by length and position, and of the plain window that any stretching has to beat.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// eval/lm_loss: mean and tail by length, of each document too, and the mean loss at each position.
results::Group measure_losses(Exec const& exec, Work const& work, Arm const& arm, results::Claim const& claim,
                              run::Progress& progress);

/// eval/window_control: the same tails, read with the trained length of context alone, by the model as trained.
results::Group measure_window(Exec const& exec, Work const& work, Arm const& arm, results::Claim const& claim,
                              run::Progress& progress);

/// Lengths that the window control is about: those past the trained one.
std::vector<int> stretched_lengths(Work const& work);

}  // namespace sextant::extend
