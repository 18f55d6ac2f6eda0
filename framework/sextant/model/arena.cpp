#include <sextant/base/error.hpp>
#include <sextant/model/arena.hpp>

#include <numeric>

namespace sextant::model {

std::size_t Slice::size() const {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

Init normal_init(double std) {
  return [std](Stream const& stream, std::size_t i) { return std * stream.normal(i); };
}
Init constant_init(double value) {
  return [value](Stream const&, std::size_t) { return value; };
}

void Layout::add(std::string const& name, std::vector<std::size_t> shape, bool decayed, Init init) {
  expect(!settled_, "arena: ", name, " is added after the layout was settled");
  expect(!has(name), "arena: two parameters are named ", name);
  index_[name] = slices_.size();
  slices_.push_back({name, std::move(shape), 0});
  decays_.push_back(decayed);
  init_.push_back(std::move(init));
}

void Layout::settle() {
  for (bool const group : {true, false}) {
    for (std::size_t i = 0; i < slices_.size(); ++i)
      if (static_cast<bool>(decays_[i]) == group) {
        slices_[i].offset = size_;
        size_ += slices_[i].size();
      }
    if (group) decayed_ = size_;
  }
  settled_ = true;
}

Slice const& Layout::find(std::string const& name) const {
  auto const found = index_.find(name);
  if (found != index_.end()) return slices_[found->second];
  std::vector<std::string> names;
  for (auto const& slice : slices_) names.push_back(slice.name);
  std::string const near = nearest(name, names);
  fail("arena: no parameter is named ", name, near.empty() ? "" : "; did you mean " + near + "?");
}

template <class T>
void Layout::initialise(std::uint64_t seed, View1<T> const& arena, std::size_t first) const {
  expect(arena.extent(0) == size_, "arena: ", arena.extent(0), " entries, expected ", size_);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), arena);
  for (std::size_t s = first; s < slices_.size(); ++s) {
    Stream const stream(seed, "init/" + slices_[s].name);
    std::size_t const size = slices_[s].size();
    T* const to = host.data() + slices_[s].offset;
    Init const& init = init_[s];
    Kokkos::parallel_for("sextant::initialise",
                         Kokkos::RangePolicy<Kokkos::DefaultHostExecutionSpace>(0, static_cast<std::int64_t>(size)),
                         [&](std::int64_t i) { to[i] = static_cast<T>(init(stream, static_cast<std::size_t>(i))); });
  }
  Kokkos::fence();
  Kokkos::deep_copy(arena, host);
}

template void Layout::initialise(std::uint64_t, View1<float> const&, std::size_t) const;
template void Layout::initialise(std::uint64_t, View1<double> const&, std::size_t) const;

}  // namespace sextant::model
