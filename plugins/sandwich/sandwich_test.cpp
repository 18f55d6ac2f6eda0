#include "support/plugin.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
double sandwich(double offset, int head = 0, int heads = 8, Options options = {}) {
  return encoding_of("sandwich", std::move(options))
      ->bias_at(heads_of(heads), nullptr, {head, heads}, offset + 3, 3, nullptr, nullptr);
}
}  // namespace

TEST_CASE("sandwich: 0 at distance 0, below it elsewhere, even in the offset", "[sandwich][law]") {
  for (int head = 0; head < 8; ++head) {
    CHECK(sandwich(0, head) == 0);
    for (double d : {1.0, 2.0, 10.0, 777.0}) {
      CHECK(sandwich(d, head) < 0);
      CHECK(sandwich(-d, head) == sandwich(d, head));
    }
  }
}

TEST_CASE("sandwich: uncentred and from 0 it is the inner product of two rows of sinusoidal over the head's divisor",
          "[sandwich][paper]") {
  Options const plain{{"width", std::int64_t{16}}, {"centered", false}, {"from_zero", true}};
  auto const rows = encoding_of("sinusoidal");
  std::vector<double> a(16), b(16);
  rows->embed_row(heads_of(1, 8, 16), 21, a.data());
  for (double key : {0.0, 5.0, 21.0, 400.0}) {
    rows->embed_row(heads_of(1, 8, 16), key, b.data());
    double product = 0;
    for (int c = 0; c < 16; ++c) product += a[c] * b[c];
    for (int head : {0, 2, 5})
      CHECK(sandwich(21 - key, head, 6, plain) == Catch::Approx(product * 6 / (8.0 * (head + 1))).epsilon(1e-12));
  }
}

TEST_CASE("sandwich: the constant is all that centering takes away", "[sandwich]") {
  Options const plain{{"centered", false}};
  for (double d : {0.0, 3.0, 90.0}) CHECK(sandwich(d, 1, 4, plain) - sandwich(d, 1, 4) == Catch::Approx(64 * 4 / 16.0));
  CHECK_THAT(refusal_of(*encoding_of("sandwich", {{"width", std::int64_t{7}}}), heads_of(1)),
             Catch::Matchers::ContainsSubstring("expected an even number"));
}
