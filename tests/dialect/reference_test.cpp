// The readers against reference values of others: transformers' own numbers, and a plain loop that follows ggml.
#include <cmath>
#include <numbers>
#include <random>

#include "support.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
json config_of(json const& params, std::string const& type) {
  json config = {{"rope_parameters", {{"rope_type", type}}}};
  for (auto const& [key, value] : params.items()) {
    bool const outside = key == "head_dim" || key == "max_position_embeddings" || key == "hidden_size";
    if (key == "seq_len" || (type == "default" && (key == "factor" || key.starts_with("original")))) continue;
    (outside ? config : config["rope_parameters"])[key] = value;
  }
  return config;
}
}  // namespace

TEST_CASE("dialect: config.json gives the frequencies that transformers computes from it", "[dialect][reference]") {
  json const data = json::parse(read_file(data_file("scaling.json")));
  int checked = 0;
  for (auto const& one : data["cases"]) {
    std::string const method = one["method"], type = method;
    bool const known =
        method == "default" || method == "proportional" || (method != "ntk" && plugins().has(Role::scaling, method));
    bool const whole = one["params"].value("partial_rotary_factor", 1.0) != 0.6;  // 28.8 channels: refused, see R25
    if (!known || !whole || method == "ntk_by_parts") continue;
    INFO(one["name"]);
    auto const form = read_as("hf", config_of(one["params"], type).dump());
    double const length = one["params"].value("seq_len", double(std::max(form.trained_length, 2)));
    auto const found = ladder_at(form, length);
    std::vector<double> const expected = one["inv_freq"];
    REQUIRE(found.inv_freq.size() == expected.size());
    for (std::size_t p = 0; p < expected.size(); ++p)
      CHECK(std::abs(found.inv_freq[p] - expected[p]) <= 1e-12 * std::abs(expected[p]));
    CHECK(std::abs(found.attention_factor / double(one["attention_factor"]) - 1) < 1e-12);
    ++checked;
  }
  CHECK(checked >= 25);
}

namespace {
struct Ggml {
  double base = 10000, freq_scale = 1, ext_factor = 0, attn_factor = 1, beta_fast = 32, beta_slow = 1;
  int n_dims = 64, n_ctx_orig = 2048;

  double corr_dim(double rotations) const {
    return n_dims * std::log(n_ctx_orig / (rotations * 2 * std::numbers::pi)) / (2 * std::log(base));
  }
  double theta(int pair) const {  // of position 1
    double const extrap = std::pow(base, -2.0 * pair / n_dims), interp = freq_scale * extrap;
    if (ext_factor == 0) return interp;
    double const low = std::max(0.0, std::floor(corr_dim(beta_fast)));
    double const high = std::min(n_dims - 1.0, std::ceil(corr_dim(beta_slow)));
    double const y = (pair - low) / std::max(0.001, high - low);
    double const mix = (1 - std::min(1.0, std::max(0.0, y))) * ext_factor;
    return interp * (1 - mix) + extrap * mix;
  }
  double magnitude() const {
    return ext_factor == 0 ? attn_factor : attn_factor * (1 + 0.1 * std::log(1 / freq_scale));
  }
};
}  // namespace

TEST_CASE("dialect: flags of llama.cpp turn as a plain loop after ggml does", "[dialect][llamacpp][reference]") {
  std::mt19937 random(7);
  auto const pick = [&](auto... values) {
    double const list[] = {double(values)...};
    return list[random() % (sizeof list / sizeof *list)];
  };
  for (int trial = 0; trial < 60; ++trial) {
    bool const yarn = trial % 3 != 0;
    double const scale = pick(1, 1.5, 2, 4, 8, 40);
    Ggml const ggml{.base = pick(10000, 500000, 1e6),
                    .freq_scale = 1 / scale,
                    .ext_factor = yarn ? 1.0 : 0.0,
                    .attn_factor = yarn ? pick(1, 0.8, 1.1) : 1,
                    .beta_fast = yarn ? pick(32, 64) : 32,
                    .beta_slow = yarn ? pick(1, 2) : 1,
                    .n_dims = int(pick(64, 96, 128)),
                    .n_ctx_orig = int(pick(2048, 4096, 8192))};
    std::string flags =
        text("--rope-freq-base ", ggml.base, trial % 2 ? " --rope-scale " : " \\\n --rope-freq-scale ",
             trial % 2 ? text(scale) : spec::number_text(1 / scale), " --rope-scaling ", yarn ? "yarn" : "linear");
    if (yarn)
      flags += text(" --yarn-orig-ctx ", ggml.n_ctx_orig, " --yarn-attn-factor ", ggml.attn_factor,
                    " --yarn-beta-fast ", ggml.beta_fast, " --yarn-beta-slow ", ggml.beta_slow);
    INFO(flags);
    auto const form = read_as("llamacpp", flags, {.head_width = ggml.n_dims});
    auto const found = ladder_at(form, 100000);
    REQUIRE(found.inv_freq.size() == std::size_t(ggml.n_dims / 2));
    for (int p = 0; p < ggml.n_dims / 2; ++p)
      CHECK(found.inv_freq[std::size_t(p)] == Catch::Approx(ggml.theta(p)).epsilon(1e-12));
    CHECK(found.attention_factor == Catch::Approx(ggml.magnitude()).epsilon(1e-12));
  }
}
