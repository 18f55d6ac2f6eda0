// SmolLM2-135M from the model cache: reading a long text, its loss, and decoding token by token.
//
//   sextant_bench --benchmark_filter=smollm2       counters: tokens a second; peak: bytes while at work beside the weights;
//                                                  weights: peak bytes of loading the model; cache: bytes of keys and values
#include <benchmark/benchmark.h>
#include <peak.hpp>
#include <sextant/base/error.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/tasks/corpus.hpp>

#include <algorithm>
#include <map>
#include <optional>

namespace sextant {
namespace {
using namespace model;

struct Loaded {
  std::optional<Model<float>> model;
  double bytes = 0;
  std::string missing;
  explicit Loaded(Precision precision) {
    try {
      auto const path = pretrained::find_model("smollm2", tasks::default_cache());
      bytes = peak_of([&] {
        auto const& registry = encoding::Registry::global();
        auto source = pretrained::open_source(path, registry);
        source.description.config.precision = precision;
        model.emplace(pretrained::load<float>(source, pretrained::position_of(source.description, registry)));
      });
    } catch (Error const& error) {
      missing = error.what();
    }
  }
};
std::map<Precision, Loaded>& models() {
  static std::map<Precision, Loaded> all;
  return all;
}
Loaded& loaded(Precision precision) { return models().try_emplace(precision, precision).first->second; }

Batch text_of(int length, int vocabulary) {
  View2<int> const text("text", 1, static_cast<std::size_t>(length) + 1);
  Stream const stream(1, "text");
  for (std::size_t i = 0; i < text.size(); ++i) text.data()[i] = static_cast<int>(stream.below(vocabulary, i));
  return next_token_batch(Exec(), text);
}

/// work(model, batch) on a text of `length` tokens, or a word on why not.
template <class F>
void with_text(benchmark::State& state, Precision precision, int length, F const& work) {
  Loaded& at = loaded(precision);
  if (!at.model) return state.SkipWithError(at.missing.c_str());
  Model<float>& model = *at.model;
  work(model, text_of(length, model.config().vocabulary));
  state.counters["weights"] = at.bytes;
}

void count_tokens(benchmark::State& state, int tokens) {
  state.counters["tokens"] = benchmark::Counter(static_cast<double>(tokens) * static_cast<double>(state.iterations()),
                                                benchmark::Counter::kIsRate);
}

/// The text at once into a cache, with the logits of its last token.
void smollm2_prefill(benchmark::State& state, Precision precision) {
  int const length = static_cast<int>(state.range(0));
  with_text(state, precision, length, [&](Model<float>& model, Batch const& batch) {
    View2<float> const logits("logits", 1, static_cast<std::size_t>(model.config().vocabulary));
    double bytes = 0;
    double const peak = peak_of([&] {
      KvCache<float> cache(model.config(), 1, length);
      for (auto _ : state) {
        cache.truncate(0);
        model.logits(Exec(), batch, cache, logits);
      }
      bytes = static_cast<double>(cache.bytes());
    });
    count_tokens(state, length);
    state.counters["peak"] = peak;
    state.counters["cache"] = bytes;
  });
}

/// The loss of every token of the text.
void smollm2_loss(benchmark::State& state, Precision precision) {
  int const length = static_cast<int>(state.range(0));
  with_text(state, precision, length, [&](Model<float>& model, Batch const& batch) {
    View2<double> const nll("nll", 1, static_cast<std::size_t>(length));
    double const peak = peak_of([&] {
      for (auto _ : state) model.loss_per_token(Exec(), batch, nll);
    });
    count_tokens(state, length);
    state.counters["peak"] = peak;
  });
}

/// One token after another behind a text that was read before.
void smollm2_decode(benchmark::State& state, Precision precision) {
  int const length = static_cast<int>(state.range(0)), steps = 16;
  with_text(state, precision, length, [&](Model<float>& model, Batch const& batch) {
    View2<float> const logits("logits", 1, static_cast<std::size_t>(model.config().vocabulary));
    KvCache<float> cache(model.config(), 1, length + steps);
    model.logits(Exec(), batch, cache, logits);
    View2<int> const token("token", 1, 1);
    double const peak = peak_of([&] {
      for (auto _ : state) {
        cache.truncate(length);
        for (int step = 0; step < steps; ++step) {
          token(0, 0) =
              static_cast<int>(std::max_element(logits.data(), logits.data() + logits.size()) - logits.data());
          model.logits(Exec(), {token, {}, {}, {}}, cache, logits);
        }
      }
    });
    count_tokens(state, steps);
    state.counters["peak"] = peak;
  });
}

#define SEXTANT_BENCH(what, ...)                                        \
  BENCHMARK_CAPTURE(smollm2_##what, fp32, Precision::fp32) __VA_ARGS__; \
  BENCHMARK_CAPTURE(smollm2_##what, bf16, Precision::bf16) __VA_ARGS__
SEXTANT_BENCH(prefill, ->Arg(2048)->Arg(8192)->Arg(16384)->UseRealTime()->Unit(benchmark::kMillisecond));
SEXTANT_BENCH(loss, ->Arg(2048)->Arg(8192)->Arg(16384)->UseRealTime()->Unit(benchmark::kMillisecond));
SEXTANT_BENCH(decode, ->Arg(512)->Arg(8192)->UseRealTime()->Unit(benchmark::kMillisecond));
#undef SEXTANT_BENCH

}  // namespace

void forget_models() { models().clear(); }

}  // namespace sextant
