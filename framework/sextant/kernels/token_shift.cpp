#include <sextant/base/error.hpp>
#include <sextant/base/math.hpp>
#include <sextant/kernels/token_shift.hpp>

namespace sextant::kernels {
namespace {
template <class T>
KOKKOS_INLINE_FUNCTION T share_of(T logit) {
  return T(1) / (T(1) + math::exp(-logit));
}
/// Whether token i of row b has the token before it in its own document.
template <class T>
KOKKOS_FUNCTION bool follows(TokenShift<T> const& shift, int b, int i) {
  if (i == 0)
    return shift.before.size() > 0 && (shift.document.size() == 0 || shift.document(b, 0) == shift.document_before(b));
  return shift.document.size() == 0 || shift.document(b, i) == shift.document(b, i - 1);
}
template <class T>
void check(char const* what, int batch, int seq_len, int dim, TokenShift<T> const& shift) {
  std::size_t const rows = static_cast<std::size_t>(batch) * seq_len;
  expect(shift.logit.extent(0) == rows && shift.plain.extent(0) == rows, what, ": gates of ", shift.logit.extent(0),
         " tokens and room for ", shift.plain.extent(0), ", expected ", rows);
  expect(shift.plain.extent(1) == shift.logit.extent(1) * dim, what, ": room for ", shift.plain.extent(1),
         " channels, expected ", shift.logit.extent(1) * dim);
}
}  // namespace

template <class T>
void token_shift_forward(Exec const& exec, T* data, std::int64_t stride, int batch, int seq_len, int dim,
                         TokenShift<T> const& shift) {
  check("token_shift", batch, seq_len, dim, shift);
  int const heads = shift.logit.extent_int(1), width = heads * dim;
  auto const plain = shift.plain;
  std::int64_t const rows = std::int64_t(batch) * seq_len;
  Kokkos::parallel_for(
      "sextant::token_shift_keep", Kokkos::RangePolicy<Exec>(exec, 0, rows), KOKKOS_LAMBDA(std::int64_t row) {
        for (int c = 0; c < width; ++c) plain(row, c) = data[row * stride + c];
      });
  Kokkos::parallel_for(
      "sextant::token_shift", Kokkos::RangePolicy<Exec>(exec, 0, rows), KOKKOS_LAMBDA(std::int64_t row) {
        int const b = static_cast<int>(row / seq_len), i = static_cast<int>(row % seq_len);
        T const* const last = !follows(shift, b, i) ? nullptr : i > 0 ? &plain(row - 1, 0) : &shift.before(b, 0);
        for (int h = 0; h < heads; ++h) {
          T const share = share_of(shift.logit(row, h));
          for (int c = h * dim; c < (h + 1) * dim; ++c) {
            T const here = plain(row, c);
            data[row * stride + c] = here + share * ((last ? last[c] : T(0)) - here);
          }
        }
      });
  exec.fence();
}

template <class T>
void token_shift_backward(Exec const& exec, T* grad, std::int64_t stride, int batch, int seq_len, int dim,
                          TokenShift<T> const& shift) {
  check("token_shift", batch, seq_len, dim, shift);
  expect(shift.before.size() == 0, "token_shift: a backward pass needs the whole row");
  int const heads = shift.logit.extent_int(1);
  auto const plain = shift.plain, logit = shift.logit;
  // Row by row, first token first: token i takes its share of what i + 1 owes before i + 1 is overwritten.
  Kokkos::parallel_for(
      "sextant::token_shift_backward", Kokkos::RangePolicy<Exec>(exec, 0, std::int64_t(batch) * heads),
      KOKKOS_LAMBDA(std::int64_t at) {
        int const b = static_cast<int>(at / heads), h = static_cast<int>(at % heads);
        for (int i = 0; i < seq_len; ++i) {
          std::int64_t const row = std::int64_t(b) * seq_len + i;
          T const share = share_of(logit(row, h));
          bool const has_last = follows(shift, b, i), has_next = i + 1 < seq_len && follows(shift, b, i + 1);
          T const next = has_next ? share_of(logit(row + 1, h)) : T(0);
          T slope = 0;
          for (int c = h * dim; c < (h + 1) * dim; ++c) {
            T const g = grad[row * stride + c];
            slope += g * ((has_last ? plain(row - 1, c) : T(0)) - plain(row, c));
            grad[row * stride + c] = (1 - share) * g + (has_next ? next * grad[(row + 1) * stride + c] : T(0));
          }
          logit(row, h) = slope * share * (1 - share);
        }
      });
  exec.fence();
}

#define SEXTANT_INSTANTIATE(T)                                                                              \
  template void token_shift_forward<T>(Exec const&, T*, std::int64_t, int, int, int, TokenShift<T> const&); \
  template void token_shift_backward<T>(Exec const&, T*, std::int64_t, int, int, int, TokenShift<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
