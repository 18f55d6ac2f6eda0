#include <sextant/inspect/cost.hpp>

#include "subject_of.hpp"

using namespace sextant;
using namespace sextant::inspect;
using test::subject_of;

TEST_CASE("cost: a tabulated bias takes the bytes that the adapter takes when it is prepared", "[inspect][cost]") {
  auto const subject = subject_of("t5", {.length = 777, .heads = 3});
  auto const& term = subject.terms()[0];
  auto const bias = term.encoding->bias_float(term.shape);
  encoding::Bias<float>::Inputs in;
  in.least_offset = -776, in.most_offset = 776;
  in.weights = subject.all_weights(0);
  in.query_len = in.key_len = 777;
  in.heads = 3;
  in.first_head = {0, 3};
  bias->prepare(Exec(), in);
  CHECK(cost(subject).lengths.back().bytes == static_cast<double>(bias->bytes()));
}

TEST_CASE("cost: rope's tables are cos and sin of every pair and token, and nothing is cached for it",
          "[inspect][cost]") {
  auto const c = cost(subject_of("rope", {.length = 2048, .head_dim = 64}));
  CHECK(c.lengths.back().bytes == 2.0 * 4 * 2048 * 32);
  CHECK(c.cache_bytes_per_token == 0);
  CHECK(c.lengths.back().flop == 6.0 * 32 * 2048 * (4 + 4));
  CHECK(c.lengths.back().attention_flop == 2.0 * 2048 * 2048 * 4 * 64);
}

TEST_CASE("cost: nope adds nothing, a table what it stores, and memory grows linearly with the length",
          "[inspect][cost]") {
  CHECK(cost(subject_of("nope")).lengths.back().bytes == 0);
  CHECK(cost(subject_of("learned", {.length = 256, .model_dim = 32})).parameters > 0);
  for (std::string const name : {"rope", "alibi", "fox", "grape_a"}) {
    auto const c = cost(subject_of(name, {.length = 1 << 16}));
    auto const &late = c.lengths.back(), &before = c.lengths[c.lengths.size() - 2];
    INFO(name);
    CHECK(late.bytes / before.bytes == Catch::Approx(2).epsilon(1e-4));
  }
}
