// .npy as NumPy writes it: "\x93NUMPY", version, length of the header, a Python dictionary, the numbers.
// Source: numpy/lib/format.py, versions 1.0 to 3.0.
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/tasks/token_documents.hpp>

#include <cstring>
#include <regex>

namespace sextant::tasks {
namespace {

/// Where the numbers begin, and what they are.
struct Layout {
  std::size_t begin = 0, width = 0;  ///< bytes; width of a number
  bool is_signed = false;
  std::int64_t count = 0;
};

std::uint64_t little_endian(std::string const& file, std::size_t at, std::size_t width) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < width; ++i)
    value |= static_cast<std::uint64_t>(static_cast<unsigned char>(file[at + i])) << (8 * i);
  return value;
}

Layout layout_of_npy(std::string const& file, std::string const& path) {
  expect(file.starts_with("\x93NUMPY") && file.size() >= 12, path, " does not begin as NumPy's files do");
  int const version = file[6];
  expect(version >= 1 && version <= 3, path, ": NumPy's format ", version, ", expected 1 to 3");
  std::size_t const prefix = version == 1 ? 10 : 12, length = little_endian(file, 8, version == 1 ? 2 : 4);
  expect(prefix + length <= file.size(), path, " has ", file.size(), " bytes, and its header alone takes ",
         prefix + length);
  std::string const header = file.substr(prefix, length);
  std::smatch type, shape;
  expect(std::regex_search(header, type, std::regex("'descr': *'([^']*)'")) &&
             std::regex_search(header, shape, std::regex("'shape': *\\(([^)]*)\\)")),
         path, ": its header is ", header, ", expected 'descr' and 'shape'");
  std::string const kind = type[1];
  expect(kind == "<u2" || kind == "<i4" || kind == "<u4" || kind == "<i8", path, " holds numbers of type ", kind,
         ", expected <u2, <i4, <u4 or <i8 (uint16, int32, uint32, int64)");
  std::smatch one;
  std::string const sizes = shape[1];
  expect(std::regex_match(sizes, one, std::regex(" *([0-9]{1,15}) *,? *")), path, " has the shape (", sizes,
         "), expected one dimension");
  return {prefix + length, static_cast<std::size_t>(kind[2] - '0'), kind[1] == 'i', std::stoll(one[1])};
}

Layout layout_of_bin(std::string const& file, std::string const& path) {
  expect(file.size() % 2 == 0, path, " has ", file.size(), " bytes, expected an even number: two a token id");
  return {0, 2, false, static_cast<std::int64_t>(file.size() / 2)};
}

}  // namespace

TokenDocument read_token_ids(std::filesystem::path const& path, std::int32_t vocabulary) {
  std::string const name = path.string(), kind = path.extension().string();
  expect(kind == ".npy" || kind == ".bin", name, ": expected token ids in a .npy or .bin file");
  std::string const file = read_file(path);
  Layout const at = kind == ".npy" ? layout_of_npy(file, name) : layout_of_bin(file, name);
  auto const there = static_cast<std::int64_t>((file.size() - at.begin) / at.width);
  expect(there == at.count && (file.size() - at.begin) % at.width == 0, name, " has ", file.size() - at.begin,
         " bytes of numbers, expected ", at.count, " of ", at.width, " bytes each");
  expect(at.count > 0, name, " holds no token ids");
  TokenDocument document{path.filename().string(), {}};
  document.ids.reserve(static_cast<std::size_t>(at.count));
  for (std::int64_t i = 0; i < at.count; ++i) {
    auto const raw = little_endian(file, at.begin + static_cast<std::size_t>(i) * at.width, at.width);
    auto const id = at.is_signed && at.width == 4 ? static_cast<std::int64_t>(static_cast<std::int32_t>(raw))
                                                  : static_cast<std::int64_t>(raw);
    expect(id >= 0 && id < vocabulary, name, ": token ", i, " is ", id, ", expected 0 to ", vocabulary - 1);
    document.ids.push_back(static_cast<std::int32_t>(id));
  }
  return document;
}

}  // namespace sextant::tasks
