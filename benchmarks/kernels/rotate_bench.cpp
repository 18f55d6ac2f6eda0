// RoPE on query and key of [4, 16, 4096, 128] by every layout and direction, beside an in-place scaling and copies of the same
// bytes: the same arrays, first touched by the threads that work on them, the same threads.
#include <benchmark/benchmark.h>
#include <sextant/kernels/rotate.hpp>

#include <cmath>

namespace sextant {
namespace {
constexpr int batch = 4, heads = 16, length = 4096, dim = 128;

struct Arrays {
  View4<float> q{"q", batch, heads, length, dim}, k{"k", batch, heads, length, dim};
  View4<float> q_out{"q out", batch, heads, length, dim}, k_out{"k out", batch, heads, length, dim};
  kernels::RotationTable<float> table = table_of(dim / 2), narrow = table_of(dim / 4);
  Arrays() {
    Kokkos::deep_copy(q, 0.5f), Kokkos::deep_copy(k, 0.25f), Kokkos::deep_copy(q_out, 0), Kokkos::deep_copy(k_out, 0);
  }
  static kernels::RotationTable<float> table_of(int pairs) {
    View4<double> const phase("phase", 1, 1, length, 1);
    for (int i = 0; i < length; ++i) phase(0, 0, i, 0) = i;
    kernels::Spectra spectra{View4<double>("inv_freq", 1, 1, 1, pairs), View1<double>("factor", 1), {}};
    spectra.factor(0) = 1;
    for (int p = 0; p < pairs; ++p) spectra.inv_freq(0, 0, 0, p) = std::pow(1e4, -1.0 * p / pairs);
    kernels::RotationTable<float> out;
    kernels::form_rotation<float>(Exec(), phase, spectra, 1, out);
    return out;
  }
};
Arrays& arrays() {
  static auto* const made = new Arrays;  // outlives Kokkos on purpose: nothing is freed after its end
  return *made;
}

kernels::RotationSpan const half{0, heads, 0, false}, interleaved{0, heads, 0, true};

/// What a projection writes: the heads of a token lie together.
Heads<float> projected(View4<float> const& x) { return as_heads(x.data(), batch, heads, length, dim); }

/// work(x, out) for query and key; all of it is read once and written once.
template <class Work>
void add(char const* name, Work work) {
  benchmark::RegisterBenchmark(
      name,
      [work](benchmark::State& state) {
        auto& a = arrays();
        for (auto _ : state) work(a.q, a.q_out), work(a.k, a.k_out);
        state.SetBytesProcessed(state.iterations() * std::int64_t(2 * sizeof(float) * (a.q.size() + a.k.size())));
      })
      ->UseRealTime()
      ->Unit(benchmark::kMillisecond);
}

using Array = View4<float> const&;
void scale(Array x, Array) {
  float* const data = x.data();
  Kokkos::parallel_for(
      "scale", Kokkos::RangePolicy<Exec>(0, batch * heads * length), KOKKOS_LAMBDA(int row) {
        for (int c = 0; c < dim; ++c) data[std::size_t(row) * dim + c] *= 0.999f;
      });
}
bool const added = [] {
  using namespace kernels;
  add("rope/scale_in_place", scale);
  add("rope/in_place", [](Array x, Array) { rotate<float>(Exec(), Heads<float>(x), arrays().table, half); });
  add("rope/in_place_inverse",
      [](Array x, Array) { rotate<float>(Exec(), Heads<float>(x), arrays().table, half, true); });
  add("rope/in_place_interleaved",
      [](Array x, Array) { rotate<float>(Exec(), Heads<float>(x), arrays().table, interleaved); });
  add("rope/in_place_projected", [](Array x, Array) { rotate<float>(Exec(), projected(x), arrays().table, half); });
  add("rope/copy", [](Array x, Array out) { Kokkos::deep_copy(Exec(), out, x); });
  add("rope/copy_past_cache", [](Array x, Array out) {  // a turn of no head
    rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(out), arrays().table, {}, Writes::past_cache);
  });
  add("rope/out_of_place", [](Array x, Array out) {
    rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(out), arrays().table, half);
  });
  add("rope/out_of_place_interleaved", [](Array x, Array out) {
    rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(out), arrays().table, interleaved);
  });
  add("rope/out_of_place_half_of_the_channels", [](Array x, Array out) {
    rotate_into<float>(Exec(), Heads<float const>(x), Heads<float>(out), arrays().narrow, half);
  });
  add("rope/out_of_place_projected", [](Array x, Array out) {  // as Sextant keeps turned copies of a projection
    rotate_into<float>(Exec(), projected(x), Heads<float>(out), arrays().table, half);
  });
  return true;
}();
}  // namespace
}  // namespace sextant
