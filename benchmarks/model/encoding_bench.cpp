// What an encoding costs a model: a training step against one of nope, the two in turns, and the memory of a long text.
//
//   sextant_bench --benchmark_filter=encoding_step     counters: to_nope, the median of the ratios of neighbouring steps
//   sextant_bench --benchmark_filter=encoding_memory   counters: extra_forward, extra_train: bytes beyond nope's peak
#include <benchmark/benchmark.h>
#include <peak.hpp>
#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/model/trainer.hpp>

#include <algorithm>
#include <chrono>
#include <map>
#include <memory>

namespace sextant {
namespace {
using namespace model;

/// A plugin by its defaults, or by the first example it gives of itself; a table as long as the text.
encoding::Choice choice_of(encoding::Description const& plugin, int length) {
  encoding::Choice choice{plugin.name, {}, {}};
  if (!plugin.examples.empty())
    choice.options = plugin.examples.front().options, choice.parts = plugin.examples.front().parts;
  for (auto const& option : plugin.options)
    if (option.name == "max_length") choice.options["max_length"] = static_cast<std::int64_t>(length);
  return choice;
}

ModelConfig config_of(int layers, int width, int heads) {
  ModelConfig config;
  config.layers = layers;
  config.width = width;
  config.heads = config.kv_heads = heads;
  config.head_dim = width / heads;
  config.mlp_width = 3 * width;
  return config;
}

std::unique_ptr<Model<float>> model_of(ModelConfig const& config, encoding::Choice const& choice, int length) {
  encoding::Shape const shape{
      .heads = config.heads, .kv_heads = config.kv_heads, .head_dim = config.head_dim, .model_dim = config.width};
  auto const position = std::make_shared<encoding::Position const>(encoding::PositionChoice{{choice}, {}, length},
                                                                   encoding::Registry::global(), shape, length);
  return std::make_unique<Model<float>>(config, position, 1);
}

Batch batch_of(int rows, int length) {
  View2<int> const text("text", rows, length + 1);
  Stream const stream(1, "text");
  for (std::size_t i = 0; i < text.size(); ++i) text.data()[i] = static_cast<int>(stream.below(256, i));
  return next_token_batch(Exec(), text);
}

/// Model and trainer of one encoding, with the steps it took planned.
struct Subject {
  std::unique_ptr<Model<float>> model;
  std::unique_ptr<Trainer<float>> trainer;
  Subject(ModelConfig const& config, encoding::Choice const& choice, Batch const& batch)
      : model(model_of(config, choice, batch.seq_len())) {
    TrainConfig options;
    options.schedule = {1e-3, 0, 1 << 20, 1.0};
    trainer = std::make_unique<Trainer<float>>(*model, options);
    trainer->step(Exec(), batch);
  }
  double step(Batch const& batch) {
    auto const start = std::chrono::steady_clock::now();
    benchmark::DoNotOptimize(trainer->step(Exec(), batch).loss);
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  }
};

/// 2 layers of 4 heads of 32, 8 rows of 256 bytes.
void encoding_step(benchmark::State& state, encoding::Choice choice) {
  auto const config = config_of(2, 128, 4);
  Batch const batch = batch_of(8, 256);
  try {
    Subject plain(config, {"nope", {}, {}}, batch), subject(config, choice, batch);
    std::vector<double> ratio;
    for (auto _ : state) {
      double const nope = plain.step(batch), mine = subject.step(batch);
      ratio.push_back(mine / nope);
      state.SetIterationTime(mine);
    }
    std::nth_element(ratio.begin(), ratio.begin() + static_cast<std::ptrdiff_t>(ratio.size() / 2), ratio.end());
    state.counters["to_nope"] = ratio[ratio.size() / 2];
  } catch (Error const& error) {
    state.SkipWithError(error.what());
  }
}

struct Peaks {
  double forward = 0, train = 0;
};
/// One layer of 4 heads of 64, one text.
Peaks peaks_of(encoding::Choice const& choice, int length) {
  auto const config = config_of(1, 256, 4);
  Peaks out;
  {
    auto const model = model_of(config, choice, length);
    Batch const batch = batch_of(1, length);
    View2<double> const nll("nll", 1, length);
    out.forward = peak_of([&] { model->loss_per_token(Exec(), batch, nll); });
  }
  auto const model = model_of(config, choice, length);
  Batch const batch = batch_of(1, length);
  out.train = peak_of([&] { model->loss_and_gradient(Exec(), batch); });
  return out;
}

void encoding_memory(benchmark::State& state, encoding::Choice choice) {
  int const length = static_cast<int>(state.range(0));
  static std::map<int, Peaks> plain;
  try {
    if (!plain.contains(length)) {
      peaks_of({"nope", {}, {}}, length);  // what a first pass leaves behind is not counted
      plain[length] = peaks_of({"nope", {}, {}}, length);
    }
    Peaks mine;
    for (auto _ : state) mine = peaks_of(choice, length);
    state.counters["extra_forward"] = mine.forward - plain[length].forward;
    state.counters["extra_train"] = mine.train - plain[length].train;
  } catch (Error const& error) {
    state.SkipWithError(error.what());
  }
}

}  // namespace

/// One benchmark of each kind for every encoding that the registry finds.
void register_encodings() {
  auto const& registry = encoding::Registry::global();
  for (auto const& name : registry.names(encoding::Role::encoding)) {
    auto const& plugin = registry.describe(encoding::Role::encoding, name);
    benchmark::RegisterBenchmark(("encoding_step/" + name).c_str(), encoding_step, choice_of(plugin, 256))
        ->UseManualTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("encoding_memory/" + name).c_str(), encoding_memory, choice_of(plugin, 8192))
        ->Arg(8192)
        ->Iterations(1)
        ->Unit(benchmark::kMillisecond);
  }
}

}  // namespace sextant
