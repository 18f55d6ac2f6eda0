#include <sextant/base/error.hpp>
#include <sextant/model/safetensors.hpp>
#include <sextant/model/trainer.hpp>

#include <charconv>
#include <cstring>

namespace sextant::model {
namespace {
constexpr char const* format_name = "sextant-checkpoint/1";

template <class T>
constexpr char const* dtype_of() {
  return std::is_same_v<T, float> ? "F32" : "F64";
}

// Memory of the host alone: a mirror's type would say that of both sides, where there is a device.
template <class T>
using HostView = Kokkos::View<T*, Kokkos::LayoutRight, Kokkos::HostSpace>;

// An arena on the host, and its slices as tensors with a prefix to their names.
template <class T>
struct HostArena {
  HostView<T> data;
  explicit HostArena(View1<T> const& arena) : data(Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), arena)) {}

  void list(Layout const& layout, std::string const& prefix, std::vector<TensorBytes>& out) const {
    for (auto const& slice : layout.slices()) {
      char const* const begin = reinterpret_cast<char const*>(data.data() + slice.offset);
      out.push_back({prefix + slice.name, dtype_of<T>(), slice.shape, {begin, slice.size() * sizeof(T)}});
    }
  }
};

// The slices of one arena, read from the file. Throws before anything of the model is touched.
template <class T>
HostView<T> read_arena(Safetensors const& file, Layout const& layout, std::string const& prefix) {
  HostView<T> out("sextant::read", layout.size());
  for (auto const& slice : layout.slices()) {
    TensorBytes const& tensor = file.find(prefix + slice.name, dtype_of<T>(), slice.shape);
    std::memcpy(out.data() + slice.offset, tensor.bytes.data(), tensor.bytes.size());
  }
  return out;
}

std::string metadata_of(fs::path const& path, Safetensors const& file, std::string const& key) {
  auto const found = file.metadata().find(key);
  expect(found != file.metadata().end(), path.string(), ": metadata has no ", key, ", expected a ", format_name);
  return found->second;
}

void check_format(fs::path const& path, Safetensors const& file) {
  std::string const format = metadata_of(path, file, "format");
  expect(format == format_name, path.string(), ": format is ", format, ", expected ", format_name);
}

// Tensors that are neither a parameter nor one of its moments.
void check_no_others(fs::path const& path, Safetensors const& file, Layout const& layout) {
  for (auto name : file.names()) {
    std::string const whole = name;
    for (std::string const prefix : {"moment1.", "moment2."})
      if (name.starts_with(prefix)) name = name.substr(prefix.size());
    expect(layout.has(name), path.string(), ": holds ", whole, ", which this model does not have");
  }
}
}  // namespace

template <class T>
void Trainer<T>::save(fs::path const& path, std::string const& note) const {
  Kokkos::fence();
  Layout const& layout = model_.layout();
  HostArena<T> const parameters(model_.parameters()), moment1(moment1_), moment2(moment2_);
  std::vector<TensorBytes> tensors;
  parameters.list(layout, "", tensors);
  moment1.list(layout, "moment1.", tensors);
  moment2.list(layout, "moment2.", tensors);
  write_safetensors(path, tensors, {{"format", format_name}, {"step", std::to_string(step_)}, {"note", note}});
}

template <class T>
std::string Trainer<T>::load(fs::path const& path) {
  Safetensors const file(path);
  check_format(path, file);
  check_no_others(path, file, model_.layout());
  std::string const step = metadata_of(path, file, "step"), note = metadata_of(path, file, "note");
  std::int64_t number = 0;
  auto const parsed = std::from_chars(step.data(), step.data() + step.size(), number);
  expect(parsed.ec == std::errc() && parsed.ptr == step.data() + step.size() && number >= 0, path.string(),
         ": step is ", step, ", expected a whole number");
  auto const parameters = read_arena<T>(file, model_.layout(), "");
  auto const moment1 = read_arena<T>(file, model_.layout(), "moment1.");
  auto const moment2 = read_arena<T>(file, model_.layout(), "moment2.");
  Kokkos::deep_copy(model_.parameters(), parameters);
  Kokkos::deep_copy(moment1_, moment1);
  Kokkos::deep_copy(moment2_, moment2);
  step_ = number;
  return note;
}

template <class T>
void save_parameters(fs::path const& path, Model<T> const& model, std::string const& note) {
  HostArena<T> const parameters(model.parameters());
  std::vector<TensorBytes> tensors;
  parameters.list(model.layout(), "", tensors);
  write_safetensors(path, tensors, {{"format", format_name}, {"step", "0"}, {"note", note}});
}

template <class T>
std::string load_parameters(fs::path const& path, Model<T>& model) {
  Safetensors const file(path);
  check_format(path, file);
  check_no_others(path, file, model.layout());
  std::string const note = metadata_of(path, file, "note");
  Kokkos::deep_copy(model.parameters(), read_arena<T>(file, model.layout(), ""));
  return note;
}

#define SEXTANT_INSTANTIATE(T)                                                         \
  template void Trainer<T>::save(fs::path const&, std::string const&) const;           \
  template std::string Trainer<T>::load(fs::path const&);                              \
  template void save_parameters(fs::path const&, Model<T> const&, std::string const&); \
  template std::string load_parameters(fs::path const&, Model<T>&);
SEXTANT_INSTANTIATE(float)
SEXTANT_INSTANTIATE(double)
#undef SEXTANT_INSTANTIATE

}  // namespace sextant::model
