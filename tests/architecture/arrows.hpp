// Compares the rooms' lines in framework/CMakeLists.txt with what the sources include.
#pragma once
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace test {

/// A room and the rooms it may include, in the order of the lines.
struct Room {
  std::string name;
  std::set<std::string> uses;
};

/// The `sextant_room(NAME USES a b LINKS c)` lines of a CMake text.
std::vector<Room> read_rooms(std::string const& cmake);

/// What breaks the architecture, a sentence each; empty when all is well. `source` is the root of a checkout:
/// arrows that no line names, rooms without a line, third-party headers outside the room that owns them, quoted includes in
/// framework/, plugins that include more than <sextant/plugin.hpp> and the headers of `encoding`.
std::vector<std::string> violations(std::filesystem::path const& source);

/// Entries at the top of a checkout that are not among the fixed ones. Dot files and build folders are not looked at.
std::vector<std::string> stray_entries(std::filesystem::path const& source);

}  // namespace test
