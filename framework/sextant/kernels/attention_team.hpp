// Attention by teams of threads, with tiles of queries, keys and values in their scratch memory: the path of a device, which
// runs on host spaces too. The same input, mask and results as attention.hpp.
#pragma once
#include <sextant/kernels/attention.hpp>

namespace sextant::kernels::team {

/// Links of a chain that a device can be handed.
inline constexpr int most_tables = 4;

/// Whether a device takes this input: no whole rows, no branches, and at most `most_tables` modifiers, every one of which
/// has a table(). A host space takes any modifiers, by their virtual calls.
template <class T>
bool takes(AttentionInput<T> const& in);

/// attention_forward() and attention_backward() of an input that takes() allows; an Error otherwise. Same bits for any
/// number of teams and threads: every sum has one team and a fixed order. Does not wait for the end. `team_size` is the
/// number of threads of a team; 0 leaves it to Kokkos.
template <class T>
void forward(Exec const& exec, AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp,
             int team_size = 0);
template <class T>
void backward(Exec const& exec, AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
              Heads<T const> const& grad_out, Heads<T> const& grad_query, Heads<T> const& grad_key,
              Heads<T> const& grad_value, int team_size = 0);

}  // namespace sextant::kernels::team
