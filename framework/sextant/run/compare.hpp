// Two passes over one window, and how far apart their logits lie: what the probes permutation, shift and streaming measure.
#pragma once
#include <sextant/run/probe.hpp>

#include <functional>
#include <span>
#include <string>
#include <vector>

namespace sextant::run {

struct Window {
  std::span<std::int32_t const> tokens;
  View2<double> positions;  ///< [1, tokens]: where each stands; empty: 0, 1, 2, ...
};

using Logits = View2<float>;  ///< [tokens, vocabulary]

/// The logits of one pass over the window.
Logits logits_of(Exec const& exec, Network& network, Window const& window);

/// Largest |a - b| divided by the standard deviation of a, both over all tokens and the vocabulary. Throws Error where a number
/// is not finite, or all of a are one.
double distance(Logits const& a, Logits const& b);

/// probe_permutation.cpp

/// 0, 1, ... count - 1 in an order that depends on `window` alone.
std::vector<int> drawn_order(int count, int window);
/// Token order[i] is read at place i, and its logits are put back into row order[i].
Logits shuffled_logits(Exec const& exec, Network& network, Window const& window, std::vector<int> const& order);
/// The same parameters and position block, and attention that also looks ahead. `network` must outlive it.
Network without_mask(Network const& network);

/// probe_shift.cpp: the logits with every position moved by `offset` tokens.
Logits shifted_logits(Exec const& exec, Network& network, Window const& window, double offset);

/// probe_streaming.cpp: the window read `chunk` tokens at a time through a key cache. Throws Error where a scaling turns the
/// first tokens of a longer text otherwise, so that a stream cannot know what a whole pass does.
Logits streamed_logits(Exec const& exec, Network& network, Window const& window, int chunk);

/// For every window the values of what the evaluation keeps: read(window, number of the window).
using ReadWindow = std::function<std::vector<double>(Window const& window, int number)>;
results::Group compare_passes(Probing const& probing, ReadWindow const& read);

}  // namespace sextant::run
