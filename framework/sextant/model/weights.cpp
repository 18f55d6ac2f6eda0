#include <sextant/base/error.hpp>
#include <sextant/model/weights.hpp>

#include <cmath>

namespace sextant::model {
namespace {
std::string layer_name(int layer, std::string const& part) { return text("layers.", layer, ".", part); }

void add_norm(Layout& layout, ModelConfig const& config, std::string const& name) {
  std::size_t const width = config.width;
  layout.add(name + ".weight", {width}, false, constant_init(1));
  if (config.norm == NormKind::layernorm) layout.add(name + ".bias", {width}, false, constant_init(0));
}

void add_layer(Layout& layout, ModelConfig const& config, int layer) {
  double const deep = config.residual_by_depth ? config.init_std / std::sqrt(2.0 * config.layers) : config.init_std;
  auto const add = [&](char const* part, int out, int in, double std) {
    layout.add(layer_name(layer, part), {static_cast<std::size_t>(out), static_cast<std::size_t>(in)}, true,
               normal_init(std));
  };
  add_norm(layout, config, layer_name(layer, "attention.norm"));
  add("attention.query.weight", config.query_width(), config.width, config.init_std);
  add("attention.key.weight", config.kv_width(), config.width, config.init_std);
  add("attention.value.weight", config.kv_width(), config.width, config.init_std);
  if (config.qkv_bias) {
    layout.add(layer_name(layer, "attention.query.bias"), {std::size_t(config.query_width())}, false, constant_init(0));
    for (char const* part : {"attention.key.bias", "attention.value.bias"})
      layout.add(layer_name(layer, part), {std::size_t(config.kv_width())}, false, constant_init(0));
  }
  if (config.kv_shift) add("attention.shift.weight", 2 * config.kv_heads, config.width, config.init_std);
  add("attention.output.weight", config.width, config.query_width(), deep);
  if (config.qk_norm)
    for (char const* part : {"attention.query_norm.weight", "attention.key_norm.weight"})
      layout.add(layer_name(layer, part), {static_cast<std::size_t>(config.head_dim)}, false, constant_init(1));
  add_norm(layout, config, layer_name(layer, "mlp.norm"));
  if (config.gated()) add("mlp.gate.weight", config.mlp_width, config.width, config.init_std);
  add("mlp.up.weight", config.mlp_width, config.width, config.init_std);
  add("mlp.down.weight", config.width, config.mlp_width, deep);
}

template <class T>
class Finder {
 public:
  Finder(Layout const& layout, View1<T> const& arena, View1<BFloat16> const& rounded)
      : layout_(layout), arena_(arena), rounded_(rounded) {}
  View1<T> vector(std::string const& name) const { return vector(name, layout_.find(name).size()); }
  /// The numbers that begin with this slice and, with its neighbours, are `size`.
  View1<T> vector(std::string const& name, std::size_t size) const {
    return View1<T>(arena_.data() + layout_.find(name).offset, size);
  }
  /// The matrix that begins with this slice and, with its neighbours, has `rows` rows.
  View2<T> matrix(std::string const& name, int rows) const {
    Slice const& slice = layout_.find(name);
    return View2<T>(arena_.data() + slice.offset, static_cast<std::size_t>(rows), slice.shape[1]);
  }
  Projection<T> projection(std::string const& name, int rows) const {
    Projection<T> out{matrix(name, rows), {}};
    Slice const& slice = layout_.find(name);
    if (rounded_.size())
      out.rounded = View2<BFloat16>(rounded_.data() + slice.offset, static_cast<std::size_t>(rows), slice.shape[1]);
    return out;
  }
  NormWeights<T> norm(std::string const& name) const {
    return {vector(name + ".weight"), layout_.has(name + ".bias") ? vector(name + ".bias") : View1<T>()};
  }

 private:
  Layout const& layout_;
  View1<T> const& arena_;
  View1<BFloat16> const& rounded_;
};

template <class T>
LayerWeights<T> see_layer(ModelConfig const& config, Finder<T> const& find, int layer) {
  auto const name = [&](char const* part) { return layer_name(layer, part); };
  LayerWeights<T> w;
  w.attention_norm = find.norm(name("attention.norm"));
  w.qkv = find.projection(name("attention.query.weight"), config.qkv_width());
  if (config.qkv_bias) w.qkv_bias = find.vector(name("attention.query.bias"), config.qkv_width());
  w.output = find.projection(name("attention.output.weight"), config.width);
  if (config.kv_shift) w.shift = find.projection(name("attention.shift.weight"), 2 * config.kv_heads);
  if (config.qk_norm) {
    w.query_norm = find.norm(name("attention.query_norm"));
    w.key_norm = find.norm(name("attention.key_norm"));
  }
  w.mlp_norm = find.norm(name("mlp.norm"));
  w.mlp_in = find.projection(name(config.gated() ? "mlp.gate.weight" : "mlp.up.weight"), config.mlp_in_width());
  w.mlp_down = find.projection(name("mlp.down.weight"), config.width);
  return w;
}
}  // namespace

template <class T>
Layout make_layout(ModelConfig const& config, std::vector<typename encoding::Binding<T>::Slot> const& slots) {
  Layout layout;
  std::size_t const vocabulary = config.vocabulary, width = config.width;
  layout.add("embedding.weight", {vocabulary, width}, true, normal_init(config.init_std));
  for (int layer = 0; layer < config.layers; ++layer) add_layer(layout, config, layer);
  add_norm(layout, config, "norm");
  if (!config.tie_embedding) layout.add("output.weight", {vocabulary, width}, true, normal_init(config.init_std));
  for (auto const& slot : slots)
    layout.add(slot.name, slot.parameter->info.shape, false,
               [slot](Stream const& stream, std::size_t i) { return slot.initial(stream, i); });
  layout.settle();
  return layout;
}

template <class T>
Weights<T> see_weights(ModelConfig const& config, Layout const& layout, View1<T> const& arena,
                       View1<BFloat16> const& rounded) {
  Finder<T> const find(layout, arena, rounded);
  Weights<T> w;
  w.embedding = find.matrix("embedding.weight", config.vocabulary);
  w.output = find.projection(config.tie_embedding ? "embedding.weight" : "output.weight", config.vocabulary);
  w.norm = find.norm("norm");
  for (int layer = 0; layer < config.layers; ++layer) w.layers.push_back(see_layer(config, find, layer));
  return w;
}

template Layout make_layout<float>(ModelConfig const&, std::vector<encoding::Binding<float>::Slot> const&);
template Layout make_layout<double>(ModelConfig const&, std::vector<encoding::Binding<double>::Slot> const&);
template Weights<float> see_weights(ModelConfig const&, Layout const&, View1<float> const&, View1<BFloat16> const&);
template Weights<double> see_weights(ModelConfig const&, Layout const&, View1<double> const&, View1<BFloat16> const&);

}  // namespace sextant::model
