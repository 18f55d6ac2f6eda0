// How attention in strips is cut up. All of it follows from lengths and heads, so that a row's bits do not depend on its
// batch.
#pragma once
#include <sextant/kernels/attention_host.hpp>

namespace sextant::kernels::host {

/// Query heads whose strips are worked on at once: one, or all when a link goes across them; and their kv heads.
template <class T>
int heads_at_once(Problem<T> const& p);
template <class T>
int kv_heads_at_once(Problem<T> const& p);

/// Query rows of a strip.
template <class T>
int strip_rows(Problem<T> const& p);

/// True when keys are packed for all strips, `bytes` being what that takes for what is worked on at once. Up to six
/// queries read them where they lie.
template <class T>
bool packs(Problem<T> const& p, std::size_t bytes);

/// `p` with rows of padding replaced by zeros, so that NaN in them reaches nothing: copies into `memory`, and only where
/// there is padding. With a cursor over null it only counts.
template <class T>
Problem<T> without_padding(Problem<T> const& p, Cursor& memory, Tasks const& run);

}  // namespace sextant::kernels::host
