// One training step, forward, backward and AdamW: tokens a second and the share of time that goes into matrix products'
// arithmetic. Arguments: tokens that go through at once (0: the whole batch of 4096 or 8192).
#include <benchmark/benchmark.h>
#include <sextant/encoding/position.hpp>
#include <sextant/model/trainer.hpp>

namespace sextant {
namespace {
using namespace model;

struct Size {
  int width, head_dim, mlp_width, seq_len, rows;
  Precision precision = Precision::fp32;
};
constexpr Size small{128, 32, 384, 256, 16}, wide{256, 64, 688, 512, 16},
    wide_bf16{256, 64, 688, 512, 16, Precision::bf16};

ModelConfig config_of(Size const& size) {
  ModelConfig config;
  config.width = size.width;
  config.head_dim = size.head_dim;
  config.mlp_width = size.mlp_width;
  config.precision = size.precision;
  return config;  // 4 layers, 4 heads, 256 bytes
}

std::shared_ptr<encoding::Position const> position_of(ModelConfig const& config, Size const& size,
                                                      std::string const& use) {
  encoding::Shape shape;
  shape.heads = config.heads;
  shape.kv_heads = config.kv_heads;
  shape.head_dim = config.head_dim;
  shape.model_dim = config.width;
  return std::make_shared<encoding::Position const>(encoding::PositionChoice{{{use, {}, {}}}, {}, size.seq_len},
                                                    encoding::Registry::global(), shape);
}

void train_step(benchmark::State& state, Size size, char const* use) {
  ModelConfig const config = config_of(size);
  Model<float> model(config, position_of(config, size, use), 1);
  TrainConfig options;
  options.schedule = {1e-3, 0, 1 << 20, 1.0};
  options.pass.tokens_at_once = static_cast<int>(state.range(0));
  Trainer<float> trainer(model, options);
  View2<int> const text("text", size.rows, size.seq_len + 1);
  Stream const stream(1, "text");
  for (std::size_t i = 0; i < text.size(); ++i) text.data()[i] = static_cast<int>(stream.below(256, i));
  Batch const batch = next_token_batch(Exec(), text);
  Kokkos::fence();
  trainer.step(Exec(), batch);  // plans its memory
  for (auto _ : state) benchmark::DoNotOptimize(trainer.step(Exec(), batch).loss);
  double const tokens = static_cast<double>(batch.count()) * static_cast<double>(state.iterations());
  // 6 per weight and token; attention: 12 L / 2 per channel of width, forward and backward.
  double const flop =
      6.0 * static_cast<double>(model.layout().size()) + 6.0 * size.seq_len * config.layers * config.query_width();
  state.counters["tokens"] = benchmark::Counter(tokens, benchmark::Counter::kIsRate);
  state.counters["flop"] = benchmark::Counter(tokens * flop, benchmark::Counter::kIsRate);
}

#define SEXTANT_BENCH(size, use)                          \
  BENCHMARK_CAPTURE(train_step, size##_##use, size, #use) \
      ->Arg(0)                                            \
      ->Arg(1024)                                         \
      ->UseRealTime()                                     \
      ->Unit(benchmark::kMillisecond)
SEXTANT_BENCH(small, nope);
SEXTANT_BENCH(small, rope);
SEXTANT_BENCH(small, alibi);
SEXTANT_BENCH(wide, rope);
SEXTANT_BENCH(wide_bf16, rope);
#undef SEXTANT_BENCH

}  // namespace
}  // namespace sextant
