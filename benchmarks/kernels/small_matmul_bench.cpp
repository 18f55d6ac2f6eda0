// Products of one thread as links use them inside a strip: rows x cols x depth, with rows of the operands 512 apart as in
// [batch, len, heads, dim].
#include <benchmark/benchmark.h>
#include <sextant/kernels/small_matmul.hpp>

#include <vector>

namespace sextant {
namespace {
using Product = void (*)(float const*, std::ptrdiff_t, int, float const*, std::ptrdiff_t, int, int, float, float*,
                         std::ptrdiff_t, bool);

void product_bench(benchmark::State& state, Product product) {
  int const rows = state.range(0), cols = state.range(1), depth = state.range(2), most = std::max({rows, cols, depth});
  std::ptrdiff_t const stride = std::max(512, most) + 16;
  std::vector<float> a(stride * most, 0.5f), b(stride * most, 0.25f), c(stride * most);
  for (auto _ : state) {
    product(a.data(), stride, rows, b.data(), stride, cols, depth, 1.0f, c.data(), stride, false);
    benchmark::ClobberMemory();
  }
  double const done = 2e-9 * rows * cols * depth * static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
}

void scores(benchmark::internal::Benchmark* b) {  // rows x keys x dim
  b->ArgNames({"rows", "cols", "depth"})
      ->Args({24, 64, 64})
      ->Args({24, 1024, 64})
      ->Args({48, 1024, 64})
      ->Args({96, 1024, 64});
  b->Args({1, 1024, 64});
}
void outputs(benchmark::internal::Benchmark* b) {  // rows x dim x keys
  b->ArgNames({"rows", "cols", "depth"})
      ->Args({24, 64, 64})
      ->Args({24, 64, 1024})
      ->Args({96, 64, 1024})
      ->Args({1, 64, 1024});
}
void gradients(benchmark::internal::Benchmark* b) {  // keys x dim x rows
  b->ArgNames({"rows", "cols", "depth"})->Args({64, 64, 24})->Args({1024, 64, 24})->Args({1024, 64, 96});
}
BENCHMARK_CAPTURE(product_bench, nt, &kernels::small_nt<float>)->Name("small_matmul/nt")->Apply(scores);
BENCHMARK_CAPTURE(product_bench, nn, &kernels::small_nn<float>)->Name("small_matmul/nn")->Apply(outputs);
BENCHMARK_CAPTURE(product_bench, tn, &kernels::small_tn<float>)->Name("small_matmul/tn")->Apply(gradients);
}  // namespace
}  // namespace sextant
