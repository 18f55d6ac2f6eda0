#include <sextant/base/error.hpp>
#include <sextant/model/trainer.hpp>

#include <catch2/catch_all.hpp>
#include <model/model_case.hpp>

using namespace sextant;
using namespace sextant::model;
using Catch::Matchers::ContainsSubstring;

namespace {
ModelConfig in(Precision precision, ModelConfig config = test::tiny_config()) {
  config.precision = precision;
  return config;
}

ModelConfig small_config() {
  ModelConfig config;
  config.vocabulary = 32, config.layers = 2, config.width = 64, config.heads = 4, config.kv_heads = 2;
  config.head_dim = 16, config.mlp_width = 96;
  return config;
}

std::vector<double> doubles(View1<float> const& x) { return {x.data(), x.data() + x.size()}; }

/// |x - y| / |y|
double distance(std::vector<double> const& x, std::vector<double> const& y) {
  double apart = 0, size = 0;
  for (std::size_t i = 0; i < x.size(); ++i) apart += (x[i] - y[i]) * (x[i] - y[i]), size += y[i] * y[i];
  return std::sqrt(apart / size);
}
}  // namespace

TEST_CASE("bf16: a model follows that of floats to a few roundings, and is not the same", "[model][bf16]") {
  for (char const* use : {"rope", "alibi", "fox", "cope", "rerope"}) {
    Model<float> wide(in(Precision::fp32), test::make_position(in(Precision::fp32), use), 1),
        narrow(in(Precision::bf16), test::make_position(in(Precision::bf16), use), 1);
    auto const batch = test::random_batch("text", 2, 17, 13);
    auto const exact = test::all_logits(wide, batch), rounded = test::all_logits(narrow, batch);
    double size = 0;
    for (std::size_t i = 0; i < exact.size(); ++i) size = std::max(size, double(std::abs(exact.data()[i])));
    double const off = test::largest_difference(exact, rounded) / size;
    INFO(use << ": " << off);
    CHECK(off < 8 * 0x1p-8);
    CHECK(off > 0x1p-12);
    double const loss = wide.loss_and_gradient(Exec(), batch), near = narrow.loss_and_gradient(Exec(), batch);
    CHECK(std::abs(near - loss) < 0.01 * loss);
    double const apart = distance(doubles(narrow.gradients()), doubles(wide.gradients()));
    INFO("gradients " << apart);
    CHECK(apart < 8 * 0x1p-8);
  }
}

TEST_CASE("bf16: decoding from a cache, by tokens or by chunks, gives what a whole pass gives",
          "[model][bf16][decode]") {
  int const length = 48;
  auto const config = in(Precision::bf16, small_config());
  Model<float> model(config, test::make_position(config, "rope"), 1);
  auto const batch = test::random_batch("text", 2, length, 32);
  auto const whole = test::all_logits(model, batch);
  View2<float> const logits("logits", 2, 32);
  for (int const step : {1, 16}) {  // few rows multiply floats, many may multiply pairs of bf16
    KvCache<float> cache(config, 2, length);
    double worst = 0;
    for (int at = 0; at < length; at += step) {
      View2<int> const token("token", 2, step);
      for (int b = 0; b < 2; ++b)
        for (int i = 0; i < step; ++i) token(b, i) = batch.tokens(b, at + i);
      model.logits(Exec(), {token, {}, {}, {}}, cache, logits);
      for (int b = 0; b < 2; ++b)
        for (int v = 0; v < 32; ++v)
          worst = std::max(worst, double(std::abs(logits(b, v) - whole(b * length + at + step - 1, v))));
    }
    INFO("by " << step);
    CHECK(worst < 0.02);  // sums run in other orders, and a rounding may fall the other way
  }
}

TEST_CASE("bf16: training converges as in floats", "[model][bf16][trainer]") {
  TrainConfig options;
  options.schedule = {3e-3, 5, 80, 0.1};
  View2<int> text("text", 8, 33);  // rows of a period each: learnt by looking back
  Stream const stream(3, "periods");
  for (int b = 0; b < 8; ++b)
    for (int i = 0; i < 33; ++i) text(b, i) = static_cast<int>(stream.below(32, b * 64 + i % (3 + b)));
  auto const batch = next_token_batch(Exec(), text);
  double last[2] = {}, first[2] = {};
  for (Precision const precision : {Precision::fp32, Precision::bf16}) {
    auto const config = in(precision, small_config());
    Model<float> model(config, test::make_position(config, "rope"), 1);
    Trainer<float> trainer(model, options);
    int const n = static_cast<int>(precision);
    for (int step = 0; step < 80; ++step) {
      double const loss = trainer.step(Exec(), batch).loss;
      (step == 0 ? first : last)[n] = loss;
    }
  }
  INFO("fp32 " << first[0] << " to " << last[0] << ", bf16 " << first[1] << " to " << last[1]);
  CHECK(last[0] < 0.5 * first[0]);
  CHECK(std::abs(last[1] - last[0]) < 0.02 * first[0]);
}

TEST_CASE("bf16: an evaluation sees weights that were written after the last one", "[model][bf16]") {
  auto const config = in(Precision::bf16);
  Model<float> model(config, test::make_position(config, "rope"), 1);
  auto other = model.with_position(test::make_position(config, "nope"));
  auto const batch = test::random_batch("text", 1, 9, 13);
  auto const before = test::all_logits(other, batch);
  for (float* x = model.parameters().data(); x < model.parameters().data() + 200; ++x) *x *= 1.5f;
  CHECK(test::largest_difference(test::all_logits(other, batch), before) > 0.01);
}

TEST_CASE("bf16: a model of doubles refuses it", "[model][bf16][error]") {
  auto const config = in(Precision::bf16);
  CHECK_THROWS_WITH(Model<double>(config, test::make_position(config, "rope"), 1),
                    ContainsSubstring("precision bf16 is for a model of floats"));
}
