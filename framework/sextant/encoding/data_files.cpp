#include <sextant/base/file.hpp>
#include <sextant/encoding/data_files.hpp>
#include <sextant/encoding/task.hpp>

#include <boost/dll/shared_library.hpp>

#include <map>
#include <mutex>

namespace sextant::encoding {
namespace {
namespace dll = boost::dll;

/// Bytes and hash of a file as they were when this process first asked: what it reads is read once as well.
void identify(DataFile& file) {
  static std::mutex lock;
  static std::map<fs::path, std::pair<std::int64_t, std::string>> known;
  std::scoped_lock const held(lock);
  auto it = known.find(file.path);
  if (it == known.end()) {
    auto const bytes = static_cast<std::int64_t>(fs::file_size(file.path));
    it = known.emplace(file.path, std::pair(bytes, sha256_file(file.path))).first;
  }
  std::tie(file.bytes, file.sha256) = it->second;
}
}  // namespace

bool belongs_to_tests(Row const& row) {
  constexpr std::uint64_t test_share = 8;   // one in so many
  std::uint64_t h = 0xCBF29CE484222325ull;  // FNV-1a, then splitmix64's finaliser
  for (auto const token : row.tokens) h = (h ^ static_cast<std::uint32_t>(token)) * 0x100000001B3ull;
  h = (h ^ (h >> 30)) * 0xBF58476D1CE4E5B9ull;
  h = (h ^ (h >> 27)) * 0x94D049BB133111EBull;
  return (h ^ (h >> 31)) % test_share == 0;
}

std::vector<DataFile> data_files(Registry const& registry, Choice const& task) {
  // The registry has it loaded: this only finds it again.
  dll::shared_library const library(registry.file_of(Role::task, task.use).string(),
                                    dll::load_mode::rtld_now | dll::load_mode::rtld_local);
  if (!library.has("sextant_plugin_files")) return {};
  std::vector<DataFile> files;
  library.get<void(Options const&, std::vector<DataFile>&)>("sextant_plugin_files")(
      registry.complete(Role::task, task).options, files);
  for (auto& file : files) identify(file);
  return files;
}

std::string sha256_of(std::vector<DataFile> const& files) {
  std::string all;
  for (auto const& file : files) all += file.sha256;
  return all.empty() ? "" : sha256(all);
}

}  // namespace sextant::encoding
