// Frequencies that follow the length of each sequence: batches, documents, padding, caches, training.
#include "model/model_case.hpp"

#include <catch2/catch_all.hpp>

using namespace sextant;
using namespace sextant::model;

namespace length_test {
namespace {
constexpr int vocabulary = 13, trained = 64;
encoding::Choice const rope{"rope", {}, {}};

std::vector<encoding::Choice> const& followers() {  // heads of 6 channels have three pairs
  static std::vector<encoding::Choice> const all{{"dynamic", {{"factor", 2.0}}, {}},
                                                 {"dynamic_yarn", {}, {}},
                                                 {"longrope",
                                                  {{"factor", 4.0},
                                                   {"short_factor", std::vector<double>{1, 1, 1}},
                                                   {"long_factor", std::vector<double>{1, 2.5, 4}}},
                                                  {}}};
  return all;
}

template <class T>
Model<T> model_of(encoding::Choice const& scaling, encoding::Choice const& encoding = rope) {
  auto config = test::tiny_config();
  config.kv_heads = config.heads;
  return Model<T>(config, test::make_position(config, {encoding}, {scaling}, trained), 3);
}

Batch columns(Batch const& batch, int first, int count) {
  Batch out;
  out.tokens = View2<int>("tokens", batch.size(), count);
  if (batch.documents.size()) out.documents = View2<int>("documents", batch.size(), count);
  if (batch.positions.size()) out.positions = View2<double>("positions", batch.size(), count);
  for (int b = 0; b < batch.size(); ++b)
    for (int i = 0; i < count; ++i) {
      out.tokens(b, i) = batch.tokens(b, first + i);
      if (batch.documents.size()) out.documents(b, i) = batch.documents(b, first + i);
      if (batch.positions.size()) out.positions(b, i) = batch.positions(b, first + i);
    }
  return out;
}

template <class T>
std::vector<T> rows(View2<T> const& logits, int first, int count) {
  return {&logits(first, 0), &logits(first, 0) + static_cast<std::size_t>(count) * vocabulary};
}

template <class T>
double worst(std::vector<T> const& a, std::vector<T> const& b) {
  double out = a.size() == b.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) out = std::max<double>(out, std::abs(a[i] - b[i]));
  return out;
}

/// Decodes from 60 tokens on, `chunk` at a time; the worst difference from full passes over as many tokens.
template <class T>
double decoding_error(Model<T>& model, Batch const& batch, int chunk) {
  int const n = batch.size();
  KvCache<T> cache(model.config(), n, batch.seq_len());
  double error = 0;
  for (int first = 0; first < batch.seq_len();) {
    int const count = first == 0 ? 60 : std::min(chunk, batch.seq_len() - first);
    View2<T> const out("out", n * count, vocabulary);
    model.logits(Exec(), columns(batch, first, count), cache, out);
    first += count;
    auto const full = test::all_logits(model, columns(batch, 0, first));
    for (int b = 0; b < n; ++b)
      error = std::max(error, worst(rows(out, b * count, count), rows(full, (b + 1) * first - count, count)));
  }
  return error;
}
}  // namespace

TEST_CASE("length: decoding from 60 to 100 tokens past a trained length of 64 gives what full passes give",
          "[model][length][R07]") {
  auto const batch = test::random_batch("length", 1, 100, vocabulary);
  for (auto const& scaling : followers())
    for (int chunk : {1, 7}) {
      INFO(scaling.use << " in chunks of " << chunk);
      auto fine = model_of<double>(scaling);
      CHECK(decoding_error(fine, batch, chunk) < 1e-10);
      auto coarse = model_of<float>(scaling);
      CHECK(decoding_error(coarse, batch, chunk) < 1e-4);
    }
}

TEST_CASE("length: keys that were cached under another spectrum would be wrong, so the comparison means something",
          "[model][length][R07]") {
  auto const batch = test::random_batch("length", 1, 100, vocabulary);
  for (auto const& scaling : followers()) {
    auto model = model_of<double>(scaling);
    auto const full = test::all_logits(model, batch), part = test::all_logits(model, columns(batch, 0, 60));
    INFO(scaling.use);
    CHECK(worst(rows(full, 59, 1), rows(part, 59, 1)) > 1e-6);  // token 59 is met otherwise in the longer text
  }
}

TEST_CASE("length: a cache that is cut back below the trained length reads its tokens again", "[model][length][R07]") {
  auto const batch = test::random_batch("length", 1, 100, vocabulary);
  for (auto const& scaling : followers()) {
    auto model = model_of<double>(scaling);
    KvCache<double> cache(model.config(), 1, 100);
    View2<double> const all("all", 100, vocabulary), one("one", 1, vocabulary);
    model.logits(Exec(), batch, cache, all);
    cache.truncate(40);
    model.logits(Exec(), columns(batch, 40, 1), cache, one);
    auto const full = test::all_logits(model, columns(batch, 0, 41));
    INFO(scaling.use);
    CHECK(worst(rows(one, 0, 1), rows(full, 40, 1)) < 1e-10);
  }
}

TEST_CASE("length: after a long input a short one gives the same bits as before", "[model][length][R05]") {
  auto const shorter = test::random_batch("short", 1, 50, vocabulary), longer = test::random_batch("long", 1, 150, 13);
  for (auto const& scaling : followers()) {
    auto model = model_of<float>(scaling);
    auto const before = test::all_logits(model, shorter);
    test::all_logits(model, longer);
    INFO(scaling.use);
    CHECK(test::same_bits(before, test::all_logits(model, shorter)));
  }
}

TEST_CASE("length: within the trained length dynamic scalings change no bit", "[model][length][R14]") {
  auto const batch = test::random_batch("short", 2, trained, vocabulary);
  auto config = test::tiny_config();
  config.kv_heads = config.heads;
  Model<float> plain(config, test::make_position(config, {rope}, {}, trained), 3);
  for (char const* name : {"dynamic", "dynamic_yarn"}) {
    auto model = model_of<float>({name, {}, {}});
    CHECK(test::same_bits(test::all_logits(model, batch), test::all_logits(plain, batch)));
  }
}

TEST_CASE("length: a long row leaves short rows, packed documents and padded ones as they are alone",
          "[model][length][R16]") {
  // Row 0: one text of 100 tokens. Row 1: documents of 30 and 60, then padding. Row 2: padding, then 70 tokens.
  int const length = 100;
  auto const batch = test::random_batch("mixed", 3, length, vocabulary);
  auto documents = View2<int>("documents", 3, length);
  auto positions = View2<double>("positions", 3, length);
  auto const place = [&](int row, int first, int count, int id) {
    for (int i = 0; i < count; ++i) documents(row, first + i) = id, positions(row, first + i) = i;
  };
  place(0, 0, 100, 0), place(1, 0, 30, 0), place(1, 30, 60, 1), place(1, 90, 10, -1), place(2, 0, 30, -1);
  place(2, 30, 70, 0);
  Batch mixed = batch;
  mixed.documents = documents, mixed.positions = positions;
  for (auto const& scaling : followers()) {
    auto model = model_of<double>(scaling);
    auto const together = test::all_logits(model, mixed);
    struct Piece {
      int row, first, count;
    };
    for (Piece const p : {Piece{0, 0, 100}, {1, 0, 30}, {1, 30, 60}, {2, 30, 70}}) {
      Batch alone = columns(batch.rows(p.row, 1), p.first, p.count);
      auto const expected = test::all_logits(model, alone);
      INFO(scaling.use << ", row " << p.row << " from " << p.first);
      CHECK(worst(rows(together, p.row * length + p.first, p.count), rows(expected, 0, p.count)) < 1e-12);
    }
    // The same, read in pieces: documents and rows pass the trained length at different steps.
    KvCache<double> cache(model.config(), 3, length);
    View2<double> last;
    for (int first = 0; first < length; first += 20) {
      last = View2<double>("last", 60, vocabulary);
      model.logits(Exec(), columns(mixed, first, 20), cache, last);
    }
    INFO(scaling.use << " in pieces");
    for (int row : {0, 2}) CHECK(worst(rows(last, row * 20, 20), rows(together, row * length + 80, 20)) < 1e-10);
  }
}

TEST_CASE("length: a row alone and beside a longer one give the same bits", "[model][length][R16]") {
  auto const batch = test::random_batch("two", 2, 100, vocabulary);
  Batch two = batch;
  two.documents = View2<int>("documents", 2, 100);
  for (int i = 50; i < 100; ++i) two.documents(1, i) = -1;
  for (auto const& scaling : followers()) {
    auto model = model_of<float>(scaling);
    auto const together = test::all_logits(model, two);
    auto const alone = test::all_logits(model, two.rows(1, 1));
    INFO(scaling.use);
    CHECK(rows(together, 100, 50) == rows(alone, 0, 50));
  }
}

TEST_CASE("length: gradients of trained frequencies agree with differences where sequences differ in length",
          "[model][length][gradient]") {
  auto batch = test::random_batch("gradient", 2, 90, vocabulary);
  batch.documents = View2<int>("documents", 2, 90);
  batch.positions = View2<double>("positions", 2, 90);
  for (int b = 0; b < 2; ++b)
    for (int i = 0; i < 90; ++i) {
      batch.documents(b, i) = b == 1 && i >= 20;
      batch.positions(b, i) = b == 1 && i >= 20 ? i - 20 : i;
    }
  for (auto const& scaling : followers())
    for (char const* trains : {"grape_m", "grape_m_ctx"}) {
      auto model = model_of<double>(scaling, {trains, {}, {}});
      auto const loss = [&] {
        View2<double> const nll("nll", 2, 90);
        model.loss_per_token(Exec(), batch, nll);
        double sum = 0;
        for (std::size_t i = 0; i < nll.size(); ++i) sum += nll.data()[i];
        return sum / static_cast<double>(nll.size());
      };
      model.loss_and_gradient(Exec(), batch);
      auto const x = model.parameters(), g = model.gradients();
      std::vector<double> const start(x.data(), x.data() + x.size()), slope(g.data(), g.data() + g.size());
      for (auto const& slot : model.binding().slots()) {  // along a direction of all numbers of one tensor
        auto const at = static_cast<std::size_t>(model.parameter(slot.name).data() - x.data());
        Stream const toward(5, slot.name);
        double found = 0, expected = 0;
        double const h = 1e-6;
        for (double sign : {1.0, -1.0}) {
          for (std::size_t n = 0; n < slot.parameter->info.size(); ++n)
            x(at + n) = start[at + n] + sign * h * toward.normal(n);
          expected += sign * loss() / (2 * h);
        }
        for (std::size_t n = 0; n < slot.parameter->info.size(); ++n) {
          x(at + n) = start[at + n];
          found += slope[at + n] * toward.normal(n);
        }
        INFO(scaling.use << " on " << trains << ", " << slot.name);
        CHECK(std::abs(found - expected) < 1e-7 * std::max(1.0, std::abs(expected)));
      }
    }
}

TEST_CASE("scalings: eabf is another base and log-n from the third layer on, drope is no positions",
          "[model][scaling]") {
  auto config = test::tiny_config();
  config.kv_heads = config.heads;
  config.layers = 4;
  auto const batch = test::random_batch("eabf", 2, 100, vocabulary);
  auto const logits = [&](std::vector<encoding::Choice> encodings, std::vector<encoding::Choice> scalings) {
    Model<double> model(config, test::make_position(config, std::move(encodings), std::move(scalings), trained), 3);
    return test::all_logits(model, batch);
  };
  encoding::Choice sharper{"logn", {{"trained_length", double(trained)}}, {}};
  sharper.layers = encoding::LayerSet{.every = 1, .from = 2};
  auto const eabf = logits({rope}, {{"eabf", {{"base", 4e5}}, {}}});
  CHECK(test::largest_difference(eabf, logits({{"rope", {{"base", 4e5}}, {}}, sharper}, {})) < 1e-12);
  CHECK(test::largest_difference(eabf, logits({rope}, {{"abf", {{"base", 4e5}}, {}}})) > 1e-6);
  CHECK(test::largest_difference(logits({rope}, {{"drope", {}, {}}}), logits({{"nope", {}, {}}}, {})) < 1e-13);
  auto const sharp = logits({rope}, {{"drope", {{"temperature", 1.5}}, {}}});
  CHECK(test::largest_difference(sharp, logits({{"temperature", {{"factor", 1.5}}, {}}}, {})) < 1e-13);
}

TEST_CASE("scalings: gradients agree with differences where a scaling sharpens queries", "[model][scaling][gradient]") {
  auto const batch = test::random_batch("sharp", 1, 90, vocabulary);
  for (encoding::Choice const& scaling :
       {encoding::Choice{"eabf", {{"first_layer", 0.0}}, {}}, encoding::Choice{"drope", {{"temperature", 1.7}}, {}}}) {
    auto model = model_of<double>(scaling);
    model.loss_and_gradient(Exec(), batch);
    auto const x = model.parameters(), g = model.gradients();
    std::vector<double> const start(x.data(), x.data() + x.size());
    Stream const toward(5, "direction");
    double slope = 0, difference = 0;
    for (std::size_t n = 0; n < x.size(); ++n) slope += g(n) * toward.normal(n);
    for (double sign : {1.0, -1.0}) {
      for (std::size_t n = 0; n < x.size(); ++n) x(n) = start[n] + sign * 1e-6 * toward.normal(n);
      View2<double> const nll("nll", 1, 90);
      model.loss_per_token(Exec(), batch, nll);
      for (int i = 0; i < 90; ++i) difference += sign * nll(0, i) / 90 / 2e-6;
    }
    INFO(scaling.use);
    CHECK(slope == Catch::Approx(difference).epsilon(1e-6));
  }
}
}  // namespace length_test
