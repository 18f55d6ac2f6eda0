// Views full of random numbers, each a pure function of a seed and a name.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/philox.hpp>

#include <array>
#include <cstdint>
#include <string>

namespace sextant::test {

/// Fills any View with standard normals times `scale`, in the order of its logical indices.
template <class V>
void fill_random(V const& view, std::uint64_t seed, std::string const& name, double scale = 1) {
  using T = typename V::non_const_value_type;
  Stream const stream(seed, name);
  auto const host = Kokkos::create_mirror_view(view);
  std::uint64_t at = 0;
  for (std::size_t i = 0; i < host.extent(0); ++i)
    if constexpr (V::rank == 1)
      host(i) = static_cast<T>(scale * stream.normal(at++));
    else
      for (std::size_t j = 0; j < host.extent(1); ++j)
        if constexpr (V::rank == 2)
          host(i, j) = static_cast<T>(scale * stream.normal(at++));
        else
          for (std::size_t k = 0; k < host.extent(2); ++k)
            if constexpr (V::rank == 3)
              host(i, j, k) = static_cast<T>(scale * stream.normal(at++));
            else
              for (std::size_t l = 0; l < host.extent(3); ++l)
                host(i, j, k, l) = static_cast<T>(scale * stream.normal(at++));
  Kokkos::deep_copy(view, host);
}

/// Zeros, [batch, heads, seq_len, dim] by index and [batch, seq_len, heads, dim] in memory, as the model has it.
template <class T>
Heads<T> zero_heads(int batch, int heads, int seq_len, int dim) {
  std::size_t const row = static_cast<std::size_t>(heads) * dim;
  return Heads<T>("test heads", Kokkos::LayoutStride(batch, row * seq_len, heads, dim, seq_len, row, dim, 1));
}

template <class T>
Heads<T> random_heads(std::uint64_t seed, std::string const& name, int batch, int heads, int seq_len, int dim,
                      double scale = 1) {
  Heads<T> const view = zero_heads<T>(batch, heads, seq_len, dim);
  fill_random(view, seed, name, scale);
  return view;
}

}  // namespace sextant::test
