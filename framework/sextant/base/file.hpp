// Whole-file reading, and writing that a reader never sees half done.
#pragma once
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

namespace sextant {

namespace fs = std::filesystem;

/// All bytes of a file. Throws Error naming the path and the system's reason.
std::string read_file(fs::path const& path);

/// Writes aside (same folder, unique name), flushes, fsyncs, renames over `path` and fsyncs the folder: after a crash
/// at any instant `path` holds the old content or the new one, whole. Throws Error (a full disk too); the old stays.
void write_file_atomically(fs::path const& path, std::string_view content);

/// The same for a writer that needs a path of its own (HDF5): `write(aside)` creates the file.
void write_atomically(fs::path const& path, std::function<void(fs::path const& aside)> const& write);

/// SHA-256 as 64 lower-case hex digits.
std::string sha256(std::string_view bytes);
std::string sha256_file(fs::path const& path);

}  // namespace sextant
