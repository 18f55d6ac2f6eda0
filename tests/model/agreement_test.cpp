#include <sextant/base/error.hpp>
#include <sextant/model/trainer.hpp>

#include <catch2/catch_all.hpp>
#include <model/model_case.hpp>
#include <support/on_threads.hpp>

using namespace sextant;
using namespace sextant::model;

namespace {
constexpr int vocabulary = 13;

std::vector<std::vector<encoding::Choice>> const some_encodings = {
    {{"nope", {}, {}}}, {{"sinusoidal", {}, {}}}, {{"rope", {}, {}}}, {{"rope", {}, {}}, {"alibi", {}, {}}},
    {{"fox", {}, {}}},  {{"t5", {}, {}}},         {{"shaw", {}, {}}}, {{"transformer_xl", {}, {}}},
    {{"cope", {}, {}}}, {{"dape", {}, {}}}};

std::string label(std::vector<encoding::Choice> const& encodings) {
  std::string out;
  for (auto const& choice : encodings) out += (out.empty() ? "" : "+") + choice.use;
  return out;
}

Batch columns(Batch const& batch, int first, int count) {
  Batch part{View2<int>("tokens", batch.size(), count), {}, {}, {}};
  for (int b = 0; b < batch.size(); ++b)
    for (int i = 0; i < count; ++i) part.tokens(b, i) = batch.tokens(b, first + i);
  return part;
}

// Logits of the text read `chunk` tokens at a time into a cache.
template <class T>
View2<T> in_chunks(Model<T>& model, Batch const& batch, int chunk) {
  KvCache<T> cache(model.config(), batch.size(), batch.seq_len());
  View2<T> out("chunked", static_cast<std::size_t>(batch.count()), vocabulary);
  for (int first = 0; first < batch.seq_len(); first += chunk) {
    int const count = std::min(chunk, batch.seq_len() - first);
    View2<T> part("part", static_cast<std::size_t>(batch.size()) * count, vocabulary);
    model.logits(Exec(), columns(batch, first, count), cache, part);
    for (int b = 0; b < batch.size(); ++b)
      for (int i = 0; i < count; ++i)
        for (int v = 0; v < vocabulary; ++v) out(b * batch.seq_len() + first + i, v) = part(b * count + i, v);
  }
  CHECK(cache.length() == batch.seq_len());
  return out;
}

template <class T>
double row_difference(View2<T> const& x, int x_row, View2<T> const& y, int y_row) {
  double worst = 0;
  for (int v = 0; v < vocabulary; ++v)
    worst = std::max(worst, static_cast<double>(std::abs(x(x_row, v) - y(y_row, v))));
  return worst;
}
}  // namespace

TEST_CASE("model: a full pass, chunks and single tokens give the same logits", "[model][streaming]") {
  auto config = test::tiny_config();
  config.qk_norm = GENERATE(false, true);
  auto const batch = test::random_batch("streaming", 2, 71, vocabulary);
  for (auto const& encodings : some_encodings) {
    Model<float> model(config, test::make_position(config, encodings), 3);
    auto const full = test::all_logits(model, batch);
    for (int chunk : {1, 7, 64}) {
      INFO(label(encodings) << " in chunks of " << chunk);
      CHECK(test::largest_difference(in_chunks(model, batch, chunk), full) < 2e-5);
    }
  }
}

TEST_CASE("model: a key-value shift carries the token before across chunks, and stops at documents",
          "[model][streaming][kv_shift]") {
  auto config = test::tiny_config();
  config.kv_shift = true;
  config.qk_norm = GENERATE(false, true);
  auto const batch = test::random_batch("streaming", 2, 23, vocabulary);
  Model<double> model(config, test::make_position(config, "rope"), 3);
  auto const full = test::all_logits(model, batch);
  for (int chunk : {1, 7}) CHECK(test::largest_difference(in_chunks(model, batch, chunk), full) < 1e-12);
  auto without = config;
  without.kv_shift = false;
  Model<double> plain(without, test::make_position(config, "rope"), 3);
  CHECK(test::largest_difference(test::all_logits(plain, batch), full) > 1e-3);

  // Two documents in a row of 23: the second reads as it does alone.
  int const cut = 9, rest = 23 - cut;
  Batch packed = test::random_batch("streaming", 2, 23, vocabulary);
  packed.documents = View2<int>("documents", 2, 23);
  packed.positions = View2<double>("positions", 2, 23);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 23; ++i)
      packed.documents(b, i) = i < cut ? 0 : 1, packed.positions(b, i) = i < cut ? i : i - cut;
  auto const together = test::all_logits(model, packed);
  auto const alone = test::all_logits(model, columns(batch, cut, rest));
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < rest; ++i) CHECK(row_difference(together, b * 23 + cut + i, alone, b * rest + i) < 1e-12);
}

TEST_CASE("model: a cache of a model with key-value shift goes back to the start or not at all", "[model][kv_shift]") {
  auto config = test::tiny_config();
  config.kv_shift = true;
  Model<float> model(config, test::make_position(config, "rope"), 3);
  KvCache<float> cache(config, 1, 8);
  View2<float> const out("six", 6, vocabulary);
  model.logits(Exec(), test::random_batch("cache", 1, 6, vocabulary), cache, out);
  CHECK_THROWS_WITH(cache.truncate(3), Catch::Matchers::ContainsSubstring("cannot keep 3 of 6"));
  CHECK_NOTHROW(cache.truncate(0));
}

TEST_CASE("model: in double the same logits differ by rounding only", "[model][streaming]") {
  auto const config = test::tiny_config();
  auto const batch = test::random_batch("streaming", 2, 40, vocabulary);
  for (auto const& encodings : some_encodings) {
    Model<double> model(config, test::make_position(config, encodings), 3);
    auto const full = test::all_logits(model, batch);
    for (int chunk : {1, 7}) {
      INFO(label(encodings) << " in chunks of " << chunk);
      CHECK(test::largest_difference(in_chunks(model, batch, chunk), full) < 1e-12);
    }
  }
}

TEST_CASE("model: a row alone gives the bits it gives in a batch", "[model][batch]") {
  auto const config = test::tiny_config();
  auto const batch = test::random_batch("rows", 5, 37, vocabulary);
  for (auto const& encodings : some_encodings) {
    Model<float> model(config, test::make_position(config, encodings), 3);
    auto const full = test::all_logits(model, batch);
    for (int row : {0, 3}) {
      auto const alone = test::all_logits(model, batch.rows(row, 1));
      double worst = 0;
      for (int i = 0; i < 37; ++i) worst = std::max(worst, row_difference(alone, i, full, row * 37 + i));
      INFO(label(encodings) << ", row " << row);
      CHECK(worst == 0);
    }
  }
}

TEST_CASE("model: padding on either side and packing leave a text's logits as they are alone", "[model][batch]") {
  auto const config = test::tiny_config();
  int const length = 20, first = 7, second = 9;  // texts of 7 and 9 tokens in rows of 20
  auto const text = test::random_batch("texts", 2, length, vocabulary);
  for (auto const& encodings : some_encodings) {
    Model<float> model(config, test::make_position(config, encodings), 3);
    auto const one = columns(text.rows(0, 1), 0, first), two = columns(text.rows(1, 1), 0, second);
    auto const one_alone = test::all_logits(model, one), two_alone = test::all_logits(model, two);
    // Row 0: text one padded on the left. Row 1: text two padded on the right. Row 2: one and two packed.
    Batch batch{
        View2<int>("tokens", 3, length), {}, View2<double>("positions", 3, length), View2<int>("documents", 3, length)};
    Kokkos::deep_copy(batch.documents, -1);
    auto const put = [&](int row, int at, Batch const& from, int document) {
      for (int i = 0; i < from.seq_len(); ++i) {
        batch.tokens(row, at + i) = from.tokens(0, i);
        batch.positions(row, at + i) = i;
        batch.documents(row, at + i) = document;
      }
    };
    put(0, length - first, one, 0);
    put(1, 0, two, 0);
    put(2, 0, one, 4);
    put(2, first, two, 2);
    auto const together = test::all_logits(model, batch);
    double worst = 0;
    for (int i = 0; i < first; ++i) {
      worst = std::max(worst, row_difference(one_alone, i, together, length - first + i));
      worst = std::max(worst, row_difference(one_alone, i, together, 2 * length + i));
    }
    for (int i = 0; i < second; ++i) {
      worst = std::max(worst, row_difference(two_alone, i, together, length + i));
      worst = std::max(worst, row_difference(two_alone, i, together, 2 * length + first + i));
    }
    INFO(label(encodings));
    CHECK(worst < 1e-5);
  }
}

TEST_CASE("model digest, printed for the test on threads", "[.][model-digest]") {
  auto config = test::tiny_config();
  config.width = 48;
  config.mlp_width = 96;
  config.qk_norm = true;
  test::Digest digest;
  for (auto const& encodings : some_encodings) {
    Model<float> model(config, test::make_position(config, encodings), 3);
    TrainConfig options;
    options.schedule = {1e-2, 0, 2, 0.1};
    Trainer<float> trainer(model, options);
    for (int step = 0; step < 2; ++step) {
      auto const report = trainer.step(Exec(), test::random_batch(text("threads", step), 6, 211, vocabulary));
      digest.add_number(report.loss);
      digest.add_number(report.gradient_norm);
      digest.add(model.gradients());
      digest.add(model.parameters());
    }
    digest.add(test::all_logits(model, test::random_batch("threads", 3, 100, vocabulary)));
  }
  digest.print();
}

TEST_CASE("model: loss, gradients and trained parameters are the same bits on one, two and four threads",
          "[model][determinism]") {
  auto const digests = test::digests_on_threads("[model-digest]", {1, 2, 4});
  CHECK(digests[0] == digests[1]);
  CHECK(digests[0] == digests[2]);
}

TEST_CASE("model: without mask and encoding, shuffled input gives shuffled output; an encoding breaks it",
          "[model][law]") {
  auto config = test::tiny_config();
  config.causal = false;
  int const length = 11;
  auto const batch = test::random_batch("law", 1, length, vocabulary);
  auto const moved = [&](int i) { return (5 * i + 3) % length; };
  Batch shuffled{View2<int>("tokens", 1, length), {}, {}, {}};
  for (int i = 0; i < length; ++i) shuffled.tokens(0, moved(i)) = batch.tokens(0, i);
  for (auto const& encodings : some_encodings) {
    Model<double> model(config, test::make_position(config, encodings), 3);
    auto const plain = test::all_logits(model, batch), other = test::all_logits(model, shuffled);
    double worst = 0;
    for (int i = 0; i < length; ++i) worst = std::max(worst, row_difference(plain, i, other, moved(i)));
    INFO(label(encodings));
    bool const blind = label(encodings) == "nope" || label(encodings) == "cope";  // cope's vectors start at zero
    CHECK((worst < 1e-12) == blind);
  }
}

TEST_CASE("model: loss by token is the mean that training sees, and zero where nothing is predicted", "[model]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "rope"), 3);
  auto const batch = test::random_batch("loss", 3, 17, vocabulary);
  for (int i = 0; i < 17; ++i) batch.targets(1, i) = i % 3 ? batch.targets(1, i) : -1;
  View2<double> const nll("nll", 3, 17);
  model.loss_per_token(Exec(), batch, nll);
  double total = 0;
  int count = 0;
  for (int b = 0; b < 3; ++b)
    for (int i = 0; i < 17; ++i) {
      total += nll(b, i);
      count += batch.targets(b, i) >= 0;
      if (batch.targets(b, i) < 0) CHECK(nll(b, i) == 0);
    }
  CHECK(model.loss_and_gradient(Exec(), batch) == Catch::Approx(total / count).epsilon(1e-12));
}

TEST_CASE("model: the last logits of each row, and logits in pieces, are rows of all logits", "[model][logits]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "rope"), 3);
  for (int const rows : {1, 3}) {
    auto const batch = test::random_batch("last", rows, 17, vocabulary);
    auto const full = test::all_logits(model, batch);
    for (int const last : {1, 2, 17}) {
      INFO(rows << " rows, the last " << last);
      View2<float> const found("last", static_cast<std::size_t>(rows * last), vocabulary);
      KvCache<float> cache(config, rows, 17);
      for (bool const cached : {false, true}) {
        if (cached)
          model.logits(Exec(), batch, cache, found);
        else
          model.logits(Exec(), batch, found);
        for (int row = 0; row < rows; ++row)
          for (int i = 0; i < last; ++i)
            CHECK(row_difference(found, row * last + i, full, row * 17 + 17 - last + i) < (cached ? 2e-5 : 1e-30));
      }
    }
    std::int64_t next = 0;
    model.each_logits(Exec(), batch, [&](std::int64_t first, View2<float> const& logits) {
      CHECK(first == next);
      for (int i = 0; i < logits.extent_int(0); ++i) CHECK(row_difference(logits, i, full, int(first) + i) == 0);
      next = first + logits.extent_int(0);
    });
    CHECK(next == batch.count());
    View2<float> const wrong("wrong", static_cast<std::size_t>(rows * 17 + 1), vocabulary);
    CHECK_THROWS_WITH(model.logits(Exec(), batch, wrong), Catch::Matchers::ContainsSubstring("model: logits are ["));
  }
}

TEST_CASE("model: rows past those evaluated at once, and a vocabulary past the logits formed at once, change nothing",
          "[model][logits]") {
  auto config = test::tiny_config();
  config.vocabulary = 50000;  // 96 tokens' logits at once
  config.layers = 1;
  Model<float> model(config, test::make_position(config, "rope"), 3);
  auto const batch = test::random_batch("long", 1, 200, config.vocabulary);
  View2<double> const nll("nll", 1, 200);
  model.loss_per_token(Exec(), batch, nll);
  View2<float> const one("one", 1, 50000);
  std::int64_t next = 0;
  int pieces = 0;
  model.each_logits(Exec(), batch, [&](std::int64_t first, View2<float> const& logits) {
    CHECK(first == next);
    next = first + logits.extent_int(0), ++pieces;
    for (int i = 0; i < logits.extent_int(0); ++i) {
      double largest = -INFINITY, total = 0;
      for (int v = 0; v < 50000; ++v) largest = std::max(largest, double(logits(i, v)));
      for (int v = 0; v < 50000; ++v) total += std::exp(double(logits(i, v)) - largest);
      double const expected = largest + std::log(total) - double(logits(i, batch.targets(0, int(first) + i)));
      REQUIRE(nll(0, int(first) + i) == Catch::Approx(expected).epsilon(1e-5));
    }
  });
  CHECK(pieces == 3);
}

TEST_CASE(
    "model: an unfilled model is zero but for what its encoding trains, and takes memory for gradients when it trains",
    "[model][memory]") {
  auto const config = test::tiny_config();
  auto const position = test::make_position(config, "t5");
  Model<double> zero(config, position, 3, Start::zero), drawn(config, position, 3);
  for (auto const& slice : zero.layout().slices()) {
    auto const found = zero.parameter(slice.name), full = drawn.parameter(slice.name);
    double worst = 0, largest = 0;
    for (std::size_t i = 0; i < found.size(); ++i) {
      worst = std::max(worst, std::abs(found(i) - (slice.name.starts_with("position.") ? full(i) : 0)));
      largest = std::max(largest, std::abs(full(i)));
    }
    INFO(slice.name);
    CHECK(worst == 0);
    CHECK(largest > 0);
  }
  CHECK_THROWS_WITH(drawn.gradients(), "model: there are no gradients before the first loss_and_gradient");
  auto const batch = test::random_batch("memory", 2, 5, vocabulary);
  test::all_logits(drawn, batch);
  CHECK_THROWS_WITH(drawn.gradient("norm.weight"), "model: there are no gradients before the first loss_and_gradient");
  drawn.loss_and_gradient(Exec(), batch);
  CHECK(drawn.gradients().size() == drawn.layout().size());
}

TEST_CASE("model: the cache refuses more tokens than it has room for, and goes back", "[model][error]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "rope"), 3);
  auto const batch = test::random_batch("cache", 1, 6, vocabulary);
  KvCache<float> cache(config, 1, 8);
  View2<float> const six("six", 6, vocabulary), again("again", 6, vocabulary);
  model.logits(Exec(), batch, cache, six);
  CHECK_THROWS_WITH(model.logits(Exec(), batch, cache, again),
                    "model: 6 more tokens after 6 exceed the cache's capacity of 8");
  cache.truncate(0);
  model.logits(Exec(), batch, cache, again);
  CHECK(test::same_bits(six, again));
}

TEST_CASE("model: wrong tokens, shapes and configurations are named", "[model][error]") {
  auto config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "nope"), 3);
  auto const batch = test::random_batch("wrong", 2, 4, vocabulary);
  batch.tokens(1, 2) = 13;
  CHECK_THROWS_WITH(model.loss_and_gradient(Exec(), batch),
                    "batch: 1 tokens lie outside [0, 13), the model's vocabulary");
  config.kv_heads = 3;
  CHECK_THROWS_WITH(config.check(), "model.kv_heads is 3, expected a divisor of heads (4)");
  config = test::tiny_config();
  config.width = 24;
  CHECK_THROWS_WITH(
      Model<float>(config, test::make_position(test::tiny_config(), "nope"), 3),
      "model: the position block was made for heads 4, kv_heads 2, head_dim 6, width 12, expected 4, 2, 6, 24");
  CHECK_THROWS_WITH(model.parameter("layers.0.attention.querry.weight"),
                    "arena: no parameter is named layers.0.attention.querry.weight; did you mean "
                    "layers.0.attention.query.weight?");
}
