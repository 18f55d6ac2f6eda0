// For a task that draws its examples from files: a folder as an option, which examples are for tests, and which files it reads,
// so that they are part of what a stage is called and of what a study records. Beside SEXTANT_PLUGIN the file then has
//
//   SEXTANT_PLUGIN_FILES(sextant::plugins::Images)       exports std::vector<DataFile> Images::files() const
//
// a symbol apart, so that plugins without files stay as they are.
#pragma once
#include <sextant/encoding/choice.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/encoding/schema.hpp>

#include <cstdint>
#include <filesystem>
#include <string>
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

}  // namespace sextant::encoding

#define SEXTANT_PLUGIN_FILES(Type)                                                                    \
  extern "C" __attribute__((visibility("default"))) void sextant_plugin_files(                        \
      ::sextant::encoding::Options const& options, std::vector<::sextant::encoding::DataFile>& out) { \
    Type plugin;                                                                                      \
    Type::schema().set(plugin, options);                                                              \
    out = plugin.files();                                                                             \
  }
