// A plugin as a user gets it: by name, through the registry.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/encoding/encoding.hpp>

#include <catch2/catch_all.hpp>

#include <memory>
#include <string>
#include <vector>

namespace sextant::test {
using encoding::Options;

inline std::shared_ptr<encoding::Encoding const> encoding_of(std::string const& name, Options options = {}) {
  return encoding::Registry::global().make_encoding({name, std::move(options), {}});
}
inline std::shared_ptr<encoding::Scaling const> scaling_of(std::string const& name, Options options = {}) {
  return encoding::Registry::global().make_scaling({name, std::move(options), {}});
}
inline encoding::Shape heads_of(int heads, int head_dim = 8, int model_dim = 16) {
  return {.heads = heads, .kv_heads = heads, .head_dim = head_dim, .model_dim = model_dim};
}
/// The weights a fresh model starts from, [heads or 1, count].
inline std::vector<double> start_of(encoding::Encoding const& e, encoding::Shape const& shape, std::uint64_t seed = 1) {
  return e.initial_weights(shape, Stream(seed, "start"));
}
/// inv_freq of head 0 at its starting weights.
inline std::vector<double> ladder_of(encoding::Encoding const& e, encoding::Shape const& shape) {
  auto const form = e.rotary(shape);
  std::vector<double> out(static_cast<std::size_t>(form.per_head ? shape.heads : 1) * form.rotary_dim / 2);
  e.inv_freq(shape, start_of(e, shape).data(), out.data());
  return out;
}
inline std::string refusal_of(encoding::Encoding const& e, encoding::Shape const& shape) {
  try {
    e.check(shape);
  } catch (Error const& error) {
    return error.what();
  }
  return "";
}
}  // namespace sextant::test
