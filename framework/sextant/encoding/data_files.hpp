// For a task that draws its examples from files: a folder as an option, which examples are for tests, and which files it reads,
// so that they are part of what a stage is called and of what a study records. Beside SEXTANT_PLUGIN the file then has
//
//   SEXTANT_PLUGIN_FILES(sextant::plugins::Images)       exports std::vector<DataFile> Images::files() const
//
// a symbol apart, so that plugins without files stay as they are.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/encoding/choice.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/encoding/schema.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace sextant::encoding {

struct Row;

/// True for one example in eight, by its tokens: it belongs to the tests, and training never shows it.
bool belongs_to_tests(Row const& row);

struct DataFile {
  std::filesystem::path path;
  std::string licence = {};
  std::int64_t bytes = 0;  ///< these two are found by data_files()
  std::string sha256 = {};
};
/// What a task reads, in the task's order; nothing for one that draws all itself. A file is hashed once a process. Throws Error
/// where one is missing.
std::vector<DataFile> data_files(Registry const& registry, Choice const& task);
/// One hash for all of them; empty for none.
std::string sha256_of(std::vector<DataFile> const& files);

/// Text as an option, of fixed capacity, so that a plugin stays trivially copyable.
struct Text {
  static constexpr std::size_t capacity = 1024;
  char value[capacity] = {};
  bool empty() const { return value[0] == 0; }
  std::string text() const { return value; }
};

/// A schema and options of free text, which may be left to `auto`: the text is then empty.
template <class P>
class SchemaWithText : public Schema<P> {
 public:
  explicit SchemaWithText(Schema<P> schema) : Schema<P>(std::move(schema)), options_(Schema<P>::options()) {}
  SchemaWithText text(std::string name, Text P::*member, std::string help, MayBeAuto automatic) && {
    options_.push_back({.name = name, .help = std::move(help), .kind = Kind::text, .fallback = Auto{}});
    options_.back().auto_meaning = automatic.meaning;
    texts_.emplace_back(std::move(name), member);
    return std::move(*this);
  }
  std::vector<Option> const& options() const { return options_; }
  void set(P& plugin, Options const& values) const {
    Schema<P>::set(plugin, values);
    for (auto const& [name, member] : texts_)
      if (auto const it = values.find(name); it != values.end()) write(name, plugin.*member, it->second);
  }

 private:
  static void write(std::string const& name, Text& to, Value const& value) {
    auto const* const given = std::get_if<std::string>(&value);
    to = {};
    if (!given) return;
    expect(given->size() < Text::capacity, name, " has ", given->size(), " characters, expected fewer than ",
           Text::capacity);
    given->copy(to.value, Text::capacity - 1);
  }
  std::vector<Option> options_;
  std::vector<std::pair<std::string, Text P::*>> texts_;
};

}  // namespace sextant::encoding

#define SEXTANT_PLUGIN_FILES(Type)                                                                    \
  extern "C" __attribute__((visibility("default"))) void sextant_plugin_files(                        \
      ::sextant::encoding::Options const& options, std::vector<::sextant::encoding::DataFile>& out) { \
    Type plugin;                                                                                      \
    Type::schema().set(plugin, options);                                                              \
    out = plugin.files();                                                                             \
  }
