#include <sextant/base/error.hpp>
#include <sextant/kernels/attention_check.hpp>
#include <sextant/kernels/attention_team_backward.hpp>
#include <sextant/kernels/attention_team_chain.hpp>
#include <sextant/kernels/attention_team_forward.hpp>

namespace sextant::kernels::team {
namespace {
template <class T>
bool all_tables(AttentionInput<T> const& in) {
  if (in.modifiers.size() > static_cast<std::size_t>(most_tables)) return false;
  for (auto* link : in.modifiers)
    if (!link->table().bias) return false;
  return true;
}

template <class T>
TableChain<T> tables(AttentionInput<T> const& in) {
  TableChain<T> chain;
  for (auto* link : in.modifiers) chain.table[chain.count++] = link->table();
  return chain;
}

/// f(chain) with the form in which the input's modifiers reach the teams.
template <class T, class F>
void with_chain(AttentionInput<T> const& in, F const& f) {
  expect(takes(in), "attention by teams: takes no whole rows and no branches, and on a device at most ", most_tables,
         " modifiers, each with a table; found ", in.rows.size(), " rows, ", in.more_query.size(), " branches and ",
         in.modifiers.size(), " modifiers");
  if (all_tables(in)) return f(tables(in));
  if constexpr (on_host) f(VirtualChain<T>{in.modifiers.data(), static_cast<int>(in.modifiers.size())});
}

template <class Pass>
void launch(Exec const& exec, char const* label, int team_size, Pass const& pass) {
  if (pass.teams() > 0) launch_teams(exec, label, pass.teams(), team_size, pass.bytes(), pass);
}
}  // namespace

template <class T>
bool takes(AttentionInput<T> const& in) {
  bool const tiles = in.rows.empty() && in.more_query.empty() && !in.branch_rule;
  return tiles && (on_host || all_tables(in));
}

template <class T>
void forward(Exec const& exec, AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp,
             int team_size) {
  host::check_forward(in, out, log_sum_exp);
  Arrays<T> const arrays = host::problem_of(in, log_sum_exp);
  with_chain(in, [&](auto const& chain) {
    using Chain = std::decay_t<decltype(chain)>;
    launch(exec, "sextant::team_attention", team_size, Forward<T, Chain>{arrays, chain, host::rows_of(out)});
  });
}

template <class T>
void backward(Exec const& exec, AttentionInput<T> const& in, Heads<T const> const& out, View3<T> const& log_sum_exp,
              Heads<T const> const& grad_out, Heads<T> const& grad_query, Heads<T> const& grad_key,
              Heads<T> const& grad_value, int team_size) {
  host::check_backward(in, log_sum_exp,
                       host::Results<T>{out, grad_out, grad_query, grad_key, grad_value, BranchGradients<T>()});
  Arrays<T> const arrays = host::problem_of(in, log_sum_exp);
  GradientRows<T> const rows{host::rows_of(out), host::rows_of(grad_out), host::rows_of(grad_query),
                             host::rows_of(grad_key), host::rows_of(grad_value)};
  with_chain(in, [&](auto const& chain) {
    using Chain = std::decay_t<decltype(chain)>;
    launch(exec, "sextant::team_attention_queries", team_size, QueryBackward<T, Chain>{{arrays, chain, rows}});
    launch(exec, "sextant::team_attention_keys", team_size, KeyBackward<T, Chain>{{arrays, chain, rows}});
  });
}

#define SEXTANT_INSTANTIATE(T)                                                                          \
  template bool takes(AttentionInput<T> const&);                                                        \
  template void forward(Exec const&, AttentionInput<T> const&, Heads<T> const&, View3<T> const&, int);  \
  template void backward(Exec const&, AttentionInput<T> const&, Heads<T const> const&, View3<T> const&, \
                         Heads<T const> const&, Heads<T> const&, Heads<T> const&, Heads<T> const&, int);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels::team
