#include <images/idx.hpp>

#include <sextant/plugin.hpp>

#include <zlib.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <span>

namespace sextant::plugins {
namespace {
std::vector<std::uint8_t> read_all(std::filesystem::path const& path) {
  std::ifstream in(path, std::ios::binary);
  expect(in.good(), path.string(), ": cannot open: ", std::strerror(errno));
  auto const size = std::filesystem::file_size(path);
  expect(size > 0, path.string(), ": is empty");
  expect(size < 1u << 31, path.string(), ": has ", size, " bytes, expected less than 2^31");
  std::vector<std::uint8_t> out(size);
  in.read(reinterpret_cast<char*>(out.data()), static_cast<std::streamsize>(size));
  expect(in.good(), path.string(), ": cannot read: ", std::strerror(errno));
  return out;
}

bool begins_gzip(std::span<std::uint8_t const> bytes) {
  return bytes.size() > 1 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

/// A gzip file is one stream or several, end to end.
std::vector<std::uint8_t> unpack(std::vector<std::uint8_t>& packed, std::filesystem::path const& path) {
  z_stream z{};
  constexpr int gzip_only = 16 + MAX_WBITS;
  expect(inflateInit2(&z, gzip_only) == Z_OK, path.string(), ": cannot unpack: no memory");
  std::unique_ptr<z_stream, int (*)(z_stream*)> const open(&z, inflateEnd);
  z.next_in = packed.data();
  z.avail_in = static_cast<unsigned>(packed.size());
  std::vector<std::uint8_t> out;
  for (int status = Z_OK; status != Z_STREAM_END || z.avail_in > 0;) {
    if (status == Z_STREAM_END) {
      expect(begins_gzip({z.next_in, z.avail_in}), path.string(), ": has ", z.avail_in,
             " bytes behind its gzip stream");
      inflateReset(&z);
    }
    constexpr unsigned block = 1 << 20;
    std::size_t const before = out.size();
    out.resize(before + block);
    z.next_out = out.data() + before;
    z.avail_out = block;
    status = inflate(&z, Z_NO_FLUSH);
    out.resize(before + block - z.avail_out);
    expect(status != Z_BUF_ERROR, path.string(), ": is cut short: its gzip stream does not end");
    expect(status != Z_MEM_ERROR, path.string(), ": cannot unpack: no memory");
    expect(status == Z_OK || status == Z_STREAM_END, path.string(),
           ": is damaged: it does not unpack to what was packed");
  }
  return out;
}

std::vector<std::uint8_t> read_unpacked(std::filesystem::path const& path) {
  auto bytes = read_all(path);
  return begins_gzip(bytes) ? unpack(bytes, path) : bytes;
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
  expect(bytes.size() >= 4, path.string(), ": is no IDX file of bytes in ", dimensions, " dimensions: it has ",
         bytes.size(), " bytes in all");
  std::uint32_t const magic = word_at(bytes, 0), expected = 0x800u + static_cast<std::uint32_t>(dimensions);
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
