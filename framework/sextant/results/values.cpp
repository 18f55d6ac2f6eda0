#include <sextant/results/values.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>

namespace sextant::results {
namespace {
bool is_boolean(hid_t type) {
  if (H5Tget_class(type) != H5T_ENUM || H5Tget_nmembers(type) != 2 || H5Tget_size(type) != 1) return false;
  std::int8_t no = -1, yes = -1;
  return H5Tenum_valueof(type, "FALSE", &no) >= 0 && H5Tenum_valueof(type, "TRUE", &yes) >= 0 && no == 0 && yes == 1;
}

template <class T>
std::vector<T> numbers(std::size_t count, hid_t memory_type, Read const& read, std::string const& where) {
  std::vector<T> out(count);
  check(read(memory_type, out.data()), where, " cannot be read");
  return out;
}

std::vector<std::string> fixed_texts(std::size_t count, hid_t type, Read const& read, std::string const& where) {
  std::size_t const width = H5Tget_size(type);
  bool const spaces = H5Tget_strpad(type) == H5T_STR_SPACEPAD;
  std::string const raw = [&] {
    std::string buffer(width * count, '\0');
    check(read(type, buffer.data()), where, " cannot be read");
    return buffer;
  }();
  std::vector<std::string> out;
  for (std::size_t i = 0; i < count; ++i) {
    std::string one = raw.substr(i * width, width);
    if (spaces)
      one.erase(one.find_last_not_of(' ') + 1);
    else
      one.erase(std::min(one.find('\0'), one.size()));
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<std::string> variable_texts(std::size_t count, hid_t type, Read const& read, std::string const& where) {
  struct Pointers {
    std::vector<char*> list;
    ~Pointers() {
      for (char* const one : list) H5free_memory(one);
    }
  } pointers{std::vector<char*>(count, nullptr)};
  check(read(type, pointers.list.data()), where, " cannot be read");
  std::vector<std::string> out;
  for (char const* const one : pointers.list) out.emplace_back(one ? one : "");
  return out;
}

Values integers(std::size_t count, hid_t type, Read const& read, std::string const& where) {
  bool const with_sign = H5Tget_sign(type) != H5T_SGN_NONE;
  std::size_t const bytes = H5Tget_size(type);
  if (bytes == 1 && with_sign) return numbers<std::int8_t>(count, H5T_NATIVE_INT8, read, where);
  if (bytes == 1) return numbers<std::uint8_t>(count, H5T_NATIVE_UINT8, read, where);
  if (bytes < 4 || (bytes == 4 && with_sign)) return numbers<std::int32_t>(count, H5T_NATIVE_INT32, read, where);
  if (bytes < 8 || with_sign) return numbers<std::int64_t>(count, H5T_NATIVE_INT64, read, where);
  auto const wide = numbers<std::uint64_t>(count, H5T_NATIVE_UINT64, read, where);
  for (std::uint64_t const value : wide)
    expect(value <= static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()), where, " holds ", value,
           ", which does not fit into int64");
  return std::vector<std::int64_t>(wide.begin(), wide.end());
}

}  // namespace

std::optional<Values> read_values(std::size_t count, hid_t type, Read const& read, std::string const& where) {
  std::size_t const bytes = H5Tget_size(type);
  switch (H5Tget_class(type)) {
    case H5T_FLOAT:
      if (bytes <= 4) return numbers<float>(count, H5T_NATIVE_FLOAT, read, where);
      if (bytes == 8) return numbers<double>(count, H5T_NATIVE_DOUBLE, read, where);
      return std::nullopt;
    case H5T_INTEGER:
      if (bytes <= 8) return integers(count, type, read, where);
      return std::nullopt;
    case H5T_STRING:
      if (H5Tis_variable_str(type) > 0) return variable_texts(count, type, read, where);
      return fixed_texts(count, type, read, where);
    case H5T_ENUM: {
      if (!is_boolean(type)) return std::nullopt;
      auto const raw = numbers<std::int8_t>(count, type, read, where);
      return std::vector<bool>(raw.begin(), raw.end());
    }
    default:
      return std::nullopt;
  }
}

std::string kind(hid_t type) {
  switch (H5Tget_class(type)) {
    case H5T_COMPOUND:
      return "a compound";
    case H5T_ENUM:
      return "an enumeration";
    case H5T_REFERENCE:
      return "a reference";
    case H5T_OPAQUE:
      return "opaque bytes";
    case H5T_BITFIELD:
      return "a bit field";
    case H5T_ARRAY:
      return "an array type";
    case H5T_VLEN:
      return "lists of varying length";
    default:
      return "of a type that is neither number nor text";
  }
}

}  // namespace sextant::results
