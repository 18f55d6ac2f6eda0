#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/model/batch.hpp>

#include <algorithm>

namespace sextant::model {
namespace {
// How many entries are outside [least, most].
std::int64_t outside(Exec const& exec, View2<int> const& x, int least, int most) {
  std::int64_t found = 0;
  int const* const data = x.data();
  if (on_host && static_cast<std::int64_t>(x.size()) <= small_work)
    return std::count_if(data, data + x.size(), [=](int entry) { return entry < least || entry > most; });
  Kokkos::parallel_reduce(
      "sextant::outside", Kokkos::RangePolicy<Exec>(exec, 0, static_cast<std::int64_t>(x.size())),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & count) { count += data[i] < least || data[i] > most; }, found);
  return found;
}

template <class X>
void check_shape(char const* name, X const& x, Batch const& batch) {
  expect(x.size() == 0 || (x.extent_int(0) == batch.size() && x.extent_int(1) == batch.seq_len()), "batch: ", name,
         " are [", x.extent(0), ", ", x.extent(1), "], expected [", batch.size(), ", ", batch.seq_len(),
         "] as tokens, or none");
}

template <class X>
X rows_of(X const& x, int first, int rows) {
  return x.size() == 0 ? X() : X(x.data() + first * x.extent(1), static_cast<std::size_t>(rows), x.extent(1));
}
}  // namespace

void Batch::check(Exec const& exec, int vocabulary) const {
  expect(size() >= 1 && seq_len() >= 1, "batch: tokens are [", size(), ", ", seq_len(), "], expected at least one");
  check_shape("targets", targets, *this);
  check_shape("positions", positions, *this);
  check_shape("documents", documents, *this);
  std::int64_t const wrong = outside(exec, tokens, 0, vocabulary - 1);
  expect(wrong == 0, "batch: ", wrong, " tokens lie outside [0, ", vocabulary, "), the model's vocabulary");
  std::int64_t const off = targets.size() ? outside(exec, targets, -2147483647 - 1, vocabulary - 1) : 0;
  expect(off == 0, "batch: ", off, " targets lie beyond ", vocabulary - 1, ", the last of the vocabulary");
}

Batch Batch::rows(int first, int rows) const {
  return {rows_of(tokens, first, rows), rows_of(targets, first, rows), rows_of(positions, first, rows),
          rows_of(documents, first, rows)};
}

Batch next_token_batch(Exec const& exec, View2<int> const& rows) {
  expect(rows.extent(1) >= 2, "batch: rows of text have ", rows.extent(1), " tokens, expected at least 2");
  int const size = rows.extent_int(0), seq_len = rows.extent_int(1) - 1;
  Batch batch{View2<int>(uninitialized("sextant::tokens"), size, seq_len),
              View2<int>(uninitialized("sextant::targets"), size, seq_len),
              {},
              {}};
  View2<int> const tokens = batch.tokens, targets = batch.targets;
  Kokkos::parallel_for(
      "sextant::next_token_batch", Kokkos::RangePolicy<Exec>(exec, 0, size), KOKKOS_LAMBDA(int b) {
        for (int i = 0; i < seq_len; ++i) tokens(b, i) = rows(b, i), targets(b, i) = rows(b, i + 1);
      });
  return batch;
}

View2<double> running_positions(Exec const& exec, int seq_len, double start) {
  View2<double> const positions(uninitialized("sextant::positions"), 1, seq_len);
  launch(
      exec, "sextant::running_positions", seq_len, 1, KOKKOS_LAMBDA(int i) { positions(0, i) = start + i; });
  return positions;
}

}  // namespace sextant::model
