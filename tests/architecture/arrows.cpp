#include <algorithm>
#include <architecture/arrows.hpp>
#include <optional>
#include <regex>
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sstream>

namespace test {
namespace {
namespace fs = std::filesystem;

struct Include {
  int line;
  bool quoted;
  std::string path;
};

std::vector<Include> includes_of(fs::path const& file) {
  static std::regex const pattern(R"re(^\s*#\s*include\s*([<"])([^>"]+)[>"])re");
  std::vector<Include> found;
  std::istringstream lines(sextant::read_file(file));
  std::smatch match;
  int number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    if (std::regex_search(line, match, pattern)) found.push_back({number, match[1] == "\"", match[2]});
  }
  return found;
}

std::vector<fs::path> sources_in(fs::path const& folder) {
  std::vector<fs::path> files;
  if (!fs::exists(folder)) return files;
  for (auto const& entry : fs::recursive_directory_iterator(folder))
    if (auto const ext = entry.path().extension(); ext == ".cpp" || ext == ".hpp") files.push_back(entry.path());
  std::ranges::sort(files);
  return files;
}

/// "base" of sextant/base/error.hpp; "" of sextant/plugin.hpp; nothing of other paths.
std::optional<std::string> room_of(std::string const& path) {
  static std::string const root = "sextant/";
  if (!path.starts_with(root)) return std::nullopt;
  auto const slash = path.find('/', root.size());
  return slash == std::string::npos ? "" : path.substr(root.size(), slash - root.size());
}

/// The one room that may include a third-party header; nothing when every room may.
std::optional<std::string> owner_of(std::string const& header) {
  static std::vector<std::pair<std::regex, std::string>> const owners = {
      {std::regex("^yaml-cpp/"), "spec"},       {std::regex("^hdf5"), "results"},
      {std::regex("^H5"), "results"},           {std::regex("dnnl"), "kernels"},
      {std::regex("^openssl/"), "base"},        {std::regex("^CLI/"), "cli"},
      {std::regex("pcre2|utf8proc"), "tokens"}, {std::regex("^nlohmann/json.hpp"), "base"}};  // base/json.hpp
  for (auto const& [pattern, room] : owners)
    if (std::regex_search(header, pattern)) return room;
  return std::nullopt;
}

std::vector<std::string> plugin_violations(fs::path const& source) {
  std::vector<std::string> found;
  for (fs::path const& file : sources_in(source / "plugins")) {
    if (file.stem().string().ends_with("_test")) continue;
    for (Include const& include : includes_of(file))
      if (auto const room = room_of(include.path); room && !room->empty() && *room != "encoding" &&
                                                   include.path != "sextant/kernels/small_matmul.hpp" &&
                                                   include.path != "sextant/kernels/row_math.hpp")
        found.push_back(sextant::text(fs::relative(file, source).string(), ":", include.line, ": a plugin includes ",
                                      include.path,
                                      "; it may include sextant/plugin.hpp and sextant/encoding/..., and "
                                      "kernels/small_matmul.hpp or row_math.hpp"));
  }
  return found;
}

}  // namespace

std::vector<Room> read_rooms(std::string const& cmake) {
  static std::regex const pattern(R"(sextant_room\(\s*(\w+)([^)]*)\))");
  std::vector<Room> rooms;
  std::istringstream lines(cmake);
  std::smatch match;
  for (std::string line; std::getline(lines, line);) {
    std::string const code = line.substr(0, line.find('#'));
    if (!std::regex_search(code, match, pattern)) continue;
    Room room{match[1], {}};
    std::istringstream words(match[2].str());
    std::string section;
    for (std::string word; words >> word;) {
      if (word == "USES" || word == "LINKS")
        section = word;
      else if (section == "USES")
        room.uses.insert(word);
    }
    rooms.push_back(room);
  }
  return rooms;
}

std::vector<std::string> violations(fs::path const& source) {
  std::vector<std::string> found = plugin_violations(source);
  std::map<std::string, std::set<std::string>> uses;
  for (Room const& room : read_rooms(sextant::read_file(source / "framework/CMakeLists.txt"))) {
    for (std::string const& used : room.uses)
      if (!uses.contains(used)) found.push_back(room.name + " uses " + used + ", which does not stand above it");
    uses[room.name] = room.uses;
  }
  uses[""] = {"base", "kernels", "encoding"};  // plugin.hpp, beside the rooms

  fs::path const root = source / "framework";
  for (fs::path const& file : sources_in(root / "sextant")) {
    std::string const inside = fs::relative(file, root).string(), room = room_of(inside).value();
    if (!uses.contains(room)) {
      found.push_back("framework/" + inside + ": room " + room + " has no line in framework/CMakeLists.txt");
      continue;
    }
    for (Include const& include : includes_of(file)) {
      std::string const where = sextant::text("framework/", inside, ":", include.line, ": ");
      if (include.quoted) {
        found.push_back(where + "\"" + include.path + "\" is quoted; write <sextant/ROOM/FILE>");
      } else if (auto const target = room_of(include.path)) {
        std::string const arrow = target->empty() ? "encoding" : *target;
        if (arrow != room && !uses.at(room).contains(arrow))
          found.push_back(where + room + " includes " + include.path + ", and its line does not name " + arrow);
      } else if (auto const owner = owner_of(include.path); owner && *owner != room) {
        found.push_back(where + include.path + " belongs to room " + *owner + " alone");
      }
    }
  }
  return found;
}

std::vector<std::string> stray_entries(fs::path const& source) {
  static std::set<std::string> const fixed = {
      "framework", "plugins", "experiments",    "benchmarks",        "docs",
      "tests",     "scripts", "CMakeLists.txt", "CMakePresets.json", "README.md"};
  std::vector<std::string> stray;
  for (auto const& entry : fs::directory_iterator(source)) {
    std::string const name = entry.path().filename().string();
    bool const ignored = name.starts_with('.') || name.starts_with("build") || name == "results";  // as .gitignore says
    if (!fixed.contains(name) && !ignored) stray.push_back(name);
  }
  std::ranges::sort(stray);
  return stray;
}

}  // namespace test
