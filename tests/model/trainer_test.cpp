#include <sextant/base/error.hpp>
#include <sextant/model/safetensors.hpp>
#include <sextant/model/trainer.hpp>

#include <unistd.h>
#include <catch2/catch_all.hpp>
#include <filesystem>
#include <model/model_case.hpp>

using namespace sextant;
using namespace sextant::model;
using Catch::Matchers::ContainsSubstring;

namespace {
// A folder that is gone when the test ends.
struct Folder {
  fs::path path = fs::temp_directory_path() / text("sextant-trainer-", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
};

TrainConfig quick() {
  TrainConfig config;
  config.schedule = {3e-3, 2, 12, 0.1};
  return config;
}

Batch batch_of(std::int64_t step) { return test::random_batch(text("step ", step), 3, 9, 13); }

std::vector<encoding::Choice> const learning = {{"rope", {}, {}}, {"fox", {}, {}}};
}  // namespace

TEST_CASE("schedule: rises to the rate, falls along half a cosine to the floor and stays", "[trainer]") {
  Schedule const schedule{2.0, 10, 110, 0.1};
  CHECK(schedule.rate_at(1) == Catch::Approx(0.2));
  CHECK(schedule.rate_at(10) == Catch::Approx(2.0));
  CHECK(schedule.rate_at(60) == Catch::Approx(2.0 * (0.1 + 0.9 * 0.5)));
  CHECK(schedule.rate_at(110) == Catch::Approx(0.2));
  CHECK(schedule.rate_at(1000) == Catch::Approx(0.2));
  CHECK_THROWS_WITH((Schedule{1e-3, 20, 10, 0.1}.check()), "schedule: warmup is 20 steps, expected 0 to the 10 in all");
}

TEST_CASE("trainer: loss falls on text that repeats", "[trainer]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "rope"), 1);
  Trainer<float> trainer(model, quick());
  auto const batch = batch_of(0);
  double first = 0, last = 0;
  for (int step = 1; step <= 12; ++step) {
    auto const report = trainer.step(Exec(), batch);
    CHECK(report.step == step);
    (step == 1 ? first : last) = report.loss;
  }
  CHECK(last < first - 0.1);
}

TEST_CASE("trainer: clipping scales a long gradient to the limit", "[trainer]") {
  auto const config = test::tiny_config();
  Model<double> clipped(config, test::make_position(config, "nope"), 1),
      plain(config, test::make_position(config, "nope"), 1);
  auto options = quick();
  options.decay = 0;
  options.eps = 1e3;  // so large that a step is proportional to the gradient
  options.clip = 1e-3;
  Trainer<double> with(clipped, options);
  options.clip = 0;
  Trainer<double> without(plain, options);
  auto const before =
      std::vector<double>(plain.parameters().data(), plain.parameters().data() + plain.parameters().size());
  double const norm = with.step(Exec(), batch_of(0)).gradient_norm;
  without.step(Exec(), batch_of(0));
  REQUIRE(norm > 0.1);
  double dot = 0, square = 0;
  for (std::size_t i = 0; i < before.size(); ++i) {
    double const short_step = clipped.parameters()(i) - before[i], long_step = plain.parameters()(i) - before[i];
    dot += short_step * long_step;
    square += long_step * long_step;
  }
  CHECK(dot / square == Catch::Approx(1e-3 / norm).epsilon(1e-3));
}

TEST_CASE("trainer: a run that is saved and loaded ends with the bits of one left alone", "[trainer][resume]") {
  Folder const folder;
  fs::path const file = folder.path / "checkpoint.safetensors";
  auto const config = test::tiny_config();
  auto const position = test::make_position(config, learning);
  Model<float> whole(config, position, 1);
  Trainer<float> left_alone(whole, quick());
  std::vector<double> losses;
  for (int step = 1; step <= 12; ++step) {
    losses.push_back(left_alone.step(Exec(), batch_of(step)).loss);
    if (step == 5) left_alone.save(file, "five");
  }
  Model<float> other(config, position, 999);
  Trainer<float> resumed(other, quick());
  CHECK(resumed.load(file) == "five");
  REQUIRE(resumed.steps_done() == 5);
  for (int step = 6; step <= 12; ++step) CHECK(resumed.step(Exec(), batch_of(step)).loss == losses[step - 1]);
  CHECK(test::same_bits(other.parameters(), whole.parameters()));

  Model<float> evaluated(config, position, 7);
  CHECK(load_parameters(file, evaluated) == "five");
  resumed.load(file);
  CHECK(test::same_bits(evaluated.parameters(), other.parameters()));
}

TEST_CASE("checkpoint: torn, damaged and foreign files are refused by name, and nothing is changed",
          "[trainer][error]") {
  Folder const folder;
  fs::path const file = folder.path / "checkpoint.safetensors";
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, learning), 1);
  Trainer<float> trainer(model, quick());
  trainer.step(Exec(), batch_of(1));
  trainer.save(file);
  std::string const content = read_file(file);
  std::vector<float> const before(model.parameters().data(), model.parameters().data() + model.parameters().size());
  auto const refuses = [&](std::string const& bytes, std::string const& message) {
    write_file_atomically(file, bytes);
    CHECK_THROWS_WITH(trainer.load(file), ContainsSubstring("checkpoint.safetensors") && ContainsSubstring(message));
    CHECK(test::same_bits(model.parameters(), before));
  };
  refuses(content.substr(0, 5), "torn: 5 bytes");
  refuses(content.substr(0, 100), "torn: the header takes");
  refuses(content.substr(0, content.size() - 4), "torn: ");
  refuses(content + "more", "4 bytes belong to no tensor");
  std::string damaged = content;
  damaged[damaged.size() - 9] = static_cast<char>(damaged[damaged.size() - 9] ^ 1);
  refuses(damaged, "damaged: sha256");
  write_file_atomically(file, content);
  CHECK_NOTHROW(trainer.load(file));

  auto wider = config;
  wider.mlp_width = 11;
  Model<float> other(wider, test::make_position(wider, learning), 1);
  CHECK_THROWS_WITH(load_parameters(file, other),
                    ContainsSubstring("layers.0.mlp.gate.weight is F32 [10, 12], expected F32 [11, 12]"));
  Model<float> plain(config, test::make_position(config, "rope"), 1);
  CHECK_THROWS_WITH(load_parameters(file, plain), ContainsSubstring("which this model does not have"));
  Model<double> precise(config, test::make_position(config, learning), 1);
  CHECK_THROWS_WITH(load_parameters(file, precise), ContainsSubstring("expected F64"));
}

TEST_CASE("trainer: a loss that is not finite stops the run and leaves the parameters", "[trainer][error]") {
  auto const config = test::tiny_config();
  Model<float> model(config, test::make_position(config, "nope"), 1);
  Trainer<float> trainer(model, quick());
  model.parameter("norm.weight")(0) = NAN;
  CHECK_THROWS_WITH(trainer.step(Exec(), batch_of(1)), ContainsSubstring("train: step 1: loss is"));
  CHECK(trainer.steps_done() == 0);
}

TEST_CASE("model: equal names give equal parameters whatever else the model has", "[model]") {
  auto const config = test::tiny_config();
  auto untied = config;
  untied.tie_embedding = false;
  Model<float> one(config, test::make_position(config, "nope"), 42),
      two(untied, test::make_position(untied, "rope"), 42);
  CHECK(test::same_bits(one.parameter("layers.1.mlp.down.weight"), two.parameter("layers.1.mlp.down.weight")));
  double square = 0;
  auto const down = one.parameter("layers.1.mlp.down.weight");
  for (std::size_t i = 0; i < down.size(); ++i) square += down(i) * down(i);
  CHECK(std::sqrt(square / down.size()) == Catch::Approx(0.3 / 2).epsilon(0.2));  // std / sqrt(2 layers), 120 draws
}

TEST_CASE("model: another scaling sees the same parameters and gives other logits", "[model]") {
  auto const config = test::tiny_config();
  std::vector<encoding::Choice> const rope = {{"rope", {}, {}}};
  Model<float> model(config, test::make_position(config, rope), 1);
  Model<float> scaled =
      model.with_position(test::make_position(config, rope, {{"linear", {{"factor", 4.0}}, {}}}, 16, 64));
  CHECK(scaled.parameters().data() == model.parameters().data());
  auto const batch = test::random_batch("scaled", 1, 30, 13);
  CHECK(test::largest_difference(test::all_logits(model, batch), test::all_logits(scaled, batch)) > 1e-3);
  CHECK_THROWS_WITH(model.with_position(test::make_position(config, "learned")),
                    ContainsSubstring("the other position block trains position.learned.table"));
}
