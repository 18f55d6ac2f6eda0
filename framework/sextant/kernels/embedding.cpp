#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/kernels/embedding.hpp>
#include <sextant/kernels/row_math.hpp>

namespace sextant::kernels {

template <class T>
void embedding_forward(Exec const& exec, View2<T const> const& table, View1<int const> const& token,
                       View2<T> const& out) {
  expect(out.extent(0) == token.extent(0) && out.extent(1) == table.extent(1), "embedding: out is [", out.extent(0),
         ", ", out.extent(1), "], expected [", token.extent(0), ", ", table.extent(1), "]");
  int const width = out.extent_int(1);
  launch(
      exec, "sextant::embedding", out.extent_int(0), width, KOKKOS_LAMBDA(int i) {
        T const* const from = &table(token(i), 0);
        T* const to = &out(i, 0);
        for (int c = 0; c < width; ++c) to[c] = from[c];
      });
}

void index_tokens(Exec const& exec, View1<int const> const& token, int vocabulary, TokenIndex& index) {
  int const rows = token.extent_int(0);
  if (index.start.extent_int(0) != vocabulary + 1)
    index.start = View1<int>(uninitialized("sextant::token_start"), static_cast<std::size_t>(vocabulary) + 1);
  if (index.order.extent_int(0) < rows)
    index.order = View1<int>(uninitialized("sextant::token_order"), static_cast<std::size_t>(rows));
  View1<int> const start = index.start, order = index.order;
  Kokkos::parallel_for(
      "sextant::index_tokens", Kokkos::RangePolicy<Exec>(exec, 0, 1), KOKKOS_LAMBDA(int) {
        for (int v = 0; v <= vocabulary; ++v) start(v) = 0;
        for (int i = 0; i < rows; ++i) ++start(token(i) + 1);
        for (int v = 0; v < vocabulary; ++v) start(v + 1) += start(v);
        for (int i = 0; i < rows; ++i) order(start(token(i))++) = i;
        for (int v = vocabulary; v > 0; --v) start(v) = start(v - 1);  // each start has moved to its end
        start(0) = 0;
      });
}

template <class T>
void embedding_backward(Exec const& exec, TokenIndex const& index, View2<T const> const& grad_out,
                        View2<T> const& grad_table) {
  int const vocabulary = index.start.extent_int(0) - 1, width = grad_table.extent_int(1);
  expect(grad_table.extent_int(0) == vocabulary && grad_out.extent_int(1) == width &&
             index.order.extent(0) >= grad_out.extent(0),
         "embedding backward: grad_table is [", grad_table.extent(0), ", ", width, "] and grad_out [",
         grad_out.extent(0), ", ", grad_out.extent(1), "], expected [", vocabulary, ", width] and [rows, width]");
  View1<int> const start = index.start, order = index.order;
  Kokkos::RangePolicy<Exec, Kokkos::Schedule<Kokkos::Dynamic>> policy(exec, 0, vocabulary);
  Kokkos::parallel_for(
      "sextant::embedding_backward", policy, KOKKOS_LAMBDA(int v) {
        T* const to = &grad_table(v, 0);
        for (int k = start(v); k < start(v + 1); ++k) {
          T const* const from = &grad_out(order(k), 0);
          for (int c = 0; c < width; ++c) to[c] += from[c];
        }
      });
}

#define SEXTANT_INSTANTIATE(T)                                                                                   \
  template void embedding_forward(Exec const&, View2<T const> const&, View1<int const> const&, View2<T> const&); \
  template void embedding_backward(Exec const&, TokenIndex const&, View2<T const> const&, View2<T> const&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::kernels
