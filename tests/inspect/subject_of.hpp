// A position block to inspect, from names and options.
#pragma once
#include <sextant/inspect/subject.hpp>

#include "support/plugin.hpp"

namespace sextant::test {

struct Look {
  double length = 1024;
  int trained = 0;
  int heads = 4, head_dim = 16, model_dim = 32;
  std::vector<encoding::Choice> scalings = {};
  std::uint64_t seed = 1;
};

inline inspect::Subject subject_of(std::vector<encoding::Choice> encodings, Look look = {}) {
  return inspect::Subject(
      {std::move(encodings), look.scalings, look.trained}, encoding::Registry::global(),
      {{.heads = look.heads, .kv_heads = look.heads, .head_dim = look.head_dim, .model_dim = look.model_dim},
       look.length,
       look.seed});
}
inline inspect::Subject subject_of(std::string const& name, Look look = {}) {
  return subject_of({encoding::Choice{name, {}, {}}}, std::move(look));
}

}  // namespace sextant::test
