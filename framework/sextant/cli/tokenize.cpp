// tokenize: a text as the tokens of a model.
#include <sextant/base/file.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/pretrained/vocabulary.hpp>
#include <sextant/tasks/corpus.hpp>
#include <sextant/tokens/tokenizer.hpp>
#include <sextant/tokens/utf8.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <iostream>
#include <iterator>
#include <memory>

namespace sextant::cli {
namespace {
using nlohmann::json;

tokens::Tokenizer tokenizer_of(std::string const& model) {
  return tokens::Tokenizer(pretrained::vocabulary_of(pretrained::find_model(model, tasks::default_cache())));
}

std::string text_of(std::string const& file) {
  if (file != "-") return read_file(file);
  return {std::istreambuf_iterator<char>(std::cin), {}};
}

/// On one line: control characters and bytes that are no whole character as \n, \t or \xHH.
std::string shown_bytes(std::string const& bytes) {
  bool const whole = tokens::stray_bytes(bytes).empty();
  std::string out;
  for (char const c : bytes) {
    auto const byte = static_cast<unsigned char>(c);
    if (c == '\n')
      out += "\\n";
    else if (c == '\t')
      out += "\\t";
    else if (c == '\\')
      out += "\\\\";
    else if (byte < 0x20 || byte == 0x7F || (byte >= 0x80 && !whole))
      out += fmt::format("\\x{:02X}", byte);
    else
      out += c;
  }
  return out;
}

json as_json(tokens::Tokenizer const& tokenizer, tokens::Encoded const& encoded) {
  json pieces = json::array();
  for (auto const id : encoded.ids) pieces.push_back(shown_bytes(tokenizer.token_bytes(id)));
  return {{"ids", encoded.ids}, {"pieces", pieces}, {"dropped_bytes", encoded.dropped}};
}

}  // namespace

void add_tokenize(CLI::App& app, Context& context) {
  struct Arguments {
    std::string model, text = "-";
    tokens::EncodeOptions options;
    bool replace = false;
  };
  auto* const command =
      add_command(app, "tokenize", "Print the tokens of a text: ids and pieces",
                  {"tokenize smollm2 --text book.txt", "tokenize tokenizer.json --json --control < chat.txt"});
  auto const a = std::make_shared<Arguments>();
  command
      ->add_option("model", a->model,
                   "a GGUF file, a tokenizer.json, a folder with one, a checkpoint, or a model of the cache")
      ->required();
  command->add_option("--text", a->text, "file to read; - for standard input")->capture_default_str();
  command->add_flag("--control", a->options.control, "control tokens written out in the text are tokens, not text");
  command->add_flag("--add", a->options.add, "begin and end with the tokens that the model asks for");
  command->add_flag("--replace", a->replace, "bytes that are no UTF-8 become U+FFFD, as in llama.cpp");
  takes_json(command, context);
  command->callback([a, &context] {
    if (a->replace) a->options.stray = tokens::Stray::replace;
    auto const tokenizer = tokenizer_of(a->model);
    auto const encoded = tokenizer.encode(text_of(a->text), a->options);
    if (context.json) {
      fmt::print("{}\n", as_json(tokenizer, encoded).dump());
      return;
    }
    for (auto const id : encoded.ids) fmt::print("{:>7} {}\n", id, shown_bytes(tokenizer.token_bytes(id)));
    if (encoded.dropped > 0)
      fmt::print(stderr, "sextant: {} bytes have no token in {} and were left out\n", encoded.dropped, a->model);
  });
}

}  // namespace sextant::cli
