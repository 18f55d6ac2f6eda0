#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tokens/splits.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::tokens {
namespace {
using Json = nlohmann::json;

/// A place in the file: what stands there, and its path for messages.
class Place {
 public:
  Place(Json const& json, std::string path) : json_(json), path_(std::move(path)) {}

  Json const& json() const { return json_; }
  std::string const& path() const { return path_; }
  bool absent() const { return json_.is_null(); }

  Place operator[](std::string const& key) const {
    static Json const nothing;
    bool const there = json_.is_object() && json_.contains(key);
    return {there ? json_.at(key) : nothing, path_ + "." + key};
  }
  std::vector<Place> items() const {
    require(json_.is_array(), "a list");
    std::vector<Place> all;
    for (std::size_t i = 0; i < json_.size(); ++i) all.emplace_back(json_[i], text(path_, "[", i, "]"));
    return all;
  }

  void require(bool holds, std::string const& expected) const {
    std::string found = json_.dump(-1, ' ', false, Json::error_handler_t::replace);
    if (found.size() > 60) found = found.substr(0, 57) + "...";
    expect(holds, path_, " is ", absent() ? "absent" : found, ", expected ", expected);
  }
  std::string word() const {
    require(json_.is_string(), "a text");
    return json_.get<std::string>();
  }
  bool flag(bool otherwise) const {
    require(absent() || json_.is_boolean(), "true or false");
    return absent() ? otherwise : json_.get<bool>();
  }
  std::int32_t id() const {
    require(json_.is_number_integer() && json_.get<std::int64_t>() >= 0 && json_.get<std::int64_t>() < (1 << 28),
            "a token id");
    return json_.get<std::int32_t>();
  }

 private:
  Json const& json_;
  std::string path_;
};

void read_model(Place const& model, Vocabulary& v) {
  Place const type = model["type"];
  type.require(type.absent() || type.json() == "BPE", "BPE");
  model["dropout"].require(model["dropout"].absent() || model["dropout"].json() == 0, "no dropout");
  for (char const* key : {"continuing_subword_prefix", "end_of_word_suffix"})
    model[key].require(model[key].absent() || model[key].json() == "", "none in a byte-level vocabulary");
  model["byte_fallback"].require(!model["byte_fallback"].flag(false), "false, as in a byte-level vocabulary");
  v.ignore_merges = model["ignore_merges"].flag(false);
  v.fuse_unk = model["fuse_unk"].flag(false);

  Place const tokens = model["vocab"];
  tokens.require(tokens.json().is_object() && !tokens.json().empty(), "tokens with their ids");
  for (auto const& [token, number] : tokens.json().items()) {
    auto const id = static_cast<std::size_t>(Place(number, tokens.path() + "." + token).id());
    expect(id < 2 * tokens.json().size() + 4096, tokens.path(), ".", token, " is ", id, " in a list of ",
           tokens.json().size(), " tokens");
    if (id >= v.tokens.size()) v.tokens.resize(id + 1);
    expect(v.tokens[id].empty(), tokens.path(), ": \"", v.tokens[id], "\" and \"", token, "\" both have id ", id);
    v.tokens[id] = token;
  }
  for (Place const& merge : model["merges"].items()) {
    bool const pair = merge.json().is_array() && merge.json().size() == 2 && merge.json()[0].is_string() &&
                      merge.json()[1].is_string();
    merge.require(pair || merge.json().is_string(), "two tokens");
    v.merges.push_back(pair ? merge.json()[0].get<std::string>() + " " + merge.json()[1].get<std::string>()
                            : merge.word());
  }
  if (Place const unknown = model["unk_token"]; !unknown.absent()) {
    auto const at = std::ranges::find(v.tokens, unknown.word());
    unknown.require(at != v.tokens.end(), "a token of the vocabulary");
    v.unk = static_cast<std::int32_t>(at - v.tokens.begin());
    v.unk_for_bytes = true;
  }
}

void read_added(Place const& added, Vocabulary& v) {
  v.types.assign(v.tokens.size(), TokenType::normal);
  v.strips.assign(v.tokens.size(), {});
  if (added.absent()) return;
  for (Place const& token : added.items()) {
    auto const id = static_cast<std::size_t>(token["id"].id());
    token["single_word"].require(!token["single_word"].flag(false), "false");
    expect(id < v.tokens.size() + 65536, token.path(), ".id is ", id, " after ", v.tokens.size(), " tokens");
    if (id >= v.tokens.size()) {
      v.tokens.resize(id + 1);
      v.types.resize(id + 1, TokenType::unused);
      v.strips.resize(id + 1);
    }
    v.tokens[id] = token["content"].word();
    v.types[id] = token["special"].flag(false) ? TokenType::control : TokenType::user_defined;
    v.strips[id] = {token["lstrip"].flag(false), token["rstrip"].flag(false)};
  }
}

void read_normalizer(Place const& place, Vocabulary& v) {
  if (place.absent()) return;
  if (place["type"].json() == "Sequence") {
    for (Place const& part : place["normalizers"].items()) read_normalizer(part, v);
    return;
  }
  place["type"].require(place["type"].json() == "NFC", "NFC");
  v.nfc = true;
}

std::string literal(std::string const& text) {
  std::string pattern;
  for (char const c : text) {
    if (static_cast<unsigned char>(c) < 0x80 && !std::isalnum(static_cast<unsigned char>(c))) pattern += '\\';
    pattern += c;
  }
  return pattern;
}

void read_split(Place const& place, Vocabulary& v) {
  place["behavior"].require(place["behavior"].json() == "Isolated", "\"Isolated\"");
  place["invert"].flag(false);  // isolated matches and isolated gaps are the same pieces
  Place const regex = place["pattern"]["Regex"], string = place["pattern"]["String"];
  place["pattern"].require(regex.absent() != string.absent(), "a Regex or a String");
  v.splits.push_back(regex.absent() ? literal(string.word()) : regex.word());
}

void read_pre_tokenizer(Place const& place, Vocabulary& v, bool& byte_level) {
  Place const type = place["type"];
  if (type.json() == "Sequence") {
    for (Place const& part : place["pretokenizers"].items()) read_pre_tokenizer(part, v, byte_level);
  } else if (type.json() == "Split") {
    place.require(!byte_level, "ByteLevel to come last: after it the text is no longer the text");
    read_split(place, v);
  } else if (type.json() == "Digits") {
    place.require(!byte_level, "ByteLevel to come last: after it the text is no longer the text");
    v.splits.push_back(place["individual_digits"].flag(false) ? digit_pattern() : digit_pattern() + "+");
  } else {
    type.require(type.json() == "ByteLevel", "ByteLevel, Split, Digits or a Sequence of them");
    place.require(!byte_level, "one ByteLevel");
    byte_level = true;
    v.prefix_space = place["add_prefix_space"].flag(true);
    place["add_prefix_space"].require(!v.prefix_space || v.splits.empty(), "false where the text has been cut before");
    if (place["use_regex"].flag(true)) v.splits.push_back(gpt2_pattern());
  }
}

/// What stands before and after the text in `single`: nothing, or one token each.
void read_template(Place const& place, Vocabulary& v) {
  bool text_seen = false;
  for (Place const& part : place["single"].items()) {
    Place const special = part["SpecialToken"];
    if (special.absent()) {
      part.require(!part["Sequence"].absent() && !text_seen, "a SpecialToken, or the Sequence once");
      text_seen = true;
      continue;
    }
    Place const ids = place["special_tokens"][special["id"].word()]["ids"];
    ids.require(ids.json().is_array() && ids.json().size() == 1, "one id");
    auto& token = text_seen ? v.eos : v.bos;
    part.require(!token, text_seen ? "one token after the text" : "one token before the text");
    token = ids.items().front().id();
    (text_seen ? v.add_eos : v.add_bos) = true;
  }
}

void read_post_processor(Place const& place, Vocabulary& v) {
  if (place.absent()) return;
  Json const& type = place["type"].json();
  if (type == "Sequence")
    for (Place const& part : place["processors"].items()) read_post_processor(part, v);
  else if (type == "TemplateProcessing")
    read_template(place, v);
  else
    place["type"].require(type == "ByteLevel", "TemplateProcessing, ByteLevel or a Sequence of them");
}

}  // namespace

Vocabulary parse_tokenizer_json(std::string const& source, std::string const& where) {
  Json json;
  try {
    json = Json::parse(source);
  } catch (Json::exception const& wrong) {
    fail(where, " is no tokenizer.json: ", wrong.what());
  }
  expect(json.is_object() && json.contains("model"), where, " is no tokenizer.json: it has no \"model\"");
  Vocabulary v;
  v.where = where;
  v.model = "gpt2";
  v.add_bos = v.add_eos = false;
  Place const root(json, where + ": tokenizer");
  read_normalizer(root["normalizer"], v);
  bool byte_level = false;
  read_pre_tokenizer(root["pre_tokenizer"], v, byte_level);
  root["pre_tokenizer"].require(byte_level, "a ByteLevel among them");
  expect(!v.splits.empty(), where, ": tokenizer.pre_tokenizer cuts nothing, which no known model does");
  read_model(root["model"], v);
  read_added(root["added_tokens"], v);
  read_post_processor(root["post_processor"], v);
  root["decoder"].require(root["decoder"].absent() || root["decoder"]["type"].json() == "ByteLevel", "ByteLevel");
  return v;
}

Vocabulary read_tokenizer_json(std::filesystem::path const& path) {
  return parse_tokenizer_json(read_file(path), path.string());
}

}  // namespace sextant::tokens
