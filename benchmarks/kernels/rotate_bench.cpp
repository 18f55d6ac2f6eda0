// RoPE on query and key of [4, 16, 4096, 128], half pairing: in place, beside an in-place scaling and a copy of the same bytes.
#include <benchmark/benchmark.h>
#include <sextant/kernels/rotate.hpp>

#include <cmath>

namespace sextant {
namespace {
constexpr int batch = 4, heads = 16, length = 4096, dim = 128;

struct Arrays {
  View4<float> q{"q", batch, heads, length, dim}, k{"k", batch, heads, length, dim};
  View4<float> q_out{"q out", batch, heads, length, dim}, k_out{"k out", batch, heads, length, dim};
  kernels::RotationTable<float> table;
  Arrays() {
    Kokkos::deep_copy(q, 0.5f), Kokkos::deep_copy(k, 0.25f), Kokkos::deep_copy(q_out, 0), Kokkos::deep_copy(k_out, 0);
    View4<double> const phase("phase", 1, 1, length, 1);
    for (int i = 0; i < length; ++i) phase(0, 0, i, 0) = i;
    kernels::Spectra spectra{View4<double>("inv_freq", 1, 1, 1, dim / 2), View1<double>("factor", 1), {}};
    spectra.factor(0) = 1;
    for (int p = 0; p < dim / 2; ++p) spectra.inv_freq(0, 0, 0, p) = std::pow(1e4, -2.0 * p / dim);
    kernels::form_rotation<float>(Exec(), phase, spectra, 1, table);
  }
};
Arrays& arrays() {
  static auto* const made = new Arrays;  // outlives Kokkos on purpose: nothing is freed after its end
  return *made;
}

void count(benchmark::State& state, double bytes_an_entry) {
  state.SetBytesProcessed(state.iterations() * std::int64_t(2 * bytes_an_entry * batch * heads * length * dim));
}

void rope_in_place(benchmark::State& state) {
  auto& a = arrays();
  for (auto _ : state)
    for (auto const& x : {a.q, a.k}) kernels::rotate<float>(Exec(), Heads<float>(x), a.table, {0, heads, 0, false});
  count(state, 8);
}
void scale_in_place(benchmark::State& state) {
  auto& a = arrays();
  for (auto _ : state)
    for (auto const& x : {a.q, a.k}) {
      float* const data = x.data();
      Kokkos::parallel_for(
          "scale", Kokkos::RangePolicy<Exec>(0, batch * heads * length), KOKKOS_LAMBDA(int row) {
            for (int c = 0; c < dim; ++c) data[std::size_t(row) * dim + c] *= 0.999f;
          });
    }
  count(state, 8);
}
void rope_out_of_place(benchmark::State& state) {
  auto& a = arrays();
  for (auto _ : state) {
    kernels::rotate_into<float>(Exec(), Heads<float const>(a.q), Heads<float>(a.q_out), a.table, {0, heads, 0, false});
    kernels::rotate_into<float>(Exec(), Heads<float const>(a.k), Heads<float>(a.k_out), a.table, {0, heads, 0, false});
  }
  count(state, 8);
}
void copy(benchmark::State& state) {
  auto& a = arrays();
  for (auto _ : state) {
    Kokkos::deep_copy(Exec(), a.q_out, a.q);
    Kokkos::deep_copy(Exec(), a.k_out, a.k);
  }
  count(state, 8);
}

BENCHMARK(rope_in_place)->Name("rope/in_place")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(scale_in_place)->Name("rope/scale_in_place")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(rope_out_of_place)->Name("rope/out_of_place")->UseRealTime()->Unit(benchmark::kMillisecond);
BENCHMARK(copy)->Name("rope/copy")->UseRealTime()->Unit(benchmark::kMillisecond);
}  // namespace
}  // namespace sextant
