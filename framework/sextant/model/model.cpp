#include <sextant/base/error.hpp>
#include <sextant/kernels/affine.hpp>
#include <sextant/kernels/loss.hpp>
#include <sextant/model/layer.hpp>
#include <sextant/model/model.hpp>
#include <sextant/model/rows.hpp>

#include <algorithm>

namespace sextant::model {

using kernels::as_groups;

namespace {
std::shared_ptr<encoding::Position const> checked(ModelConfig const& config,
                                                  std::shared_ptr<encoding::Position const> position) {
  config.check();
  expect(position != nullptr, "model: no position block; nope is the name for none");
  encoding::Shape const& s = position->shape();
  bool const fits = s.heads == config.heads && s.kv_heads == config.kv_heads && s.head_dim == config.head_dim &&
                    s.model_dim == config.width;
  expect(fits, "model: the position block was made for heads ", s.heads, ", kv_heads ", s.kv_heads, ", head_dim ",
         s.head_dim, ", width ", s.model_dim, ", expected ", config.heads, ", ", config.kv_heads, ", ", config.head_dim,
         ", ", config.width);
  return position;
}
}  // namespace

template <class T>
Model<T>::Model(ModelConfig const& config, std::shared_ptr<encoding::Position const> position, std::uint64_t seed,
                Start start)
    : config_(config),
      binding_(checked(config, std::move(position)), config.layers),
      layout_(make_layout<T>(config_, binding_.slots())),
      parameters_("sextant::parameters", layout_.size()) {
  if (config_.precision == Precision::bf16) {
    expect((std::is_same_v<T, float>),
           "model: precision bf16 is for a model of floats, expected fp32 for one of doubles");
    rounded_->weights = View1<BFloat16>(uninitialized("sextant::rounded"), layout_.decayed());
  }
  layout_.initialise(seed, parameters_, start == Start::drawn ? 0 : layout_.slices().size() - binding_.slots().size());
  attach();
}

template <class T>
Model<T>::Model(Model const& other, std::shared_ptr<encoding::Position const> position)
    : config_(other.config_),
      binding_(checked(other.config_, std::move(position)), other.config_.layers),
      layout_(make_layout<T>(config_, binding_.slots())),
      parameters_(other.parameters_),
      gradients_(other.gradients_),
      rounded_(other.rounded_) {
  for (auto const& slice : other.layout_.slices()) {
    expect(layout_.has(slice.name), "model: under the other position block there is no ", slice.name);
    expect(layout_.find(slice.name).shape == slice.shape, "model: under the other position block ", slice.name, " is ",
           layout_.find(slice.name).shape, ", expected ", slice.shape);
  }
  for (auto const& slice : layout_.slices())
    expect(other.layout_.has(slice.name), "model: the other position block trains ", slice.name,
           ", which this model does not have");
  layout_ = other.layout_;
  attach();
}

template <class T>
Model<T> Model<T>::with_position(std::shared_ptr<encoding::Position const> position) const {
  return Model(*this, std::move(position));
}

template <class T>
void Model<T>::attach() {
  weights_ = see_weights(config_, layout_, parameters_, rounded_->weights);
  if (gradients_.size()) grads_ = see_weights(config_, layout_, gradients_);
  std::vector<View1<T>> weights, gradients;
  for (auto const& slot : binding_.slots()) {
    weights.push_back(parameter(slot.name));
    if (gradients_.size()) gradients.push_back(gradient(slot.name));
  }
  binding_.attach(weights, gradients);
}

template <class T>
void Model<T>::round_weights(Exec const& exec) {
  if constexpr (std::is_same_v<T, float>) {
    if (!rounded_->stale || rounded_->weights.size() == 0) return;
    kernels::round_all_to_bf16(exec, View1<float const>(parameters_.data(), layout_.decayed()), rounded_->weights);
    rounded_->stale = false;
  }
}

template <class T>
void Model<T>::attach_gradients() {
  if (gradients_.size() == layout_.size()) return;
  gradients_ = View1<T>("sextant::gradients", layout_.size());
  attach();
}

template <class T>
View1<T> const& Model<T>::gradients() const {
  expect(gradients_.size() == layout_.size(), "model: there are no gradients before the first loss_and_gradient");
  return gradients_;
}

template <class T>
View1<T> Model<T>::see(View1<T> const& arena, std::string const& name) const {
  Slice const& slice = layout_.find(name);
  return View1<T>(arena.data() + slice.offset, slice.size());
}

template <class T>
Buffers<T>& Model<T>::buffers(int batch, int seq_len, Keep keep) {
  auto const fits = [&](auto const& plan) {
    return plan->batch == batch && plan->seq_len == seq_len && plan->keep == keep;
  };
  auto found = std::find_if(buffers_.begin(), buffers_.end(), fits);
  if (found == buffers_.end()) {
    if (buffers_.size() == 2) buffers_.pop_back();
    buffers_.push_back(std::make_unique<Buffers<T>>(config_, batch, seq_len, keep));
    found = buffers_.end() - 1;
  }
  std::rotate(buffers_.begin(), found, found + 1);
  return *buffers_.front();
}

template <class T>
Pass<T> Model<T>::begin(Exec const& exec, Batch const& batch, Buffers<T>& buffers) {
  View2<double> const position = batch.positions.size() ? batch.positions : running_positions(exec, batch.seq_len());
  binding_.begin(exec, {batch.size(), 0, batch.seq_len(), position, batch.documents});
  for (int n = 0; n < config_.layers; ++n) {
    buffers.layers[n].few = false;
    binding_.reserve(buffers.layers[n].tokens, n, batch.size(), batch.seq_len());
  }
  return {exec, config_, binding_, buffers, position, batch.documents};
}

template <class T>
void Model<T>::embed(Exec const& exec, Batch const& batch, View2<T> const& x) {
  kernels::embedding_forward<T>(exec, weights_.embedding, View1<int const>(batch.tokens.data(), batch.tokens.size()),
                                x);
  if (config_.embedding_scale != 1) kernels::multiply_by<T>(exec, config_.embedding_scale, x);
  if (binding_.embeds()) binding_.embed(exec, x);
}

template <class T>
void Model<T>::forward(Pass<T> const& pass, Batch const& batch, Look const& look) {
  auto const& exec = pass.exec;
  auto& buffers = pass.buffers;
  LayerBuffers<T>& first = buffers.layers.front();
  embed(exec, batch, first.x);
  kernels::norm_forward<T>(exec, norm_of(config_, weights_.layers.front().attention_norm), as_groups(first.x),
                           as_groups(first.x_normed), first.x_stats);
  for (int index = 0; index < config_.layers; ++index) {
    LayerBuffers<T>& layer = buffers.layers[index];
    auto const attention = layer_forward(pass, index, weights_.layers[index], layer);
    bool const last = index + 1 == config_.layers;
    if (!last) {
      LayerBuffers<T>& next = buffers.layers[index + 1];
      if (buffers.keep != Keep::all) {  // the next layer maps query and key into the same memory
        next.tokens.query = std::move(layer.tokens.query);
        next.tokens.key = std::move(layer.tokens.key);
      }
      kernels::add_norm_forward<T>(exec, norm_of(config_, weights_.layers[index + 1].attention_norm), layer.middle,
                                   buffers.branch, next.x, next.x_normed, next.x_stats);
    } else {
      kernels::add_norm_forward<T>(exec, norm_of(config_, weights_.norm), layer.middle, buffers.branch, buffers.x,
                                   buffers.x_normed, buffers.x_stats);
    }
    if (!look) continue;
    exec.fence();
    look({index, attention, last ? buffers.x : buffers.layers[index + 1].x, last ? buffers.x_normed : View2<T>()});
  }
}

template <class T>
void Model<T>::backward(Pass<T> const& pass) {
  auto const& exec = pass.exec;
  auto& buffers = pass.buffers;
  kernels::norm_backward<T>(exec, norm_of(config_, weights_.norm), as_groups(buffers.x), buffers.x_stats,
                            as_groups(buffers.grad_normed), as_groups(buffers.grad), false, grads_.norm.gain,
                            grads_.norm.bias, buffers.scratch);
  for (int index = config_.layers - 1; index >= 0; --index) {
    LayerBuffers<T>& layer = buffers.layers[index];
    if (buffers.keep == Keep::inputs) {
      kernels::norm_forward<T>(exec, norm_of(config_, weights_.layers[index].attention_norm), as_groups(layer.x),
                               as_groups(layer.x_normed), layer.x_stats);
      layer_forward(pass, index, weights_.layers[index], layer);
    }
    layer_backward(pass, index, weights_.layers[index], grads_.layers[index], layer);
  }
  if (binding_.embeds()) binding_.embed_backward(exec, buffers.grad);
  if (config_.embedding_scale != 1) kernels::multiply_by<T>(exec, config_.embedding_scale, buffers.grad);
  kernels::embedding_backward<T>(exec, buffers.tokens, buffers.grad, grads_.embedding);
}

template <class T>
double Model<T>::loss_and_gradient(Exec const& exec, Batch const& batch, PassOptions const& options) {
  batch.check(exec, config_.vocabulary);
  expect(batch.targets.size() > 0, "model: a loss needs targets");
  attach_gradients();
  rounded_->stale = true;  // an optimiser writes through views that it took once
  round_weights(exec);
  Kokkos::deep_copy(exec, gradients_, T(0));
  int const rows_at_once =
      options.tokens_at_once ? std::clamp(options.tokens_at_once / batch.seq_len(), 1, batch.size()) : batch.size();
  View1<int> const all_targets(uninitialized("sextant::all_targets"), batch.tokens.size());
  std::int64_t const predicted = gather_targets(exec, batch, all_targets);
  if (predicted == 0) return 0;
  double const scale = 1.0 / static_cast<double>(predicted);
  double total = 0;
  for (int row = 0; row < batch.size(); row += rows_at_once) {
    Batch const part = batch.rows(row, std::min(rows_at_once, batch.size() - row));
    Buffers<T>& plan = buffers(part.size(), part.seq_len(), options.recompute ? Keep::inputs : Keep::all);
    Pass<T> const pass = begin(exec, part, plan);
    forward(pass, part);
    kernels::index_tokens(exec, View1<int const>(part.tokens.data(), part.tokens.size()), config_.vocabulary,
                          plan.tokens);
    View1<int> const target = part_of(all_targets, row * part.seq_len(), plan.rows());
    for_logits(exec, weights_, plan, [&](int first, int count, View2<T> const& logits) {
      kernels::cross_entropy_with_gradient<T>(exec, logits, part_of(target, first, count), scale,
                                              part_of(plan.nll, first, count));
      linear_backward(exec, rows_of(plan.x_normed, first, count), weights_.output, logits,
                      rows_of(plan.grad_normed, first, count), grads_.output);
    });
    backward(pass);
    total += kernels::sum(exec, plan.nll, scratch_);
  }
  return total * scale;
}

template class Model<float>;
template class Model<double>;

}  // namespace sextant::model
