#include <sextant/base/file.hpp>
#include <sextant/model/trainer.hpp>

#include <catch2/catch_all.hpp>
#include <cstdlib>
#include <model/model_case.hpp>
#include <sextant/base/json.hpp>

using namespace sextant;
using namespace sextant::model;

namespace {
nlohmann::json reference() {
  return nlohmann::json::parse(read_file(fs::path(std::getenv("SEXTANT_TEST_DATA")) / "training_reference.json"));
}

template <class T>
struct Follower {
  nlohmann::json const data = reference();
  ModelConfig config;
  TrainConfig train;
  std::unique_ptr<Model<T>> model;
  std::unique_ptr<Trainer<T>> trainer;

  Follower() {
    auto const& m = data["model"];
    config.vocabulary = m["vocabulary"];
    config.layers = m["layers"];
    config.width = m["width"];
    config.heads = m["heads"];
    config.kv_heads = m["kv_heads"];
    config.head_dim = m["head_dim"];
    config.mlp_width = m["mlp_width"];
    config.norm_eps = m["norm_eps"];
    auto const& t = data["train"];
    train.schedule = {t["rate"], t["warmup"], t["steps"], t["floor"]};
    train.beta1 = t["beta1"];
    train.beta2 = t["beta2"];
    train.eps = t["eps"];
    train.decay = t["decay"];
    train.clip = t["clip"];
    encoding::Choice rope{"rope", {}, {}};
    rope.options["base"] = m["rope_base"].template get<double>();
    model = std::make_unique<Model<T>>(config, test::make_position(config, std::vector{rope}), 0);
    REQUIRE(data["weights"].size() == model->layout().slices().size());
    for (auto const& [name, values] : data["weights"].items()) {
      auto const parameter = model->parameter(name);
      REQUIRE(values.size() == parameter.size());
      for (std::size_t i = 0; i < values.size(); ++i) parameter(i) = values[i].template get<T>();
    }
    trainer = std::make_unique<Trainer<T>>(*model, train);
  }

  StepReport step(std::size_t k) {
    auto const& rows = data["batches"][k];
    View2<int> text("text", rows.size(), rows[0].size());
    for (std::size_t b = 0; b < rows.size(); ++b)
      for (std::size_t i = 0; i < rows[b].size(); ++i) text(b, i) = rows[b][i];
    return trainer->step(Exec(), next_token_batch(Exec(), text));
  }
};
}  // namespace

TEMPLATE_TEST_CASE("model: twenty training steps follow the float64 reference", "[model][reference]", float, double) {
  double const tolerance = std::is_same_v<TestType, float> ? 1e-4 : 1e-11;
  Follower<TestType> follower;
  REQUIRE(follower.data["losses"].size() == 20);
  for (std::size_t k = 0; k < 20; ++k) {
    StepReport const report = follower.step(k);
    INFO("step " << k + 1);
    CHECK(report.loss == Catch::Approx(follower.data["losses"][k].template get<double>()).epsilon(tolerance));
    CHECK(report.gradient_norm ==
          Catch::Approx(follower.data["gradient_norms"][k].template get<double>()).epsilon(10 * tolerance));
  }
}
