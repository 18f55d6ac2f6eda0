// What the tests of this room share: a folder to fill, bytes to spill, the message of an expected Error.
#pragma once
#include <fstream>
#include <string>

#include "support/complaint.hpp"
#include "support/temp_folder.hpp"

namespace sextant::test {

using Scratch = TempFolder;

inline void spill(fs::path const& path, std::string const& bytes) { std::ofstream(path, std::ios::binary) << bytes; }

}  // namespace sextant::test
