#include <sextant/base/error.hpp>
#include <sextant/encoding/adapter.hpp>

#include <cmath>

namespace sextant::encoding {
namespace {
auto normal_of(double std) {
  return [std](Stream const& stream, std::size_t i) { return std * stream.normal(i); };
}

void add_feature(std::vector<ParameterInfo>& out, FeatureSpec const& spec, Shape const& shape) {
  std::size_t const heads = shape.heads, width = spec.width, in = shape.model_dim, rank = spec.rank;
  auto const normal = normal_of(spec.std);
  std::string const name = spec.name;
  if (rank > 0) {
    out.push_back({name + "_down", {rank, in}, normal, true, false});
    out.push_back({name + "_up", {heads, width, rank}, normal});
  } else {
    out.push_back({name, {heads, width, in}, normal});
  }
  if (spec.taps > 0) {
    std::size_t const taps = spec.taps;
    out.push_back({name + "_conv", {heads, width, taps}, [taps](Stream const&, std::size_t i) {
                     return i % taps == 0 ? 1.0 : 0.0;
                   }});
  }
}

ParameterInfo table_of(int length, int model_dim) {
  ParameterInfo info{.name = "table", .shape = {static_cast<std::size_t>(length), static_cast<std::size_t>(model_dim)}};
  info.per_layer = info.per_head = false;
  info.init = normal_of(0.02);
  return info;
}
}  // namespace

std::vector<ParameterInfo> FormulaEncoding::parameters(Shape const& shape) const {
  std::vector<ParameterInfo> out;
  std::size_t const heads = weights_shared_by_heads() ? 1 : shape.heads;
  if (int const count = weight_count(shape); count > 0 && trains(shape)) {
    // A struct of scalars and an array both lie [heads, count]: one tensor, named after its members.
    ParameterInfo info{.name = weight_name(), .shape = {heads, static_cast<std::size_t>(count)}};
    info.per_layer = per_layer();
    info.per_head = !weights_shared_by_heads();
    info.init = weight_init(shape);
    out.push_back(std::move(info));
  }
  for (auto const& spec : gate_specs()) add_gate(out, spec, shape);
  for (auto const& spec : stages(shape).features) add_feature(out, spec, shape);
  for (auto& info : tensors(shape)) out.push_back(std::move(info));
  if (int const length = table_length(); length > 0) out.push_back(table_of(length, shape.model_dim));
  return out;
}

std::vector<double> FormulaEncoding::initial_weights(Shape const& shape, Stream const& stream) const {
  std::size_t const heads = weights_shared_by_heads() ? 1 : shape.heads;
  std::vector<double> out(heads * static_cast<std::size_t>(std::max(weight_count(shape), 0)));
  if (Init const init = weight_init(shape))
    for (std::size_t i = 0; i < out.size(); ++i) out[i] = init(stream, i);
  return out;
}

std::vector<GateSpec> FormulaEncoding::gate_specs() const {
  std::vector<GateSpec> out;
  for (int g = 0; g < gate_count(); ++g) out.push_back(gate_spec(g));
  return out;
}

std::size_t FormulaEncoding::weight_row(Shape const& shape, int head) const {
  return weights_shared_by_heads() ? 0 : static_cast<std::size_t>(head) * weight_count(shape);
}

void FormulaEncoding::add_gate(std::vector<ParameterInfo>& out, GateSpec const& spec, Shape const& shape) const {
  if (!spec.active) return;
  std::size_t const heads = spec.shared_by_heads ? 1 : shape.heads;
  std::size_t const width = spec.input == GateInput::token ? shape.model_dim : shape.head_dim;
  if (spec.weight_name) {
    double const std = spec.weight_zero ? 0 : spec.weight_std > 0 ? spec.weight_std : 1 / std::sqrt(shape.head_dim);
    out.push_back({spec.weight_name, {heads, width}, normal_of(std), true, !spec.shared_by_heads});
  }
  if (spec.bias_name) {
    Init init = gate_bias_init(shape);
    if (!init) init = [](Stream const&, std::size_t) { return 0.0; };
    out.push_back({spec.bias_name, {heads}, std::move(init), true, !spec.shared_by_heads});
  }
}

void FormulaEncoding::check_rotary(Rotary const& form, Shape const& shape) {
  int const below = shape.head_dim / 2 * 2;
  expect(form.rotary_dim > 0 && form.rotary_dim % 2 == 0 && form.rotary_dim <= shape.head_dim, "rotary_dim is ",
         form.rotary_dim, ", expected an even number from 2 to ", below, " (head_dim ", shape.head_dim, ")");
  expect(!form.per_head || shape.heads == shape.kv_heads, "frequencies per head need as many key heads (",
         shape.kv_heads, ") as query heads (", shape.heads, ")");
}

}  // namespace sextant::encoding
