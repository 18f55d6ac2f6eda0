// Small models and batches that the tests of the model room share.
#pragma once
#include <sextant/encoding/position.hpp>
#include <sextant/model/model.hpp>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

namespace sextant::test {

inline model::ModelConfig tiny_config() {
  model::ModelConfig config;
  config.vocabulary = 13;
  config.layers = 2;
  config.width = 12;
  config.heads = 4;
  config.kv_heads = 2;
  config.head_dim = 6;
  config.mlp_width = 10;
  config.init_std = 0.3;  // large enough that every path shows in the loss
  return config;
}

/// The named encodings summed, with the options given after the names.
inline std::shared_ptr<encoding::Position const> make_position(model::ModelConfig const& config,
                                                               std::vector<encoding::Choice> encodings,
                                                               std::vector<encoding::Choice> scalings = {},
                                                               int trained_length = 16, double target_length = 0) {
  encoding::Shape shape;
  shape.heads = config.heads;
  shape.kv_heads = config.kv_heads;
  shape.head_dim = config.head_dim;
  shape.model_dim = config.width;
  return std::make_shared<encoding::Position const>(
      encoding::PositionChoice{std::move(encodings), std::move(scalings), trained_length}, encoding::Registry::global(),
      shape, target_length);
}
inline std::shared_ptr<encoding::Position const> make_position(model::ModelConfig const& config,
                                                               std::string const& use) {
  return make_position(config, std::vector<encoding::Choice>{{use, {}, {}}});
}

/// Tokens from a stream of that name, targets the tokens that follow.
inline model::Batch random_batch(std::string const& name, int rows, int length, int vocabulary) {
  View2<int> text("text", static_cast<std::size_t>(rows), static_cast<std::size_t>(length) + 1);
  Stream const stream(11, name);
  for (std::size_t i = 0; i < text.size(); ++i) text.data()[i] = static_cast<int>(stream.below(vocabulary, i));
  return model::next_token_batch(Exec(), text);
}

template <class T>
View2<T> all_logits(model::Model<T>& model, model::Batch const& batch) {
  View2<T> out("logits", static_cast<std::size_t>(batch.count()), static_cast<std::size_t>(model.config().vocabulary));
  model.logits(Exec(), batch, out);
  return out;
}

template <class X, class Y>
double largest_difference(X const& x, Y const& y) {
  double worst = x.size() == y.size() ? 0 : INFINITY;
  for (std::size_t i = 0; i < std::min(x.size(), y.size()); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(x.data()[i]) - static_cast<double>(y.data()[i])));
  return worst;
}
template <class X, class Y>
bool same_bits(X const& x, Y const& y) {
  for (std::size_t i = 0; i < x.size() && x.size() == y.size(); ++i)
    if (x.data()[i] != y.data()[i]) return false;
  return x.size() == y.size();
}

}  // namespace sextant::test
