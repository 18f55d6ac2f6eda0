// From Views to plain pointers: what attention refuses of an input, and the Problem that it is otherwise.
#pragma once
#include <sextant/kernels/attention.hpp>
#include <sextant/kernels/attention_problem.hpp>
#include <sextant/kernels/view_rows.hpp>

namespace sextant::kernels::host {

/// What a backward reads beside its input, and what it overwrites.
template <class T>
struct Results {
  Heads<T const> const& out;
  Heads<T const> const& grad_out;
  Heads<T> const &grad_query, &grad_key, &grad_value;
  BranchGradients<T> const& branches;
};

/// Throw Error where shapes disagree, naming both.
template <class T>
void check_forward(AttentionInput<T> const& in, Heads<T> const& out, View3<T> const& log_sum_exp);
template <class T>
void check_backward(AttentionInput<T> const& in, View3<T> const& log_sum_exp, Results<T> const& results);

template <class T>
Problem<T> problem_of(AttentionInput<T> const& in, View3<T> const& log_sum_exp);

using kernels::rows_of;

template <class T>
Gradients<T> gradients_of(Results<T> const& r) {
  Gradients<T> g{rows_of(r.out),      rows_of(r.grad_out),   rows_of(r.grad_query),
                 rows_of(r.grad_key), rows_of(r.grad_value), {}};
  g.branches = {{g.query, g.key}};
  for (std::size_t n = 0; n < r.branches.query.size(); ++n)
    g.branches.push_back({rows_of(r.branches.query[n]), rows_of(r.branches.key[n])});
  return g;
}

}  // namespace sextant::kernels::host
