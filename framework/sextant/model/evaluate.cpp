// Passes that keep nothing for a backward: losses and logits. No array is as long as tokens times vocabulary but the caller's.
#include <sextant/base/error.hpp>
#include <sextant/kernels/loss.hpp>
#include <sextant/model/model.hpp>
#include <sextant/model/rows.hpp>

namespace sextant::model {
namespace {
constexpr int evaluated_at_once = 4096;  // tokens, or one row where it is longer
}

std::int64_t gather_targets(Exec const& exec, Batch const& batch, View1<int> const& target) {
  int const *const targets = batch.targets.data(), *const documents = batch.documents.data();
  std::int64_t predicted = 0;
  Kokkos::parallel_reduce(
      "sextant::gather_targets", Kokkos::RangePolicy<Exec>(exec, 0, batch.count()),
      KOKKOS_LAMBDA(std::int64_t i, std::int64_t & count) {
        target(i) = documents && documents[i] < 0 ? -1 : targets[i];
        count += target(i) >= 0;
      },
      predicted);
  return predicted;
}

template <class T>
template <class F>
void Model<T>::each_forward(Exec const& exec, Batch const& batch, F const& f) {
  batch.check(exec, config_.vocabulary);
  round_weights(exec);
  int const rows_at_once = std::clamp(evaluated_at_once / batch.seq_len(), 1, batch.size());
  for (int row = 0; row < batch.size(); row += rows_at_once) {
    Batch const part = batch.rows(row, std::min(rows_at_once, batch.size() - row));
    Buffers<T>& plan = buffers(part.size(), part.seq_len(), Keep::nothing);
    forward(begin(exec, part, plan), part);
    f(plan, part, row);
  }
  exec.fence();
}

template <class T>
void Model<T>::loss_per_token(Exec const& exec, Batch const& batch, View2<double> const& nll) {
  expect(batch.targets.size() > 0, "model: a loss needs targets");
  expect(nll.extent_int(0) == batch.size() && nll.extent_int(1) == batch.seq_len(), "model: nll is [", nll.extent(0),
         ", ", nll.extent(1), "], expected [", batch.size(), ", ", batch.seq_len(), "] as tokens");
  each_forward(exec, batch, [&](Buffers<T>& plan, Batch const& part, int row) {
    gather_targets(exec, part, plan.target);
    View1<double> const out(nll.data() + static_cast<std::size_t>(row) * batch.seq_len(),
                            static_cast<std::size_t>(plan.rows()));
    for_logits(exec, weights_, plan, [&](int first, int count, View2<T> const& logits) {
      kernels::cross_entropy<T>(exec, logits, part_of(plan.target, first, count), part_of(out, first, count));
    });
  });
}

template <class T>
void Model<T>::logits(Exec const& exec, Batch const& batch, View2<T> const& logits) {
  int const last = check_logits(batch, logits);
  each_forward(exec, batch, [&](Buffers<T>& plan, Batch const& part, int row) {
    linear(exec, false, last_rows(exec, plan.x_normed, batch.seq_len(), last), weights_.output,
           rows_of(logits, std::int64_t(row) * last, part.size() * last));
  });
}

template <class T>
void Model<T>::each_logits(Exec const& exec, Batch const& batch, Visit const& visit) {
  each_forward(exec, batch, [&](Buffers<T>& plan, Batch const&, int row) {
    for_logits(exec, weights_, plan, [&](int first, int, View2<T> const& logits) {
      exec.fence();
      visit(std::int64_t(row) * batch.seq_len() + first, logits);
    });
  });
}

template <class T>
int Model<T>::check_logits(Batch const& batch, View2<T> const& logits) const {
  int const rows = logits.extent_int(0), last = rows / std::max(1, batch.size());
  expect(
      last >= 1 && last <= batch.seq_len() && rows == last * batch.size() && logits.extent_int(1) == config_.vocabulary,
      "model: logits are [", logits.extent(0), ", ", logits.extent(1), "], expected [", batch.count(), ", ",
      config_.vocabulary, "], or ", batch.size(), " rows for every token wanted at the end of a row");
  return last;
}

template <class T>
void Model<T>::each_layer(Exec const& exec, Batch const& batch, Look const& look) {
  batch.check(exec, config_.vocabulary);
  round_weights(exec);
  Buffers<T>& plan = buffers(batch.size(), batch.seq_len(), Keep::nothing);
  forward(begin(exec, batch, plan), batch, look);
  exec.fence();
}

#define SEXTANT_INSTANTIATE(T)                                                             \
  template void Model<T>::loss_per_token(Exec const&, Batch const&, View2<double> const&); \
  template void Model<T>::logits(Exec const&, Batch const&, View2<T> const&);              \
  template void Model<T>::each_logits(Exec const&, Batch const&, Visit const&);            \
  template void Model<T>::each_layer(Exec const&, Batch const&, Look const&);              \
  template int Model<T>::check_logits(Batch const&, View2<T> const&) const;
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::model
