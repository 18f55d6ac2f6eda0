#include <sextant/base/error.hpp>
#include <sextant/model/config.hpp>

#include <cmath>

namespace sextant::model {

void ModelConfig::check() const {
  auto const at_least_one = [](char const* name, int value) {
    expect(value >= 1, "model.", name, " is ", value, ", expected at least 1");
  };
  at_least_one("vocabulary", vocabulary);
  at_least_one("layers", layers);
  at_least_one("width", width);
  at_least_one("heads", heads);
  at_least_one("kv_heads", kv_heads);
  at_least_one("head_dim", head_dim);
  at_least_one("mlp_width", mlp_width);
  expect(heads % kv_heads == 0, "model.kv_heads is ", kv_heads, ", expected a divisor of heads (", heads, ")");
  expect(norm_eps > 0, "model.norm_eps is ", norm_eps, ", expected a number > 0");
  expect(std::isfinite(embedding_scale) && embedding_scale != 0, "model.embedding_scale is ", embedding_scale,
         ", expected a number other than 0");
  expect(init_std > 0, "model.init_std is ", init_std, ", expected a number > 0");
}

}  // namespace sextant::model
