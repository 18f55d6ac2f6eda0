// The stage before the first layer: rows added to the token embedding.
#include <sextant/base/error.hpp>
#include <sextant/base/launch.hpp>
#include <sextant/encoding/binding_state.hpp>
#include <sextant/kernels/blocks_of.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::encoding {

template <class T>
void Binding<T>::form_embedding_rows(Exec const& exec, std::size_t t) {
  State& s = *state_;
  int const width = position_->shape().model_dim, count = s.tokens.count, rows = s.query_position.extent_int(0);
  View2<T> const out(uninitialized("embedding rows"), static_cast<std::size_t>(rows) * count, width);
  s.terms[t].rows_embedded = out;
  auto const* encoding = position_->terms()[t].encoding.get();
  Shape const shape = position_->terms()[t].shape;
  auto const at = s.query_position;
  launch_on_host(exec, "sextant::embedding_rows", static_cast<std::int64_t>(rows) * count, 16 * std::int64_t(width),
                 [=](std::int64_t row) {
                   std::vector<double> values(width);
                   encoding->embed_row(shape, at(row / count, row % count), values.data());
                   for (int c = 0; c < width; ++c) out(row, c) = static_cast<T>(values[c]);
                 });
  exec.fence();
}

template <class T>
bool Binding<T>::embeds() const {
  return std::any_of(state_->terms.begin(), state_->terms.end(), [](auto const& t) { return t.stages.embed; });
}

namespace {
/// Row of a trained table for a position. Throws where the table has none.
std::int64_t table_row(std::string const& label, double position, int length) {
  expect(position == std::floor(position) && position >= 0, label, ": position ", position,
         " has no row: expected a whole number from 0");
  expect(position < length, label, ": position ", position, " is past its table of ", length,
         " rows; it was not trained there and has nothing to give: raise max_length and train again, or shorten the "
         "input");
  return static_cast<std::int64_t>(position);
}
}  // namespace

template <class T>
void Binding<T>::embed(Exec const& exec, View2<T> const& x) {
  State& s = *state_;
  int const count = s.tokens.count, width = x.extent_int(1);
  bool const shared = s.query_position.extent_int(0) == 1;
  for (std::size_t t = 0; t < s.terms.size(); ++t) {
    if (!s.terms[t].stages.embed) continue;
    Term const& term = position_->terms()[t];
    T const scale = static_cast<T>(term.encoding->token_scale(term.shape));
    int const length = term.encoding->table_length();
    if (length > 0)
      for (std::size_t n = 0; n < s.query_position.size(); ++n)
        table_row(term.label, s.query_position.data()[n], length);
    auto const rows = s.terms[t].rows_embedded;
    auto const table = length > 0 ? s.weights[s.owners[0][t].table] : View1<T>();
    auto const at = s.query_position;
    launch_on_host(exec, "sextant::embed", static_cast<std::int64_t>(x.extent(0)), width, [=](std::int64_t token) {
      std::int64_t const b = shared ? 0 : token / count, i = token % count;
      T const* row = length > 0 ? &table(static_cast<std::int64_t>(at(b, i)) * width) : &rows(b * count + i, 0);
      for (int c = 0; c < width; ++c) x(token, c) = scale * x(token, c) + row[c];
    });
  }
  exec.fence();
}

template <class T>
void Binding<T>::embed_backward(Exec const& exec, View2<T> const& grad) {
  State& s = *state_;
  int const count = s.tokens.count, width = grad.extent_int(1);
  bool const shared = s.query_position.extent_int(0) == 1;
  for (std::size_t t = s.terms.size(); t-- > 0;) {
    if (!s.terms[t].stages.embed) continue;
    Term const& term = position_->terms()[t];
    auto const at = s.query_position;
    if (term.encoding->table_length() > 0) {
      auto const out = s.gradients[s.owners[0][t].table];
      constexpr int block = 16;  // channels; tokens in order inside each, so repeated positions sum in a fixed order
      Kokkos::parallel_for("sextant::embed_backward",
                           Kokkos::RangePolicy<HostExec>(host_side(exec), 0, kernels::blocks_of(width, block)),
                           [=](std::int64_t n) {
                             int const end = std::min<int>(width, static_cast<int>(n + 1) * block);
                             for (std::size_t token = 0; token < grad.extent(0); ++token) {
                               auto const p = static_cast<std::int64_t>(at(shared ? 0 : token / count, token % count));
                               for (int c = static_cast<int>(n) * block; c < end; ++c)
                                 out(p * width + c) += grad(token, c);
                             }
                           });
    }
    T const scale = static_cast<T>(term.encoding->token_scale(term.shape));
    if (scale != T(1))
      Kokkos::parallel_for("sextant::embed_scale", Kokkos::RangePolicy<HostExec>(host_side(exec), 0, grad.extent(0)),
                           [=](std::int64_t token) {
                             for (int c = 0; c < width; ++c) grad(token, c) *= scale;
                           });
  }
  exec.fence();
}

template void Binding<float>::form_embedding_rows(Exec const&, std::size_t);
template void Binding<double>::form_embedding_rows(Exec const&, std::size_t);
template bool Binding<float>::embeds() const;
template bool Binding<double>::embeds() const;
template void Binding<float>::embed(Exec const&, View2<float> const&);
template void Binding<double>::embed(Exec const&, View2<double> const&);
template void Binding<float>::embed_backward(Exec const&, View2<float> const&);
template void Binding<double>::embed_backward(Exec const&, View2<double> const&);

}  // namespace sextant::encoding
