// A file of bytes in the IDX format of MNIST, as it is or packed with gzip.
//
//   0 0 8 D    n_1 ... n_D (32 bits each, the high byte first)    n_1 ... n_D bytes, the last index fastest
//
// Source: LeCun, Cortes and Burges, "The MNIST database of handwritten digits", section on file formats.
#pragma once
#include <cstdint>
#include <filesystem>
#include <vector>

namespace sextant::plugins {

struct Idx {
  std::vector<int> extents;
  std::vector<std::uint8_t> bytes;
};

/// Throws Error naming the file where it cannot be read or unpacked, is no such file of so many dimensions, or has more or
/// fewer bytes than it announces.
Idx read_idx(std::filesystem::path const& path, int dimensions);

}  // namespace sextant::plugins
