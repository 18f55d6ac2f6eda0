// Files as MNIST has them, written byte by byte from what the formats' descriptions say, without the code under test or zlib.
#pragma once
#include <sextant/base/file.hpp>

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::test {

/// `count` low bytes of a number, the highest first.
inline std::string big_endian(std::uint32_t value, int count = 4) {
  std::string out;
  while (count-- > 0) out += static_cast<char>(value >> 8 * count);
  return out;
}

/// An IDX file of bytes.
inline std::string idx(std::vector<std::uint32_t> const& extents, std::string const& bytes) {
  std::string out = big_endian(0x800 + static_cast<std::uint32_t>(extents.size()));
  for (auto const extent : extents) out += big_endian(extent);
  return out + bytes;
}

/// RFC 1952, in one stored block of RFC 1951: at most 65535 bytes.
inline std::string gzip(std::string_view bytes) {
  std::uint32_t crc = ~0u;
  for (unsigned char const byte : bytes) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = crc >> 1 ^ (crc & 1 ? 0xEDB88320u : 0);
  }
  auto const little_endian = [](std::uint32_t value, int count) {
    auto const big = big_endian(value, count);
    return std::string(big.rbegin(), big.rend());
  };
  auto const size = static_cast<std::uint32_t>(bytes.size());
  std::string out("\x1f\x8b\x08\0\0\0\0\0\0\xff\x01", 11);
  out += little_endian(size, 2) + little_endian(~size & 0xFFFF, 2);
  out += bytes;
  out += little_endian(~crc, 4) + little_endian(size, 4);
  return out;
}

/// The four files; a test changes what it wants to be wrong.
struct ImageFiles {
  std::string training, training_labels, tests, tests_labels;
  void write(fs::path const& folder, bool packed = false) const {
    auto const put = [&](std::string const& name, std::string const& bytes) {
      write_file_atomically(folder / (packed ? name + ".gz" : name), packed ? gzip(bytes) : bytes);
    };
    put("train-images-idx3-ubyte", training), put("train-labels-idx1-ubyte", training_labels);
    put("t10k-images-idx3-ubyte", tests), put("t10k-labels-idx1-ubyte", tests_labels);
  }
};

/// 4 by 4 pixels, `count` images to train on and as many for tests. Three quarters of each are the same; the last has brightness
/// 4 n. Labels tell the file: 0 to 4 are those to train on, 5 to 9 those for tests.
inline ImageFiles tiny_images(int count = 64) {
  ImageFiles out;
  std::string pixels, low, high;
  for (int n = 0; n < count; ++n) {
    int const last = 4 * n;
    for (int const pixel : {10, 20, 255, 255, 30, 40, 255, 255, 0, 0, last, last, 0, 255, last, last})
      pixels += static_cast<char>(pixel);
    low += static_cast<char>(n % 5), high += static_cast<char>(5 + n % 5);
  }
  auto const of = static_cast<std::uint32_t>(count);
  return {idx({of, 4, 4}, pixels), idx({of}, low), idx({of, 4, 4}, pixels), idx({of}, high)};
}

}  // namespace sextant::test
