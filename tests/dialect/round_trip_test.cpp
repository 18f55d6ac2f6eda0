#include <random>

#include "support.hpp"

using namespace sextant;
using namespace sextant::test;

namespace {
class Dice {
 public:
  explicit Dice(unsigned seed) : random_(seed) {}
  int below(int n) { return static_cast<int>(random_() % static_cast<unsigned>(n)); }
  bool coin() { return below(2) == 1; }
  template <class T>
  T of(std::vector<T> const& list) {
    return list[static_cast<std::size_t>(below(static_cast<int>(list.size())))];
  }
  double real(double least, double most) { return dialect::rounded(least + (most - least) * (below(100000) / 1e5)); }

 private:
  std::mt19937 random_;
};

// A scaling with random options, as a spec writes it. Options that only some dialects hold are given where `all`.
std::string scaling_of(std::string const& name, Dice& dice, bool all, int pairs, int trained) {
  std::string out = "{use: " + name;
  auto const put = [&](char const* option, auto value) { out += text(", ", option, ": ", spec::number_text(value)); };
  auto const list = [&](char const* option) {
    out += text(", ", option, ": [");
    for (int p = 0; p < pairs; ++p) out += (p ? ", " : "") + spec::number_text(dice.real(1, 8));
    out += "]";
  };
  double const factor = dice.coin() ? dice.of<double>({2, 4, 8, 40}) : dice.real(1.1, 64);
  if (name == "longrope") list("short_factor"), list("long_factor");
  put("factor",
      name == "longrope" ? dice.of<double>({2, 4, 8, 40}) : factor);  // longrope's may be a quotient of lengths
  if (name == "longrope") put("original_length", double(trained));
  if (name == "yarn" || name == "llama3") put("original_length", double(dice.of<int>({2048, 4096})));
  if (name == "yarn" && dice.coin()) put("beta_fast", dice.real(20, 64)), put("beta_slow", dice.real(0.5, 3));
  if (name == "yarn" && all && dice.coin()) out += ", truncate: false";
  if (name == "yarn" && all && dice.coin())
    put("mscale", dice.real(0.5, 1.5)), put("mscale_all_dim", dice.real(0.5, 1.5));
  if ((name == "yarn" || name == "longrope") && dice.coin()) put("attention_factor", dice.real(0.8, 1.6));
  if (name == "llama3") put("low_freq_factor", dice.real(0.5, 1.5)), put("high_freq_factor", dice.real(2, 8));
  return out + "}";
}

encoding::PositionChoice choice_of(Form const& form) {
  return dialect::completed(dialect::position_of(form, plugins()), plugins());
}

void check_equal(encoding::PositionChoice const& a, encoding::PositionChoice const& b, bool length_too) {
  auto const same = [](std::vector<dialect::Choice> const& x, std::vector<dialect::Choice> const& y) {
    REQUIRE(x.size() == y.size());
    for (std::size_t n = 0; n < x.size(); ++n) {
      CHECK(x[n].use == y[n].use);
      for (auto const& [name, value] : x[n].options) {
        INFO(x[n].use << "." << name << ": " << encoding::to_text(value) << " | "
                      << encoding::to_text(y[n].options.at(name)));
        auto const *p = std::get_if<double>(&value), *q = std::get_if<double>(&y[n].options.at(name));
        // a magnitude goes through a quotient in some dialects
        if (p && q && name == "attention_factor")
          CHECK(*p == Catch::Approx(*q).epsilon(1e-13));
        else
          CHECK(value == y[n].options.at(name));
      }
    }
  };
  same(a.encodings, b.encodings);
  same(a.scalings, b.scalings);
  if (length_too) CHECK(a.trained_length == b.trained_length);
}

bool holds_all(std::string const& dialect) { return dialect == "hf" || dialect == "hf-old"; }

std::vector<std::string> scalings_of(std::string const& dialect) {
  std::vector<std::string> out = {"none", "linear", "yarn"};
  bool const llama = dialect == "llamacpp" || dialect == "gguf";
  for (char const* more : {"dynamic", "longrope", "llama3"})
    if (!llama && plugins().has(Role::scaling, more)) out.push_back(more);
  return out;
}
}  // namespace

TEST_CASE("dialect: a position block comes back from every dialect as it went", "[dialect][roundtrip]") {
  for (std::string const dialect : {"hf", "hf-old", "llamacpp", "gguf", "vllm", "sextant"})
    for (auto const& name : scalings_of(dialect))
      for (unsigned seed = 0; seed < 12; ++seed) {
        Dice dice(seed);
        int const width = dice.of<int>({64, 128}), trained = dice.of<int>({2048, 4096});
        bool const part = dice.coin() && dialect != "llamacpp";
        int const turned = part ? width / 2 : width;
        std::string scaling = name == "none" ? "none" : scaling_of(name, dice, holds_all(dialect), turned / 2, trained);
        std::string const block =
            text("position:\n  encoding: {use: rope, base: ", dice.of<int>({10000, 500000, 123457}),
                 part ? text(", rotary_dim: ", turned) : "", "}\n  scaling: ", scaling, "\n  trained_length: ", trained,
                 "\n");
        INFO(dialect << "\n" << block);
        // an architecture whose files pair channels as the block does
        Given const given{.head_width = width, .architecture = "qwen2"};
        auto const there = translated("sextant", dialect, block, given);
        INFO(there.text);
        Given known = given;
        if (dialect == "llamacpp") known.trained_length = trained;
        auto const back = read_as(dialect, there.text, known);
        bool const says_length =
            !(name == "linear" && dialect != "llamacpp" && dialect != "gguf" && dialect != "sextant") &&
            !holds(join(there.remarks.lost), "trained_length");
        check_equal(choice_of(there.form), choice_of(back), says_length);
        CHECK(there.largest_difference < 1e-9);
      }
}

TEST_CASE("dialect: a raised base turns like the scaling that raised it, and what is lost is said",
          "[dialect][roundtrip]") {
  std::string const block =
      "{encoding: {use: rope, base: 10000}, scaling: {use: ntk, factor: 4}, trained_length: 2048}";
  for (std::string const dialect : {"hf", "hf-old", "llamacpp", "gguf", "vllm"}) {
    auto const there = translated("sextant", dialect, block, {.head_width = 128});
    CHECK(holds(join(there.remarks.lost), "raised by ntk"));
    auto const form = read_as(dialect, there.text, {.head_width = 128});
    CHECK(form.kinds[0].scalings.empty());
    CHECK(dialect::number_of(form.kinds[0].encoding.options, "base") ==
          Catch::Approx(10000 * std::pow(4.0, 128.0 / 126)).epsilon(1e-12));
  }
  CHECK(holds(refused("sextant", "hf", block), "give --head-width"));
}

TEST_CASE("dialect: pairs that stand still go to rope_type proportional and come back", "[dialect][roundtrip]") {
  std::string const block =
      "{encoding: {use: rope, base: 1000000, turning: 0.25}, scaling: none, trained_length: 4096}";
  auto const there = translated("sextant", "hf", block, {.head_width = 256});
  CHECK(holds(there.text, "\"proportional\""));
  check_equal(choice_of(there.form), choice_of(read_as("hf", there.text)), true);
  for (std::string const dialect : {"hf-old", "llamacpp", "gguf", "vllm"})
    CHECK(holds(refused("sextant", dialect, block, {.head_width = 256}), "stand still"));
}

TEST_CASE("dialect: what a dialect has no words for is refused with the reason", "[dialect][reject]") {
  auto const under = [](std::string const& encoding, std::string const& scaling) {
    return "{encoding: " + encoding + ", scaling: " + scaling + ", trained_length: 2048}";
  };
  Given const given{.head_width = 64};
  std::string const truncated = under("rope", "{use: yarn, factor: 4, truncate: false}");
  CHECK(holds(refused("sextant", "gguf", truncated, given), "llama.cpp always rounds"));
  CHECK(holds(refused("sextant", "llamacpp", truncated, given), "llama.cpp always rounds"));
  CHECK(holds(refused("sextant", "hf", under("rope", "[{use: linear, factor: 2}, {use: yarn, factor: 4}]"), given),
              "one at a time"));
  CHECK(holds(refused("sextant", "hf", under("rope", "{use: linear, factor: auto}"), given), "give a number"));
  CHECK(holds(refused("sextant", "hf", under("alibi", "none"), given), "alibi is no rotary encoding"));
  CHECK(holds(refused("sextant", "vllm", under("[rope, alibi]", "none"), given), "alibi is no rotary encoding"));
  CHECK(holds(refused("sextant", "hf", under("{use: segmented_theta, seg_start: [0], seg_base: [100]}", "none"), given),
              "segmented_theta has no words"));
  CHECK(holds(refused("sextant", "gguf", under("{use: rope, layers: [0, 2]}", "none"), given), "some layers only"));
  CHECK(holds(refused("vllm", "sextant", R"({"rope_type": "linear", "factor": 4})"), "give --base"));
  CHECK(holds(refused("hf", "vlm", "{}"), "did you mean vllm"));
}

TEST_CASE("dialect: a block for each kind of layer becomes one spec, and keys of GGUF", "[dialect][roundtrip]") {
  auto const there = translated("hf", "sextant", read_file(data_file("configs/gemma-3-4b.json")));
  auto const back = read_as("sextant", there.text, {.head_width = 256});
  REQUIRE(back.kinds.size() == 2);
  CHECK(back.kinds[0].encoding.layers->list == std::vector<int>{5, 11, 17, 23, 29});
  CHECK(back.kinds[1].encoding.layers->list.size() == 29);
  auto const full = ladder_at(back, 4096, 0), sliding = ladder_at(back, 4096, 1);
  for (int p : {0, 1, 64, 127}) {
    CHECK(full.inv_freq[std::size_t(p)] == Catch::Approx(std::pow(1e6, -2.0 * p / 256) / 8).epsilon(1e-13));
    CHECK(sliding.inv_freq[std::size_t(p)] == Catch::Approx(std::pow(1e4, -2.0 * p / 256)).epsilon(1e-13));
  }
  auto const keys = translated("hf", "gguf", read_file(data_file("configs/gemma-3-4b.json")));
  CHECK(holds(keys.text, "gemma3.rope.freq_base_swa = 10000\n"));
  CHECK(holds(keys.text, "gemma3.rope.scaling.factor = 8\n"));
  auto const newer = translated("hf-old", "hf", read_file(data_file("configs/gemma-3-4b.json")));
  CHECK(json::parse(newer.text)["rope_parameters"]["full_attention"]["factor"] == 8.0);
  CHECK(json::parse(newer.text)["layer_types"].size() == 34);
  CHECK(translated("hf", "hf-old", newer.text).form.kinds.size() == 2);
}

TEST_CASE("dialect: lists of longrope are tensors beside GGUF keys, and come back as the same turns",
          "[dialect][roundtrip][longrope]") {
  std::string const block =
      "{encoding: {use: rope, base: 10000}, scaling: {use: longrope, factor: 4, original_length: 64, short_factor: [1, "
      "1, "
      "1.25, 1.5], long_factor: [1, 1.5, 3, 4], kept_tokens: 2}, trained_length: 64}";
  auto const there = translated("sextant", "gguf", block, {.head_width = 8, .architecture = "phi3"});
  CHECK(holds(there.text, "phi3.rope.scaling.type = longrope\n"));
  CHECK(holds(there.text, "rope_factors_long.weight = [1, 1.5, 3, 4]\n"));
  CHECK(holds(there.text, "rope_factors_short.weight = [1, 1, 1.25, 1.5]\n"));
  CHECK(holds(join(there.remarks.lost), "kept_tokens 2"));
  auto const back = read_as("gguf", there.text);
  for (auto const& [length, divisor] : {std::pair{64, 1.25}, {65, 3.0}}) {
    auto const found = ladder_at(back, length);
    CHECK(found.inv_freq[2] == Catch::Approx(std::pow(10000.0, -0.5) / divisor).epsilon(1e-13));
    CHECK(found.attention_factor == Catch::Approx(std::sqrt(1 + std::log(4.0) / std::log(64.0))).epsilon(1e-13));
  }
  auto const one =
      read_as("gguf", "llama.context_length = 64\nllama.rope.dimension_count = 4\nrope_freqs.weight = [1, 8]\n");
  CHECK(ladder_at(one, 8).inv_freq == ladder_at(one, 640).inv_freq);
  CHECK(ladder_at(one, 8).inv_freq[1] == Catch::Approx(0.01 / 8).epsilon(1e-13));
  std::string const begin = "llama.context_length = 64\nllama.rope.dimension_count = 4\n";
  CHECK(holds(refused("gguf", "hf", begin + "rope_freqs.weight = [1, 2, 3]"), "has 3 factors, expected 2"));
  CHECK(holds(refused("gguf", "hf", begin + "rope_factors_long.weight = [1, 2]"),
              "rope_factors_short.weight is not here"));
  CHECK(holds(refused("gguf", "hf", begin + "rope_freqs.weight = [1, 2"), "expected a list that ends with ]"));
  CHECK(holds(refused("gguf", "hf", begin + "rope_freqs.weight = [1, -2]"), "rope_freqs.weight"));
  CHECK(holds(refused("gguf", "hf",
                      begin + "llama.rope.scaling.type = yarn\nllama.rope.scaling.factor = 4\n"
                              "rope_freqs.weight = [1, 2]"),
              "expected one of them"));
  for (std::string const dialect : {"hf", "vllm"})
    CHECK(holds(join(translated("sextant", dialect, block, {.head_width = 8}).remarks.lost), "kept_tokens 2"));
}
