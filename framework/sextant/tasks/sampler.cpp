#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/tasks/sampler.hpp>

namespace sextant::tasks {
namespace {

View1<std::int32_t> copy_to_memory(std::span<std::int32_t const> text) {
  View1<std::int32_t> copy(uninitialized("sextant::tasks::text"), text.size());
  Kokkos::View<std::int32_t const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(text.data(), text.size());
  Kokkos::deep_copy(copy, host);
  return copy;
}

/// tokens(r, j) = text(start(r) + j)
template <class Start>
struct Cut {
  View1<std::int32_t> text;
  Tokens tokens;
  Start start;
  KOKKOS_FUNCTION void operator()(int r) const {
    std::int64_t const from = start(r);
    for (int j = 0; j < tokens.extent_int(1); ++j) tokens(r, j) = text(from + j);
  }
};

struct DrawnStart {
  Stream stream;
  std::uint64_t batch;
  std::int64_t starts;
  KOKKOS_FUNCTION std::int64_t operator()(int r) const {
    return stream.below(starts, static_cast<std::uint64_t>(r), batch);
  }
};

struct FixedStart {
  View1<std::int64_t> ends;
  int width;
  KOKKOS_FUNCTION std::int64_t operator()(int r) const { return ends(r) - width; }
};

template <class Start>
void cut(Exec const& exec, View1<std::int32_t> const& text, Tokens const& tokens, Start const& start) {
  Kokkos::parallel_for("sextant::tasks::cut", Kokkos::RangePolicy<Exec>(exec, 0, tokens.extent_int(0)),
                       Cut<Start>{text, tokens, start});
}

}  // namespace

RowSampler::RowSampler(std::span<std::int32_t const> text, int length, std::string const& what) : length_(length) {
  expect(length >= 1, "sampler: length is ", length, ", expected at least 1");
  expect(text.size() > static_cast<std::size_t>(length), what, " has ", text.size(), " tokens, expected at least ",
         length + 1, " for rows of length ", length, " and their next token");
  text_ = copy_to_memory(text);
}

void RowSampler::batch(Exec const& exec, std::uint64_t seed, std::int64_t k, Tokens const& tokens) const {
  expect(tokens.extent_int(1) == length_ + 1, "batch: tokens are [", tokens.extent_int(0), ", ", tokens.extent_int(1),
         "], expected ", length_ + 1, " columns (length ", length_, " and the next token)");
  std::int64_t const starts = static_cast<std::int64_t>(text_.extent(0)) - length_;
  cut(exec, text_, tokens, DrawnStart{Stream(seed, "tasks/batch"), static_cast<std::uint64_t>(k), starts});
}

EvalWindows::EvalWindows(std::span<std::int32_t const> text, int count, int max_length, std::string const& what)
    : max_length_(max_length) {
  expect(count >= 1 && max_length >= 1, "windows: ", count, " windows of length ", max_length, ", expected both >= 1");
  std::int64_t const size = static_cast<std::int64_t>(text.size()), first = max_length + 1;
  std::int64_t const needed = first + count - 1;
  expect(size >= needed, what, " has ", size, " tokens, expected at least ", needed, " for ", count,
         " windows of length ", max_length, " and their next token");
  for (int w = 0; w < count; ++w)  // the last window ends with the text
    ends_.push_back(count == 1 ? size : first + (size - first) * w / (count - 1));
  text_ = copy_to_memory(text);
}

void EvalWindows::rows(Exec const& exec, int first, Tokens const& tokens) const {
  int const rows = tokens.extent_int(0), width = tokens.extent_int(1);
  expect(width >= 2 && width <= max_length_ + 1, "windows: tokens have ", width, " columns, expected 2 to ",
         max_length_ + 1);
  expect(first >= 0 && first + rows <= count(), "windows: rows ", first, " to ", first + rows - 1,
         " asked for, there are ", count());
  View1<std::int64_t> ends(uninitialized("sextant::tasks::ends"), rows);
  Kokkos::View<std::int64_t const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(ends_.data() + first, rows);
  Kokkos::deep_copy(ends, host);
  cut(exec, text_, tokens, FixedStart{ends, width});
}

}  // namespace sextant::tasks
