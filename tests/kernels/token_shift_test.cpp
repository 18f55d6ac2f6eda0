#include <sextant/base/philox.hpp>
#include <sextant/kernels/token_shift.hpp>

#include <catch2/catch_all.hpp>

#include <cmath>

using namespace sextant;

TEST_CASE("token shift: x_i = (1 - a_i) x_i + a_i x_{i-1}, from the plain x_{i-1} of the same document", "[kernels]") {
  int const batch = 2, len = 5, heads = 3, dim = 4, width = heads * dim, stride = width + 2;
  View2<double> x("x", batch * len, stride), logit("logit", batch * len, heads), plain("plain", batch * len, width);
  View2<double> before("before", batch, width);
  View2<int> document("document", batch, len);
  View1<int> document_before("document before", batch);
  Stream const stream(1, "shift");
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = stream.normal(i);
  for (std::size_t i = 0; i < logit.size(); ++i) logit.data()[i] = stream.normal(1000 + i);
  for (std::size_t i = 0; i < before.size(); ++i) before.data()[i] = stream.normal(2000 + i);
  document(0, 3) = document(0, 4) = 1;  // row 0: documents 0 0 0 1 1, after one of 0; row 1: all 0, after one of 7
  document_before(1) = 7;
  View2<double> given("given", batch * len, stride);
  Kokkos::deep_copy(given, x);
  kernels::token_shift_forward<double>(Exec(), x.data(), stride, batch, len, dim,
                                       {logit, plain, before, document, document_before});
  for (int b = 0; b < batch; ++b)
    for (int i = 0; i < len; ++i)
      for (int c = 0; c < stride; ++c) {
        int const row = b * len + i;
        if (c >= width) {
          CHECK(x(row, c) == given(row, c));
          continue;
        }
        double last = 0;
        if (i == 0 && b == 0) last = before(0, c);
        if (i > 0 && !(b == 0 && i == 3)) last = given(row - 1, c);
        double const a = 1 / (1 + std::exp(-logit(row, c / dim)));
        CHECK(x(row, c) == Catch::Approx((1 - a) * given(row, c) + a * last).margin(1e-14));
        CHECK(plain(row, c) == given(row, c));
      }
}
