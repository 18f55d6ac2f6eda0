// The small vocabulary and the hard strings of tests/data/tokens.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/tokens/tokenizer.hpp>
#include <sextant/tokens/tokenizer_json.hpp>

#include <sextant/base/json.hpp>

#include <cstdlib>

namespace sextant::test {

inline nlohmann::json tokens_data(std::string const& name) {
  return nlohmann::json::parse(read_file(std::string(std::getenv("SEXTANT_TEST_DATA")) + "/tokens/" + name));
}

inline nlohmann::json const& expected_ids() {
  static nlohmann::json const all = tokens_data("expected.json");
  return all;
}

inline std::vector<std::string> const& hard_strings() {
  static auto const all = tokens_data("hard_strings.json").get<std::vector<std::string>>();
  return all;
}

/// The small vocabulary after a change to its tokenizer.json.
template <class Change>
tokens::Vocabulary tiny_json(Change const& change) {
  auto json = tokens_data("tiny.json");
  change(json);
  return tokens::parse_tokenizer_json(json.dump(), "tiny.json");
}

/// The small vocabulary as a GGUF file would hold it.
inline tokens::Vocabulary tiny_named(std::string const& pre) {
  tokens::Vocabulary v = tiny_json([](auto&) {});
  v.pre = pre;
  v.splits.clear();
  v.ignore_merges.reset();
  v.add_bos.reset();
  v.bos = 0;
  return v;
}

}  // namespace sextant::test
