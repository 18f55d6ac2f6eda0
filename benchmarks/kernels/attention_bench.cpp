// Attention, forward and forward with backward: plain, with a bias table by distance, with a link that scans rows, with two
// branches by distance (`with` 0 to 3). Counts 2 L^2 D a head forward
// (causal: the visible half of 4 L^2 D) and 3.5 times that with backward; `of_peak` is the share of the multiply-add
// peak of floats that this binary measures on the same threads: bf16's is up to twice as high.
#include <benchmark/benchmark.h>
#include <sextant/base/bfloat16.hpp>
#include <sextant/kernels/attention.hpp>
#include <sextant/kernels/simd.hpp>

#include <chrono>
#include <vector>

#include "support/random.hpp"

namespace sextant {
namespace {
using namespace kernels;

// 12 independent sums in registers: 2 flops a lane and step.
double multiply_adds(long steps) {
  using simd::Vec;
  Vec<float> const a = simd::broadcast(0.999999f), b = simd::broadcast(1e-9f);
  Vec<float> x[12];
  simd::unroll<12>([&](auto i) SEXTANT_INLINE_LAMBDA { x[i] = simd::broadcast(0.001f * i); });
  for (long k = 0; k < steps; ++k)
    simd::unroll<12>([&](auto i) SEXTANT_INLINE_LAMBDA {
      x[i] = x[i] * a + b;
      asm volatile("" : "+x"(x[i]));  // each step for itself
    });
  simd::unroll<11>([&](auto i) SEXTANT_INLINE_LAMBDA { x[0] += x[i + 1]; });
  return simd::sum<float>(x[0]);
}

/// GFLOP/s of all threads: the best of several runs.
double peak() {
  static double const best = [] {
    long const steps = 5'000'000;
    int const threads = concurrency();
    double found = 0;
    for (int run = 0; run < 7; ++run) {
      auto const begin = std::chrono::steady_clock::now();
      Kokkos::parallel_for("peak", Kokkos::RangePolicy<Exec>(0, threads),
                           [=](int) { benchmark::DoNotOptimize(multiply_adds(steps)); });
      Kokkos::fence();
      std::chrono::duration<double> const seconds = std::chrono::steady_clock::now() - begin;
      found = std::max(found, 24.0 * simd::width<float> * steps * threads / seconds.count() * 1e-9);
    }
    return found;
  }();
  return best;
}

/// A bias by distance, one table a head; the gradient is summed by (batch, head).
struct Table final : TileModifier<float> {
  int heads, length;
  std::vector<float> bias, grad;
  Table(int batch, int heads_, int length_)
      : heads(heads_), length(length_), bias(heads * 2ul * length), grad(batch * heads * 2ul * length) {
    for (std::size_t i = 0; i < bias.size(); ++i) bias[i] = -0.01f * (i % 97);
  }
  // ascending in the key: entry length + key - query
  void forward(Tile<float> const& t) const override {
    for (int r = 0; r < t.rows; ++r) {
      float const* const from = bias.data() + 2ul * length * t.head + length + t.col - t.row - r;
      float* const to = t.logit + r * t.stride;
      for (int c = 0; c < t.cols; ++c) to[c] += from[c];
    }
  }
  void backward(Tile<float> const& t, float const* g, int stride) override {
    for (int r = 0; r < t.rows; ++r) {
      float* const to = grad.data() + 2ul * length * (t.batch * heads + t.head) + length + t.col - t.row - r;
      float const* const from = g + r * stride;
      for (int c = 0; c < t.cols; ++c) to[c] += from[c];
    }
  }
};

/// logit(j) -= w * sum over t > j of g(logit(t)), g a cheap sigmoid; the sums of eight rows run side by side.
struct Scan final : RowLink<float> {
  static constexpr float w = 0.01f;
  static float gate(float x) {
    x = std::max(x, -1e6f);
    return 0.5f + 0.5f * x / (1 + std::abs(x));
  }
  static float slope(float g) { return g < 0.5f ? 2 * g * g : 2 * (1 - g) * (1 - g); }
  int notes() const override { return 1; }
  void forward(Strip<float> const& s, Operands<float> const&) const override {
    for (int r = 0; r < s.rows; ++r) {
      float const* const x = s.logit + r * s.stride;
      float* const note = s.note(0) + r * s.stride;
      for (int j = 0; j < s.cols; ++j) note[j] = gate(x[j]);
    }
    for (int r = 0; r < s.rows; r += 8) {
      float sum[8] = {};
      int const rows = std::min(8, s.rows - r);
      for (int j = s.cols - 1; j >= 0; --j)
        for (int k = 0; k < rows; ++k) {
          std::ptrdiff_t const at = (r + k) * s.stride + j;
          s.logit[at] -= w * sum[k];
          sum[k] += s.note(0)[at];
        }
    }
  }
  void backward(Strip<float> const& s, Operands<float> const&, float* grad, OperandGradients<float> const&) override {
    for (int r = 0; r < s.rows; r += 8) {
      float sum[8] = {};
      int const rows = std::min(8, s.rows - r);
      for (int j = 0; j < s.cols; ++j)
        for (int k = 0; k < rows; ++k) {
          std::ptrdiff_t const at = (r + k) * s.stride + j;
          float const own = grad[at];
          grad[at] -= w * sum[k] * slope(s.note(0)[at]);
          sum[k] += own;
        }
    }
  }
};

/// Branch 0 nearer than `reach`, branch 1 beyond.
struct NearFar final : BranchRule {
  double reach = 256;
  int uniform(int, double const* query, int rows, double const* key, int cols) const override {
    double const most = query[rows - 1] - key[0], least = query[0] - key[cols - 1];
    return most < reach ? 0 : least >= reach ? 1 : mixed;
  }
  void select(int, double const* query, int rows, double const* key, int cols, signed char* out) const override {
    for (int r = 0; r < rows; ++r)
      for (int j = 0; j < cols; ++j) *out++ = query[r] - key[j] >= reach;
  }
};

enum With : long { plain, biased, scanned, branched };

struct Run {
  int batch, heads, kv_heads, queries, keys, dim;
  Heads<float> q, k, v, g, out, dq, dk, dv;
  View3<float> log_sum_exp;
  Table table;
  Scan scan;
  NearFar rule;
  BranchGradients<float> branches;
  AttentionInput<float> in;
  AttentionWorkspace workspace;

  Run(int b, int h, int hk, int lq, int lk, int d, long with, Precision precision = Precision::fp32)
      : batch(b),
        heads(h),
        kv_heads(hk),
        queries(lq),
        keys(lk),
        dim(d),
        q(make(h, lq)),
        k(make(hk, lk)),
        v(make(hk, lk)),
        g(make(h, lq)),
        out(make(h, lq)),
        dq(make(h, lq)),
        dk(make(hk, lk)),
        dv(make(hk, lk)),
        log_sum_exp("log_sum_exp", b, h, lq),
        table(b, h, lk) {
    in.query = q, in.key = k, in.value = v;
    in.query_position = View2<double>("query_position", 1, lq);
    in.key_position = View2<double>("key_position", 1, lk);
    for (int i = 0; i < lq; ++i) in.query_position(0, i) = lk - lq + i;
    for (int j = 0; j < lk; ++j) in.key_position(0, j) = j;
    in.precision = precision;
    if (precision == Precision::bf16)
      for (auto const& x : {q, k, v})
        for (std::size_t i = 0; i < x.span(); ++i) x.data()[i] = round_to_bf16(x.data()[i]);
    if (with == biased) in.modifiers = {&table};
    if (with == scanned) in.rows = {&scan};
    if (with != branched) return;
    in.branch_rule = &rule;
    in.more_query = {make(h, lq)}, in.more_key = {make(hk, lk)};
    branches.query = {make(h, lq)}, branches.key = {make(hk, lk)};
  }
  Heads<float> make(int h, int l) const {
    Heads<float> const x = test::zero_heads<float>(batch, h, l, dim);
    for (std::size_t i = 0; i < x.span(); ++i)
      x.data()[i] = 0.001f * static_cast<float>((i * 2654435761u >> 7) % 2000) - 1;
    return x;
  }
  void forward() { attention_forward<float>(Exec(), in, out, log_sum_exp, workspace); }
  void backward() { attention_backward<float>(Exec(), in, out, log_sum_exp, g, dq, dk, dv, workspace, branches); }

  void report(benchmark::State& state, double flops) const {
    double const done = flops * static_cast<double>(state.iterations()) * 1e-9;
    state.counters["GFLOP/s"] = benchmark::Counter(done, benchmark::Counter::kIsRate);
    state.counters["of_peak"] = benchmark::Counter(done / peak(), benchmark::Counter::kIsRate);
    state.counters["peak"] = peak();
  }
  double forward_flops() const { return 2.0 * batch * heads * static_cast<double>(keys) * keys * dim; }
};

void attention_forward_bench(benchmark::State& state, Precision precision) {
  Run run(state.range(0), state.range(1), state.range(1), state.range(2), state.range(2), state.range(3),
          state.range(4), precision);
  run.forward();
  for (auto _ : state) run.forward();
  run.report(state, run.forward_flops());
}

void attention_both_bench(benchmark::State& state, Precision precision) {
  Run run(state.range(0), state.range(1), state.range(1), state.range(2), state.range(2), state.range(3),
          state.range(4), precision);
  run.forward(), run.backward();
  for (auto _ : state) run.forward(), run.backward();
  run.report(state, 3.5 * run.forward_flops());
}

// One new token against a cache; bytes are the keys and values, read once.
void attention_decode_bench(benchmark::State& state) {
  int const heads = state.range(1), kv_heads = state.range(2), keys = state.range(3), dim = state.range(4);
  Run run(state.range(0), heads, kv_heads, 1, keys, dim, state.range(5));
  run.forward();
  for (auto _ : state) run.forward();
  state.SetBytesProcessed(state.iterations() * 2 * 4 * state.range(0) * kv_heads * keys * dim);
}

void sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"B", "H", "L", "D", "with"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (long const with : {plain, biased, scanned, branched}) {
    b->Args({1, 8, 4096, 64, with});
    b->Args({1, 4, 4096, 128, with});
    b->Args({16, 4, 256, 32, with});
    b->Args({16, 4, 256, 64, with});
    b->Args({2, 4, 2048, 32, with});
    if (with == plain) b->Args({16, 4, 512, 64, with});
  }
}
void bf16_sizes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"B", "H", "L", "D", "with"})->Unit(benchmark::kMillisecond)->UseRealTime();
  for (long const with : {plain, biased}) b->Args({1, 8, 4096, 64, with})->Args({16, 4, 512, 64, with});
}
BENCHMARK_CAPTURE(attention_forward_bench, fp32, Precision::fp32)->Name("attention/forward")->Apply(sizes);
BENCHMARK_CAPTURE(attention_both_bench, fp32, Precision::fp32)->Name("attention/forward+backward")->Apply(sizes);
BENCHMARK_CAPTURE(attention_forward_bench, bf16, Precision::bf16)->Name("attention/forward_bf16")->Apply(bf16_sizes);
BENCHMARK_CAPTURE(attention_both_bench, bf16, Precision::bf16)
    ->Name("attention/forward+backward_bf16")
    ->Apply(bf16_sizes);
BENCHMARK(attention_decode_bench)
    ->Name("attention/decode")
    ->ArgNames({"B", "H", "Hkv", "L", "D", "with"})
    ->Args({1, 8, 8, 4096, 64, 0})
    ->Args({1, 8, 8, 4096, 64, 1})
    ->Args({1, 8, 8, 4096, 64, 2})
    ->Args({1, 8, 8, 4096, 64, 3})
    ->Args({1, 32, 8, 32768, 128, 0})
    ->Unit(benchmark::kMicrosecond)
    ->UseRealTime();
}  // namespace
}  // namespace sextant
