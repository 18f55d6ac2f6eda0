// Turning channel pairs of query and key by angles formed in double.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/number_format.hpp>

namespace sextant::kernels {

/// cos and sin of every angle, in the type they are used in. Rows are tokens; a row set may differ per batch row, per
/// head, or not at all.
template <class T>
struct RotationTable {
  View3<T> cos, sin;  ///< [sets, seq_len, pairs]
  bool per_batch = false, per_head = false;
  int heads = 1;  ///< sets = (per_batch ? batch : 1) * (per_head ? heads : 1)
  KOKKOS_FUNCTION int set(int b, int h) const {
    return (per_batch ? b : 0) * (per_head ? heads : 1) + (per_head ? h : 0);
  }
};

/// What tokens turn by per unit of phase: one spectrum for all, or several of which each token takes one.
struct Spectra {
  View4<double> inv_freq;  ///< [spectra, heads or 1, axes, pairs], radians per unit of phase
  View1<double> factor;    ///< [spectra], multiplies cos and sin
  View2<int> of_token;     ///< [batch or 1, seq_len]; empty: every token takes the first
  TableFormat format = {};
  KOKKOS_FUNCTION int at(int b, int i) const {
    return of_token.data() ? of_token(of_token.extent(0) > 1 ? b : 0, i) : 0;
  }
};

/// table.cos(set, i, p) = factor * cos(sum over axes a of phase(row, head, i, a) * inv_freq(head, a, p)), likewise sin,
/// of the token's spectrum; angles in double, unless spectra.format says otherwise. What it rounds is cos and sin before
/// the factor.
///   phase     [batch or 1, heads or 1, seq_len, axes]     orientation -1 turns clockwise
template <class T>
void form_rotation(Exec const& exec, View4<double> const& phase, Spectra const& spectra, int orientation,
                   RotationTable<T>& table);

/// Which channels a rotation touches: heads [head_begin, head_begin + heads) and, in each, pairs inside
/// [channel_begin, channel_begin + 2 pairs).
struct RotationSpan {
  int head_begin = 0, heads = 0, channel_begin = 0;
  bool interleaved = false;
};

/// x [batch, heads, seq_len, head_dim] in place: (a, b) -> (a cos - b sin, b cos + a sin) for the pair's channels
/// (c, c + pairs), or (2c, 2c + 1) when interleaved. `inverse` turns the other way and keeps the factor: the adjoint.
template <class T>
void rotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
            bool inverse = false);

/// How results reach memory, where a CPU leaves the choice: through its cache, where they wait to be read again, or past it,
/// without reading the lines that they overwrite. By size: past it if no cache would hold them.
enum class Writes { by_size, through_cache, past_cache };

/// The same from x into `to` of the same shape, with all channels and heads outside the span copied. The same bits however
/// they are written; rows that are no whole vectors of the CPU go through the cache.
template <class T>
void rotate_into(Exec const& exec, Heads<T const> const& x, Heads<T> const& to, RotationTable<T> const& table,
                 RotationSpan const& span, Writes writes = Writes::by_size);

/// Undoes rotate() for tables formed of `spectra`.
template <class T>
void unrotate(Exec const& exec, Heads<T> const& x, RotationTable<T> const& table, RotationSpan const& span,
              Spectra const& spectra);

/// Adds to grad [spectra, heads or 1, axes, pairs] the sum over tokens of phase * d loss / d angle, given the turned x
/// and the gradient with respect to it (before the adjoint turn). Fixed order of summation.
template <class T>
void rotation_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                       View4<double> const& phase, Spectra const& spectra, RotationSpan const& span, int orientation,
                       View4<double> const& grad);

/// Adds to grad [batch, heads or 1, seq_len] the d loss / d phase of every token, summed over pairs (and heads): one axis.
template <class T>
void phase_gradient(Exec const& exec, Heads<T const> const& turned, Heads<T const> const& grad_turned,
                    Spectra const& spectra, RotationSpan const& span, int orientation, View3<double> const& grad);

}  // namespace sextant::kernels
