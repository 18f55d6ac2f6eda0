#include <sextant/base/error.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/rows.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/tokens/tokenizer.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

#include <catch2/catch_all.hpp>
#include <pretrained/gguf_bytes.hpp>
#include <sextant/base/json.hpp>
#include <support/complaint.hpp>
#include <support/hf_folder.hpp>
#include <support/temp_folder.hpp>

using namespace sextant;
using namespace sextant::pretrained;
using Catch::Matchers::ContainsSubstring;

namespace {
nlohmann::json read_json(std::string const& name) { return nlohmann::json::parse(read_file(test::data_file(name))); }

Source open(fs::path const& path) { return open_source(path, encoding::Registry::global()); }

template <class T>
model::Model<T> model_of(Source const& source) {
  return load<T>(source, position_of(source.description, encoding::Registry::global()));
}

template <class T>
View2<T> logits_of(model::Model<T>& model, std::vector<int> const& ids) {
  View2<int> const tokens("tokens", 1, ids.size());
  std::copy(ids.begin(), ids.end(), tokens.data());
  View2<T> const out("logits", ids.size(), static_cast<std::size_t>(model.config().vocabulary));
  model.logits(Exec(), {tokens, {}, {}, {}}, out);
  return out;
}

// A copy of a folder of the test data that a test may spoil.
class Folder {
 public:
  explicit Folder(std::string const& name)
      : path_(fs::temp_directory_path() / ("sextant_import_" + std::to_string(::getpid()))) {
    fs::remove_all(path_);
    fs::copy(test::data_file(name), path_, fs::copy_options::recursive);
  }
  ~Folder() { fs::remove_all(path_); }
  fs::path const& path() const { return path_; }
  /// Changes config.json and returns what opening and loading then say.
  std::string complaint_with(std::function<void(nlohmann::json&)> const& change) const {
    auto config = nlohmann::json::parse(read_file(path_ / "config.json"));
    auto const kept = config;
    change(config);
    write_file_atomically(path_ / "config.json", config.dump(1));
    auto const message = test::complaint([&] { model_of<float>(open(path_)); });
    write_file_atomically(path_ / "config.json", kept.dump(1));
    return message;
  }

 private:
  fs::path path_;
};

// A GGUF file with the keys and tensors of tiny_llama.gguf, some of them changed: written again from what is read.
struct Rewritten {
  struct Tensor {
    std::vector<std::uint64_t> extents;
    std::uint32_t type;
    std::string bytes;
  };
  std::map<std::string, std::string> words;
  std::map<std::string, std::uint32_t> wholes;
  std::map<std::string, float> numbers;
  std::map<std::string, Tensor> tensors;

  Rewritten() {
    Gguf const file(test::data_file("tiny_llama.gguf"));
    for (auto const& [key, value] : file.metadata()) {
      if (std::string(value.type) == "string") words[key] = file.word(key);
      if (std::string(value.type) == "u32") wholes[key] = static_cast<std::uint32_t>(file.integer(key));
      if (std::string(value.type) == "f32") numbers[key] = static_cast<float>(file.number(key));
    }
    words.erase("tokenizer.ggml.model");
    for (auto const& [name, tensor] : file.tensors())
      tensors[name] = {
          {tensor.shape.rbegin(), tensor.shape.rend()}, info(tensor.format).ggml_type, std::string(tensor.bytes)};
  }
  std::string content() const {
    test::Bytes out;
    out.head(tensors.size(), words.size() + wholes.size() + numbers.size());
    for (auto const& [key, value] : words) out.text(key).u32(8).text(value);
    for (auto const& [key, value] : wholes) out.text(key).u32(4).u32(value);
    for (auto const& [key, value] : numbers) out.text(key).u32(6).put(value);
    std::uint64_t offset = 0;
    test::Bytes data;
    for (auto const& [name, tensor] : tensors) {
      out.tensor(name, tensor.extents, tensor.type, offset);
      data.raw(tensor.bytes).pad();
      offset = data.content.size();
    }
    return out.pad().raw(data.content).content;
  }
  std::string complaint() const {
    test::TemporaryFile const file(content());
    auto const message = test::complaint([&] { model_of<float>(open(file.path())); });
    auto const at = message.find("model.gguf");
    REQUIRE(at != std::string::npos);
    return message.substr(at);
  }
};
}  // namespace

TEST_CASE("import: a GGUF file is described as it says", "[import][gguf]") {
  auto const source = open(test::data_file("tiny_llama.gguf"));
  auto const& d = source.description;
  CHECK(source.format == "GGUF 3");
  CHECK(d.family == "llama");
  CHECK(d.name == "tiny llama of random weights");
  CHECK(d.config.vocabulary == 268);
  CHECK(d.config.layers == 2);
  CHECK(d.config.width == 32);
  CHECK(d.config.heads == 4);
  CHECK(d.config.kv_heads == 2);
  CHECK(d.config.head_dim == 8);
  CHECK(d.config.mlp == model::MlpKind::swiglu);
  CHECK(d.config.mlp_width == 64);
  CHECK(d.config.norm_eps == double(1e-5f));
  CHECK(d.config.tie_embedding);
  CHECK_FALSE(d.config.qkv_bias);
  CHECK(d.context_length == 64);
  CHECK(d.position.trained_length == 64);
  CHECK(d.position.encodings.front().use == "rope");
  CHECK(d.rows == RowOrder::neighbours);
  CHECK(d.rotary_dim == 8);
  REQUIRE(source.vocabulary);
  auto const expected = read_json("tiny_llama.json");
  tokens::Tokenizer const tokenizer(*source.vocabulary);
  CHECK(tokenizer.encode(expected["text"].get<std::string>()).ids ==
        expected["tokens"].get<std::vector<std::int32_t>>());
}

TEST_CASE("import: rows that turn as neighbours become halves", "[import][rows]") {
  // Two heads of six rows, of which four turn; a row is its own number twice.
  std::vector<float> values;
  for (int row = 0; row < 12; ++row) values.insert(values.end(), 2, static_cast<float>(row));
  neighbours_to_halves(values, 2, 6, 4);
  std::vector<float> const expected = {0, 2, 1, 3, 4, 5, 6, 8, 7, 9, 10, 11};
  for (int row = 0; row < 12; ++row) {
    CHECK(values[2 * row] == expected[row]);
    CHECK(values[2 * row + 1] == expected[row]);
  }
}

TEST_CASE("import: rows left as they are stored give other logits", "[import][rows]") {
  auto source = open(test::data_file("tiny_llama.gguf"));
  auto const expected = read_json("tiny_llama.json");
  auto const ids = expected["tokens"].get<std::vector<int>>();
  auto moved = model_of<double>(source);
  source.description.rows = RowOrder::halves;
  auto unmoved = model_of<double>(source);
  auto const a = logits_of(moved, ids), b = logits_of(unmoved, ids);
  auto const& last = expected["runs"][0]["top5"].back();
  int const row = last["position"];
  double right = 0, wrong = 0;
  for (int n = 0; n < 5; ++n) {
    int const id = last["ids"][n];
    right = std::max(right, std::abs(a(row, id) - last["logits"][n].get<double>()));
    wrong = std::max(wrong, std::abs(b(row, id) - last["logits"][n].get<double>()));
  }
  CHECK(right < 1e-10);
  CHECK(wrong > 0.1);
}

TEST_CASE("import: every family from transformers' files gives the logits of its definition", "[import][safetensors]") {
  auto const all = read_json("tiny_hf.json");
  for (std::string const family : {"llama", "mistral", "qwen2", "qwen3", "gemma"}) {
    auto const& expected = all.at(family);
    auto const source = open(test::data_file("tiny_" + family));
    auto exact = model_of<double>(source);
    auto single = model_of<float>(source);
    auto const ids = expected["tokens"].get<std::vector<int>>();
    auto const found = logits_of(exact, ids);
    auto const rounded = logits_of(single, ids);
    double worst = 0, worst_single = 0, squares = 0;
    for (std::size_t i = 0; i < found.size(); ++i) squares += found.data()[i] * found.data()[i];
    for (int row = 0; row < 2; ++row)
      for (int v = 0; v < 40; ++v) {
        double const value = expected["last_logits"][row][v];
        worst = std::max(worst, std::abs(found(static_cast<int>(ids.size()) - 2 + row, v) - value));
        worst_single = std::max(worst_single, std::abs(rounded(static_cast<int>(ids.size()) - 2 + row, v) - value));
      }
    INFO(family);
    CHECK(worst < 1e-9);
    CHECK(worst_single < 1e-4);
    CHECK(squares == Catch::Approx(expected["sum_of_squares"].get<double>()).epsilon(1e-10));
  }
}

TEST_CASE("import: a checkpoint is the model and its tokenizer again", "[import][checkpoint]") {
  test::TemporaryFile const file("", "model.safetensors");
  for (std::string const from : {"tiny_llama.gguf", "tiny_mistral", "tiny_qwen3", "tiny_gemma"}) {
    auto const source = open(test::data_file(from));
    write_checkpoint(file.path(), source, encoding::Registry::global());
    auto const again = open(file.path());
    INFO(from);
    CHECK(again.format == "checkpoint");
    CHECK(again.description.family == source.description.family);
    CHECK(again.description.context_length == source.description.context_length);
    CHECK(again.vocabulary.has_value() == source.vocabulary.has_value());
    if (source.vocabulary)
      CHECK(tokens::Tokenizer(*again.vocabulary).fingerprint() == tokens::Tokenizer(*source.vocabulary).fingerprint());
    auto before = model_of<float>(source), after = model_of<float>(again);
    std::vector<int> const ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
    auto const a = logits_of(before, ids), b = logits_of(after, ids);
    CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));
  }
}

TEST_CASE("import: keys of a GGUF file that do not fit are named with what was found and expected", "[import][error]") {
  CHECK_NOTHROW([] {
    test::TemporaryFile const file(Rewritten().content());
    model_of<float>(open(file.path()));
  }());
  auto const with = [](auto const& change) {
    Rewritten file;
    change(file);
    return file.complaint();
  };
  CHECK(with([](auto& f) { f.words["general.architecture"] = "gemma2"; }) ==
        "model.gguf: general.architecture is gemma2 (it bounds its logits by tanh and normalises after attention and "
        "feed-forward "
        "too), expected one of llama, mistral, qwen2, qwen3, gemma");
  CHECK(with([](auto& f) { f.wholes.erase("llama.block_count"); }) == "model.gguf: has no key llama.block_count");
  CHECK(with([](auto& f) { f.wholes["llama.block_count"] = 0; }) ==
        "model.gguf: llama.block_count is 0, expected a whole number from 1");
  CHECK(with([](auto& f) { f.numbers["llama.logit_scale"] = 0.5f; }) ==
        "model.gguf: key llama.logit_scale (0.5) is not one that this import knows to keep or to leave; known: "
        "block_count, "
        "context_length, embedding_length, feed_forward_length, attention.head_count, attention.head_count_kv, "
        "attention.key_length, attention.value_length, attention.layer_norm_rms_epsilon, attention.sliding_window, "
        "vocab_size, "
        "attention.causal");
  CHECK(with([](auto& f) { f.wholes["llama.vocab_size"] = 300; }) ==
        "model.gguf: llama.vocab_size is 300, expected 268 as token_embd.weight has rows");
  CHECK(with([](auto& f) { f.wholes["llama.attention.value_length"] = 16; }) ==
        "model.gguf: llama.attention.value_length is 16, expected the width of a key, 8");
  CHECK_THAT(with([](auto& f) { f.wholes["llama.attention.head_count_kv"] = 3; }),
             ContainsSubstring("model.gguf: model.kv_heads is 3, expected a divisor of heads (4)"));
  CHECK_THAT(with([](auto& f) { f.words["llama.rope.scaling.type"] = "yarnn"; }), ContainsSubstring("yarnn"));
}

TEST_CASE("import: tensors that are missing, too many or of another shape are named", "[import][error]") {
  auto const with = [](auto const& change) {
    Rewritten file;
    change(file);
    return file.complaint();
  };
  CHECK(with([](auto& f) { f.tensors.erase("blk.1.ffn_up.weight"); }) ==
        "model.gguf: has no tensor blk.1.ffn_up.weight; the nearest is blk.0.ffn_up.weight");
  CHECK(with([](auto& f) {
          f.tensors["blk.0.attn_output.bias"] = {{32}, 0, std::string(128, '\0')};
        }) == "model.gguf: 1 tensors are no parameter of a llama model as configured: blk.0.attn_output.bias");
  CHECK(with([](auto& f) { f.wholes["llama.feed_forward_length"] = 48; }) ==
        "model.gguf: blk.0.ffn_gate.weight is [64, 32], expected [48, 32] as the configuration has it");
  CHECK(with([](auto& f) { f.wholes["llama.block_count"] = 1; }) ==
        "model.gguf: 9 tensors are no parameter of a llama model as configured: blk.1.attn_k.weight, "
        "blk.1.attn_norm.weight, "
        "blk.1.attn_output.weight, ...");
  CHECK_THAT(with([](auto& f) { f.wholes["llama.block_count"] = 3; }),
             ContainsSubstring("has no tensor blk.2.attn_norm.weight"));
}

TEST_CASE("import: factors of frequencies in a GGUF file divide them", "[import][rope]") {
  Rewritten file;
  std::string factors(16, '\0');
  float const values[] = {1, 1.5f, 4, 8};
  std::memcpy(factors.data(), values, 16);
  file.tensors["rope_freqs.weight"] = {{4}, 0, factors};
  test::TemporaryFile const written(file.content());
  auto const source = open(written.path());
  auto const position = position_of(source.description, encoding::Registry::global());
  auto const found = position->frequencies(position->terms().front(), {});
  CHECK(found.attention_factor == 1);
  for (int pair = 0; pair < 4; ++pair)
    CHECK(found.inv_freq[pair] == Catch::Approx(std::pow(10000.0, -pair / 4.0) / double(values[pair])).epsilon(1e-12));
  CHECK_NOTHROW(model_of<float>(source));
  file.tensors["rope_freqs.weight"] = {{2}, 0, factors.substr(0, 8)};
  CHECK_THAT(file.complaint(),
             ContainsSubstring("rope_freqs.weight has 2 factors, expected 4, one a pair of channels"));
}

TEST_CASE("import: a configuration that does not fit the weights or this program is named", "[import][error]") {
  Folder const llama("tiny_llama");
  CHECK_THAT(llama.complaint_with([](auto& c) { c["hidden_size"] = 20; }),
             ContainsSubstring("model.embed_tokens.weight is [40, 16], expected [40, 20] as the configuration has it"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["num_hidden_layers"] = 3; }),
             ContainsSubstring("has no tensor model.layers.2.input_layernorm.weight"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["num_hidden_layers"] = 1; }),
             ContainsSubstring(
                 "9 tensors are no parameter of a llama model as configured: model.layers.1.input_layernorm.weight"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["tie_word_embeddings"] = true; }),
             ContainsSubstring("lm_head.weight differs from model.embed_tokens.weight"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["attention_bias"] = true; }),
             ContainsSubstring("attention_bias is 1, expected 0"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["hidden_act"] = "relu"; }),
             ContainsSubstring("hidden_act is relu, expected silu in a llama model"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c["hiden_act"] = "silu"; }),
             ContainsSubstring("has no key hiden_act; did you mean hidden_act?"));
  CHECK_THAT(llama.complaint_with([](auto& c) { c.erase("vocab_size"); }), ContainsSubstring("vocab_size is missing"));
  CHECK_THAT(llama.complaint_with([](auto& c) {
    c["quantization_config"] = {{"bits", 4}};
  }),
             ContainsSubstring("quantization_config"));
  CHECK_THAT(
      llama.complaint_with([](auto& c) { c["model_type"] = "phi3"; }),
      ContainsSubstring(
          "model_type is phi3 (it stores query, key and value, gate and up as one matrix each), expected one of"));
  CHECK_THAT(llama.complaint_with([](auto& c) {
    c["rope_scaling"] = {{"rope_type", "linnear"}, {"factor", 2.0}};
  }),
             ContainsSubstring("linnear"));
  fs::remove(llama.path() / "config.json");
  CHECK_THROWS_WITH(open(llama.path()), ContainsSubstring("has no config.json"));
}

TEST_CASE("import: an index that does not say where every tensor is, is refused", "[import][error]") {
  Folder const qwen("tiny_qwen3");
  fs::path const index = qwen.path() / "model.safetensors.index.json";
  auto const whole = nlohmann::json::parse(read_file(index));
  auto const complaint_with = [&](auto const& change) {
    auto json = whole;
    change(json["weight_map"]);
    write_file_atomically(index, json.dump());
    return test::complaint([&] { open(qwen.path()); });
  };
  CHECK_THAT(complaint_with([](auto& map) { map["model.norm.weight"] = "model-00001-of-00002.safetensors"; }),
             ContainsSubstring("model.norm.weight is not in model-00001-of-00002.safetensors"));
  CHECK_THAT(complaint_with([](auto& map) { map.erase("model.norm.weight"); }),
             ContainsSubstring("does not name model.norm.weight, which one of the files holds"));
  CHECK_THAT(complaint_with([](auto& map) { map["model.norm.weight"] = "../elsewhere.safetensors"; }),
             ContainsSubstring("names the file ../elsewhere.safetensors, expected one of the same folder"));
  fs::remove(index);
  CHECK_THROWS_WITH(open(qwen.path()),
                    ContainsSubstring("has neither model.safetensors nor model.safetensors.index.json"));
}

namespace {
constexpr char const* hard_texts[] = {"Hello, world!", "  two  spaces\n\tand it's we'll 12345",
                                      "na\xC3\xAFve \xE6\x97\xA5\xE6\x9C\xAC \xF0\x9F\x98\x80",
                                      "for (int i = 0; i < n; ++i) x[i] += 1;", ""};

void expect_same_tokens(tokens::Vocabulary const& a, tokens::Vocabulary const& b) {
  tokens::Tokenizer const one(a), other(b);
  for (auto const* text : hard_texts) CHECK(one.encode(text).ids == other.encode(text).ids);
}
}  // namespace

TEST_CASE("import: a folder with its tokenizer is the model and the tokenizer of the GGUF file it was made from",
          "[import][folder]") {
  auto const file = open(test::data_file("tiny_llama.gguf"));
  test::TempFolder const folder;
  test::write_hf_folder(folder.path(), file, encoding::Registry::global());
  auto const source = open(folder.path());
  REQUIRE(source.vocabulary);
  expect_same_tokens(*source.vocabulary, *file.vocabulary);
  expect_same_tokens(vocabulary_of(folder.path()), *file.vocabulary);
  CHECK(source.description.context_length == file.description.context_length);
  auto one = model_of<float>(file), other = model_of<float>(source);
  std::vector<int> const ids = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5};
  auto const a = logits_of(one, ids), b = logits_of(other, ids);
  CHECK(std::equal(a.data(), a.data() + a.size(), b.data()));

  test::TemporaryFile const checkpoint("", "model.safetensors");
  write_checkpoint(checkpoint.path(), source, encoding::Registry::global());
  CHECK(tokens::Tokenizer(vocabulary_of(checkpoint.path())).fingerprint() ==
        tokens::Tokenizer(*source.vocabulary).fingerprint());
}

TEST_CASE("import: a folder is identified by the files that make the model, and by no other", "[import][folder]") {
  auto const file = open(test::data_file("tiny_llama.gguf"));
  test::TempFolder const folder, copy;
  test::write_hf_folder(folder.path(), file, encoding::Registry::global());
  test::write_hf_folder(copy.path(), file, encoding::Registry::global());
  auto const digest = sha256_of_model(folder.path());
  CHECK(sha256_of_model(copy.path()) == digest);
  write_file_atomically(copy.path() / "README.md", "a model");
  CHECK(sha256_of_model(copy.path()) == digest);
  for (char const* name : {"config.json", "tokenizer.json", "model.safetensors"}) {
    auto const whole = read_file(copy.path() / name);
    write_file_atomically(copy.path() / name, whole + " ");
    INFO(name);
    CHECK(sha256_of_model(copy.path()) != digest);
    write_file_atomically(copy.path() / name, whole);
  }
  CHECK(sha256_of_model(test::data_file("tiny_llama.gguf")) == sha256_file(test::data_file("tiny_llama.gguf")));
}

TEST_CASE("import: a folder whose tokenizer is missing or of another kind is a model that says why it has none",
          "[import][folder]") {
  auto const file = open(test::data_file("tiny_llama.gguf"));
  test::TempFolder const folder;
  test::write_hf_folder(folder.path(), file, encoding::Registry::global());
  auto json = test::hf_tokenizer(*file.vocabulary);
  json["model"]["type"] = "Unigram";
  write_file_atomically(folder.path() / "tokenizer.json", json.dump());
  auto const other = open(folder.path());
  CHECK_FALSE(other.vocabulary);
  CHECK_THAT(other.no_vocabulary, ContainsSubstring("tokenizer.model.type is \"Unigram\", expected BPE"));
  CHECK_NOTHROW(model_of<float>(other));
  fs::remove(folder.path() / "tokenizer.json");
  CHECK(open(folder.path()).no_vocabulary == "the folder has no tokenizer.json");
  json["model"]["type"] = "BPE";
  json["added_tokens"].push_back({{"id", 300}, {"content", "<more>"}, {"special", true}});
  write_file_atomically(folder.path() / "tokenizer.json", json.dump());
  CHECK_THAT(test::complaint([&] { open(folder.path()); }),
             ContainsSubstring("has 301 tokens, expected at most vocab_size 268 of config.json"));
}

TEST_CASE("import: a checkpoint keeps what only a tokenizer.json can ask for", "[import][checkpoint][folder]") {
  auto const file = open(test::data_file("tiny_llama.gguf"));
  test::TempFolder const folder;
  test::write_hf_folder(folder.path(), file, encoding::Registry::global());
  auto json = test::hf_tokenizer(*file.vocabulary);
  json["pre_tokenizer"]["add_prefix_space"] = true;
  json["model"]["fuse_unk"] = true;
  json["model"]["unk_token"] = "a";
  json["model"]["vocab"].erase("z");
  json["added_tokens"].push_back(
      {{"id", 266}, {"content", "<cut>"}, {"special", false}, {"lstrip", true}, {"rstrip", true}});
  json["model"]["vocab"].erase(file.vocabulary->tokens[266]);
  json["model"]["merges"] = nlohmann::ordered_json::array();
  for (std::size_t n = 0; n < 8; ++n)  // without those that make tokens 266 and 267
    if (auto const& merge = file.vocabulary->merges[n]; merge.find('z') == std::string::npos)
      json["model"]["merges"].push_back(merge);
  write_file_atomically(folder.path() / "tokenizer.json", json.dump());
  auto const source = open(folder.path());
  INFO(source.no_vocabulary);
  REQUIRE(source.vocabulary);
  REQUIRE(source.vocabulary->prefix_space);
  REQUIRE(source.vocabulary->unk_for_bytes);
  test::TemporaryFile const checkpoint("", "model.safetensors");
  write_checkpoint(checkpoint.path(), source, encoding::Registry::global());
  auto const again = open(checkpoint.path());
  REQUIRE(again.vocabulary);
  tokens::Tokenizer const one(*source.vocabulary), other(*again.vocabulary);
  CHECK(one.fingerprint() == other.fingerprint());
  for (auto const* text : {"buzz  <cut>  zz", "it", "zzz z"}) CHECK(one.encode(text).ids == other.encode(text).ids);
  CHECK(one.encode("it").ids != tokens::Tokenizer(*file.vocabulary).encode("it").ids);
}

TEST_CASE("import: text is refused of a checkpoint without tokenizer, with the reason", "[import][folder]") {
  test::TemporaryFile const checkpoint("", "model.safetensors");
  write_checkpoint(checkpoint.path(), open(test::data_file("tiny_mistral")), encoding::Registry::global());
  CHECK_THAT(test::complaint([&] { vocabulary_of(checkpoint.path()); }),
             ContainsSubstring("the model was imported without a tokenizer"));
}
