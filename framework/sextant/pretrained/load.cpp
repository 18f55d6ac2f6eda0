#include <sextant/base/error.hpp>
#include <sextant/pretrained/names.hpp>
#include <sextant/pretrained/rope.hpp>
#include <sextant/pretrained/rows.hpp>
#include <sextant/pretrained/source.hpp>

#include <algorithm>
#include <set>

namespace sextant::pretrained {
namespace {
bool ends_with_any(std::string const& name, std::initializer_list<char const*> ends) {
  return std::any_of(ends.begin(), ends.end(), [&](char const* end) { return name.ends_with(end); });
}

// What the file holds beside parameters: tables of rotation, and an output that is tied to the embedding.
bool may_stay(Source const& source, std::string const& name) {
  if (source.description.naming == Naming::sextant && (name.starts_with("moment1.") || name.starts_with("moment2.")))
    return true;
  if (is_rope_tensor(name) || name.ends_with("rotary_emb.inv_freq")) return true;
  if (name != stored_name(source.description.naming, "output.weight")) return false;
  auto const& embedding = source.weights->find(stored_name(source.description.naming, "embedding.weight"));
  auto const& output = source.weights->find(name);
  expect(source.description.config.tie_embedding && output.shape == embedding.shape && output.bytes == embedding.bytes,
         source.path, ": ", name, " differs from ", embedding.name, ", to which the model's configuration ties it");
  return true;
}

void check_surplus(Source const& source, std::set<std::string> const& taken) {
  std::vector<std::string> surplus;
  for (auto const& [name, tensor] : source.weights->tensors())
    if (!taken.count(name) && !may_stay(source, name)) surplus.push_back(name);
  if (surplus.empty()) return;
  std::size_t const count = surplus.size();
  surplus.resize(std::min<std::size_t>(count, 3));
  fail(source.path, ": ", count, " tensors are no parameter of a ", source.description.family,
       " model as configured: ", join(surplus), count > 3 ? ", ..." : "");
}

// Rows of query and key by halves, as the model has them.
void adapt(Description const& d, std::string const& parameter, std::vector<std::size_t> const& shape,
           std::vector<float>& values) {
  bool const turned = ends_with_any(
      parameter, {"attention.query.weight", "attention.key.weight", "attention.query.bias", "attention.key.bias"});
  if (turned && d.rows == RowOrder::neighbours)
    neighbours_to_halves(values, shape.size() == 1 ? 1 : shape[1], d.config.head_dim, d.rotary_dim);
}
}  // namespace

std::shared_ptr<encoding::Position const> position_of(Description const& description,
                                                      encoding::Registry const& registry,
                                                      std::optional<encoding::PositionChoice> const& choice,
                                                      double target_length) {
  auto const& c = description.config;
  encoding::Shape const shape{.heads = c.heads, .kv_heads = c.kv_heads, .head_dim = c.head_dim, .model_dim = c.width};
  return std::make_shared<encoding::Position const>(choice.value_or(description.position), registry, shape,
                                                    target_length);
}

template <class T>
model::Model<T> load(Source const& source, std::shared_ptr<encoding::Position const> position, std::uint64_t seed) {
  Description const& d = source.description;
  model::Model<T> out(d.config, std::move(position), seed, model::Start::zero);
  auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), out.parameters());
  std::set<std::string> taken;
  for (auto const& slice : out.layout().slices()) {
    bool const of_position = slice.name.starts_with("position.");
    if (of_position && !(d.naming == Naming::sextant && source.weights->has(slice.name))) continue;
    auto const& tensor = source.weights->find(stored_name(d.naming, slice.name));
    expect(tensor.shape == slice.shape, source.path, ": ", tensor.name, " is ", tensor.shape, ", expected ",
           slice.shape, " as the configuration has it");
    auto values = values_of(*source.weights, tensor);
    adapt(d, slice.name, slice.shape, values);
    T const more = d.gains_less_one && slice.name.ends_with("norm.weight") ? T(1) : T(0);  // gains whole
    std::transform(values.begin(), values.end(), host.data() + slice.offset,
                   [more](float value) { return static_cast<T>(value) + more; });
    taken.insert(tensor.name);
  }
  check_surplus(source, taken);
  Kokkos::deep_copy(out.parameters(), host);
  return out;
}

template model::Model<float> load(Source const&, std::shared_ptr<encoding::Position const>, std::uint64_t);
template model::Model<double> load(Source const&, std::shared_ptr<encoding::Position const>, std::uint64_t);

}  // namespace sextant::pretrained
