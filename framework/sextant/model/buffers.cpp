#include <sextant/model/buffers.hpp>

#include <algorithm>

namespace sextant::model {
namespace {
// Rows of logits formed at once: about 4M entries, and where they are few, whole blocks of the product's 96 rows.
int logits_at_once(int vocabulary) {
  int const rows = (1 << 22) / vocabulary;
  return rows >= 1024 ? rows : std::max(1, rows / 96) * 96;
}

template <class T>
View2<T> array(char const* label, int rows, int width) {
  return View2<T>(uninitialized(label), static_cast<std::size_t>(rows), static_cast<std::size_t>(width));
}

// All of a layer but its input.
template <class T>
LayerBuffers<T> make_inside(ModelConfig const& config, int batch, int seq_len) {
  int const rows = batch * seq_len;
  LayerBuffers<T> layer;
  layer.x_normed = array<T>("sextant::x_normed", rows, config.width);
  layer.x_stats = array<T>("sextant::x_stats", rows, 2);
  layer.qkv = array<T>("sextant::qkv", rows, config.qkv_width());
  if (config.qk_norm) {
    layer.qk = array<T>("sextant::qk", rows, config.query_width() + config.kv_width());
    layer.query_stats = array<T>("sextant::query_stats", rows * config.heads, 2);
    layer.key_stats = array<T>("sextant::key_stats", rows * config.kv_heads, 2);
  }
  if (config.kv_shift) {
    layer.shift = array<T>("sextant::shift", rows, 2 * config.kv_heads);
    layer.plain_kv = array<T>("sextant::plain_kv", rows, 2 * config.kv_width());
  }
  layer.attended = array<T>("sextant::attended", rows, config.query_width());
  layer.log_sum_exp = View3<T>(uninitialized("sextant::log_sum_exp"), batch, config.heads, seq_len);
  layer.middle = array<T>("sextant::middle", rows, config.width);
  layer.middle_normed = array<T>("sextant::middle_normed", rows, config.width);
  layer.middle_stats = array<T>("sextant::middle_stats", rows, 2);
  layer.mlp_in = array<T>("sextant::mlp_in", rows, config.mlp_in_width());
  layer.mlp_active = array<T>("sextant::mlp_active", rows, config.mlp_width);
  return layer;
}
}  // namespace

template <class T>
Buffers<T>::Buffers(ModelConfig const& config, int batch_size, int length, Keep what)
    : batch(batch_size), seq_len(length), keep(what) {
  int const n = rows();
  x = array<T>("sextant::x", n, config.width);
  x_normed = array<T>("sextant::x_normed", n, config.width);
  x_stats = array<T>("sextant::x_stats", n, 2);
  LayerBuffers<T> shared;
  if (keep != Keep::all) shared = make_inside<T>(config, batch, seq_len);
  for (int layer = 0; layer < config.layers; ++layer) {
    layers.push_back(keep == Keep::all ? make_inside<T>(config, batch, seq_len) : shared);
    layers.back().x = keep == Keep::nothing ? x : array<T>("sextant::x", n, config.width);
  }
  branch = array<T>("sextant::branch", n, config.width);
  logits = array<T>("sextant::logits", std::min(n, logits_at_once(config.vocabulary)), config.vocabulary);
  nll = View1<double>(uninitialized("sextant::nll"), static_cast<std::size_t>(n));
  target = View1<int>(uninitialized("sextant::target"), static_cast<std::size_t>(n));
  if (keep == Keep::nothing) return;
  grad = array<T>("sextant::grad", n, config.width);
  grad_normed = array<T>("sextant::grad_normed", n, config.width);
  grad_attended = array<T>("sextant::grad_attended", n, config.query_width());
  grad_qkv = array<T>("sextant::grad_qkv", n, config.qkv_width());
  grad_active = array<T>("sextant::grad_active", n, config.mlp_width);
}

template struct Buffers<float>;
template struct Buffers<double>;

}  // namespace sextant::model
