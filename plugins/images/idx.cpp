#include <images/idx.hpp>

#include <sextant/plugin.hpp>

#include <zlib.h>

#include <cerrno>
#include <cstring>

namespace sextant::plugins {
namespace {
/// zlib passes what is not packed through as it is.
std::vector<std::uint8_t> read_unpacked(std::filesystem::path const& path) {
  std::unique_ptr<gzFile_s, int (*)(gzFile)> const file(gzopen(path.c_str(), "rb"), gzclose);
  expect(file != nullptr, path.string(), ": cannot open: ", std::strerror(errno));
  std::vector<std::uint8_t> out;
  constexpr unsigned block = 1 << 20;
  for (int got = block; got == static_cast<int>(block);) {
    std::size_t const before = out.size();
    out.resize(before + block);
    got = gzread(file.get(), out.data() + before, block);
    out.resize(before + static_cast<std::size_t>(std::max(got, 0)));
  }
  int status = Z_OK;
  gzerror(file.get(), &status);
  expect(status != Z_BUF_ERROR, path.string(), ": is cut short: its gzip stream does not end");
  expect(status != Z_DATA_ERROR, path.string(), ": is damaged: it does not unpack to what was packed");
  expect(status == Z_OK || status == Z_STREAM_END, path.string(), ": cannot read: ", std::strerror(errno));
  return out;
}

std::uint32_t word_at(std::vector<std::uint8_t> const& bytes, std::size_t at) {
  std::uint32_t out = 0;
  for (std::size_t i = 0; i < 4; ++i) out = out << 8 | bytes[at + i];
  return out;
}
}  // namespace

Idx read_idx(std::filesystem::path const& path, int dimensions) {
  auto bytes = read_unpacked(path);
  std::size_t const header = 4 + 4 * static_cast<std::size_t>(dimensions);
  std::uint32_t const magic = bytes.size() < 4 ? 0 : word_at(bytes, 0),
                      expected = 0x800u + static_cast<std::uint32_t>(dimensions);
  expect(magic == expected, path.string(), ": is no IDX file of bytes in ", dimensions, " dimensions: it begins with ",
         magic, ", expected ", expected);
  expect(bytes.size() >= header, path.string(), ": is cut short within its header");
  Idx out;
  std::uint64_t announced = 1;
  for (int d = 0; d < dimensions; ++d) {
    std::uint32_t const extent = word_at(bytes, 4 + 4 * static_cast<std::size_t>(d));
    expect(extent < 1u << 31, path.string(), ": extent ", d + 1, " is ", extent, ", expected less than 2^31");
    out.extents.push_back(static_cast<int>(extent));
    announced *= extent;
    expect(announced < 1ull << 40, path.string(), ": announces more than 2^40 bytes");
  }
  expect(bytes.size() - header == announced, path.string(), ": has ", bytes.size() - header,
         " bytes behind its header, expected ", announced, " for ", out.extents);
  bytes.erase(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(header));
  out.bytes = std::move(bytes);
  return out;
}

}  // namespace sextant::plugins
