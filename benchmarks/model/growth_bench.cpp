// How time and memory grow with the length of a text: the loss of every token, one layer of 4 heads of 64, one row of 512 to
// 16384 tokens.
//
//   sextant_bench --benchmark_filter=growth      counters: time_LENGTH in seconds; time and memory: exponents (least squares of
//                                                the logarithms) over all lengths, and from 2048 on; last: time's between the last two
#include <benchmark/benchmark.h>
#include <peak.hpp>
#include <sextant/base/error.hpp>
#include <sextant/encoding/position.hpp>
#include <sextant/model/model.hpp>

#include <chrono>
#include <cmath>
#include <memory>

namespace sextant {
namespace {
using namespace model;

struct Point {
  double length, seconds, bytes;
};

Point measure(std::string const& use, int length) {
  ModelConfig config;
  config.layers = 1, config.width = 256, config.heads = config.kv_heads = 4, config.head_dim = 64;
  config.mlp_width = 688;
  encoding::Shape shape;
  shape.heads = shape.kv_heads = 4, shape.head_dim = 64, shape.model_dim = 256;
  Model<float> model(config,
                     std::make_shared<encoding::Position const>(encoding::PositionChoice{{{use, {}, {}}}, {}, length},
                                                                encoding::Registry::global(), shape),
                     1);
  View2<int> const text("text", 1, static_cast<std::size_t>(length) + 1);
  Stream const stream(1, "text");
  for (std::size_t i = 0; i < text.size(); ++i) text.data()[i] = static_cast<int>(stream.below(256, i));
  Batch const batch = next_token_batch(Exec(), text);
  View2<double> const nll("nll", 1, static_cast<std::size_t>(length));
  double best = 1e300;
  double const bytes = peak_of([&] {
    for (int run = 0; run < (length < 4096 ? 5 : 2); ++run) {
      auto const begin = std::chrono::steady_clock::now();
      model.loss_per_token(Exec(), batch, nll);
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
  });
  return {static_cast<double>(length), best, bytes};
}

/// Least squares slope of log y over log length.
double exponent(std::vector<Point> const& points, double Point::*y) {
  double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
  for (auto const& p : points) {
    double const a = std::log(p.length), b = std::log(p.*y);
    n += 1, sx += a, sy += b, sxx += a * a, sxy += a * b;
  }
  return (n * sxy - sx * sy) / (n * sxx - sx * sx);
}

void growth(benchmark::State& state, char const* use) {
  try {
    for (auto _ : state) {
      std::vector<Point> points;
      measure(use, 512);  // what a first pass leaves behind is not counted
      for (int length = 512; length <= 16384; length *= 2) {
        points.push_back(measure(use, length));
        state.counters["time_" + std::to_string(length)] = points.back().seconds;
      }
      state.counters["bytes_16384"] = points.back().bytes;
      state.counters["time"] = exponent(points, &Point::seconds);
      state.counters["last"] = exponent({points.end() - 2, points.end()}, &Point::seconds);
      state.counters["memory"] = exponent({points.begin() + 2, points.end()}, &Point::bytes);
    }
  } catch (Error const& error) {
    state.SkipWithError(error.what());
  }
}
BENCHMARK_CAPTURE(growth, nope, "nope")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(growth, rope, "rope")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(growth, alibi, "alibi")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(growth, fox, "fox")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
BENCHMARK_CAPTURE(growth, cope, "cope")->Iterations(1)->Unit(benchmark::kMillisecond)->UseRealTime();
}  // namespace
}  // namespace sextant
