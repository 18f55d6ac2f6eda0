#include <sextant/base/error.hpp>
#include <sextant/pretrained/gguf_reader.hpp>

#include <algorithm>
#include <cstring>

namespace sextant::pretrained {
namespace {
constexpr int deepest_array = 4, most_axes = 4;

struct TypeInfo {
  char const* name;
  std::size_t least;  // bytes that a value takes at least
};
constexpr TypeInfo types[] = {{"u8", 1},   {"i8", 1},     {"u16", 2},    {"i16", 2}, {"u32", 4}, {"i32", 4}, {"f32", 4},
                              {"bool", 1}, {"string", 8}, {"array", 12}, {"u64", 8}, {"i64", 8}, {"f64", 8}};

std::uint32_t swapped(std::uint32_t x) { return x << 24 | (x & 0xff00) << 8 | (x >> 8 & 0xff00) | x >> 24; }
}  // namespace

GgufReader::GgufReader(Gguf& file) : out_(file), bytes_(file.file_.bytes()) {}

template <class... Parts>
void GgufReader::refuse(std::size_t at, Parts const&... parts) const {
  fail(out_.path(), ": byte ", at, ": ", parts...);
}

template <class T>
T GgufReader::number(Place place) {
  if (left() < sizeof(T))
    refuse(at_, place.what, " ", place.name, " needs ", sizeof(T), " bytes, ", left(),
           " are left: the file is cut short");
  T out;
  std::memcpy(&out, bytes_.data() + at_, sizeof(T));
  at_ += sizeof(T);
  return out;
}

std::string_view GgufReader::text(Place place) {
  std::size_t const at = at_;
  auto const length = number<std::uint64_t>(place);
  if (length > left())
    refuse(at, place.what, " ", place.name, " is a text of ", length, " bytes, expected at most the ", left(),
           " that are left");
  std::string_view const out = bytes_.substr(at_, length);
  at_ += length;
  return out;
}

std::uint64_t GgufReader::count(Place place, std::size_t least) {
  std::size_t const at = at_;
  auto const found = number<std::uint64_t>(place);
  if (found > left() / least)
    refuse(at, place.what, " ", place.name, " is ", found, ", expected at most ", left() / least, ", for which the ",
           left(), " bytes left would do");
  return found;
}

bool GgufReader::flag(Place place) {
  auto const byte = number<std::uint8_t>(place);
  if (byte > 1) refuse(at_ - 1, place.what, " ", place.name, " is a bool of value ", int(byte), ", expected 0 or 1");
  return byte == 1;
}

template <class Take>
void GgufReader::with_type(std::uint32_t type, Place place, int depth, Take const& take) {
  switch (type) {
    case 0:
      return take([&] { return std::uint64_t(number<std::uint8_t>(place)); });
    case 1:
      return take([&] { return std::int64_t(number<std::int8_t>(place)); });
    case 2:
      return take([&] { return std::uint64_t(number<std::uint16_t>(place)); });
    case 3:
      return take([&] { return std::int64_t(number<std::int16_t>(place)); });
    case 4:
      return take([&] { return std::uint64_t(number<std::uint32_t>(place)); });
    case 5:
      return take([&] { return std::int64_t(number<std::int32_t>(place)); });
    case 6:
      return take([&] { return double(number<float>(place)); });
    case 7:
      return take([&] { return flag(place); });
    case 8:
      return take([&] { return text(place); });
    case 9:
      return take([&] { return array(place, depth + 1); });
    case 10:
      return take([&] { return number<std::uint64_t>(place); });
    case 11:
      return take([&] { return number<std::int64_t>(place); });
    case 12:
      return take([&] { return number<double>(place); });
  }
  refuse(at_ - 4, place.what, " ", place.name, " has type ", type, ", expected 0 to 12");
}

GgufArray GgufReader::array(Place place, int depth) {
  if (depth > deepest_array) refuse(at_, place.what, " ", place.name, " nests arrays deeper than ", deepest_array);
  auto const element = number<std::uint32_t>(place);
  GgufArray out;
  with_type(element, place, depth, [&](auto const& next) {
    out.type = types[element].name;
    auto const length = count({"the length of", place.name}, types[element].least);
    std::vector<decltype(next())> values;
    values.reserve(length);
    for (std::uint64_t i = 0; i < length; ++i) values.push_back(next());
    out.values = std::move(values);
  });
  return out;
}

void GgufReader::read_head() {
  if (left() < 4 || bytes_.substr(0, 4) != "GGUF") refuse(0, "the file does not begin with GGUF, as a GGUF model does");
  at_ = 4;
  auto const version = number<std::uint32_t>({"the", "version"});
  if (version != 2 && version != 3 && (swapped(version) == 2 || swapped(version) == 3))
    refuse(4, "the file is big-endian (version ", swapped(version),
           " with its bytes turned round), expected little-endian");
  if (version != 2 && version != 3) refuse(4, "the version is ", version, ", expected 2 or 3");
  out_.version_ = version;
  tensors_ = count({"the number of", "tensors"}, 8 + 4 + 4 + 8);
}

void GgufReader::read_metadata(std::uint64_t keys) {
  for (std::uint64_t k = 0; k < keys; ++k) {
    std::size_t const at = at_;
    std::string const key(text({"the name of", "a key"}));
    if (out_.has_key(key)) refuse(at, "key ", key, " is there twice");
    auto const type = number<std::uint32_t>({"the type of key", key});
    with_type(type, {"key", key}, 0, [&](auto const& next) {
      out_.metadata_[key] = GgufValue{types[type].name, next()};
    });
  }
}

void GgufReader::read_tensor() {
  std::size_t const at = at_;
  StoredTensor tensor;
  tensor.name = std::string(text({"the name of", "a tensor"}));
  Place const place{"tensor", tensor.name};
  auto const axes = number<std::uint32_t>(place);
  if (axes < 1 || axes > most_axes)
    refuse(at, "tensor ", tensor.name, " has ", axes, " axes, expected 1 to ", most_axes);
  std::uint64_t values = 1;
  for (std::uint32_t axis = 0; axis < axes; ++axis) {
    auto const extent = number<std::uint64_t>(place);
    if (extent < 1 || extent > (std::uint64_t(1) << 40) / values)
      refuse(at, "tensor ", tensor.name, " has extent ", extent, " on axis ", axis,
             ", expected at least 1 and at most 2^40 values");
    values *= extent;
    tensor.shape.insert(tensor.shape.begin(), extent);
  }
  auto const type = number<std::uint32_t>(place);
  auto const& formats = number_formats();
  auto const format = std::find_if(formats.begin(), formats.end(), [&](auto const& f) { return f.ggml_type == type; });
  if (format == formats.end()) {
    std::string const other = other_ggml_type(type);
    refuse(at, "tensor ", tensor.name, " has type ", type, other.empty() ? "" : " (" + other + ")",
           ", expected one of ", known_formats());
  }
  tensor.format = format->format;
  if (tensor.shape.back() % format->block != 0)
    refuse(at, "tensor ", tensor.name, " is ", format->name, " with rows of ", tensor.shape.back(),
           " values, expected a multiple of ", format->block);
  auto const offset = number<std::uint64_t>(place);
  pending_.push_back({std::move(tensor), at, offset, values / format->block * format->bytes});
}

void GgufReader::place_tensors() {
  std::size_t alignment = 32;
  if (out_.has_key("general.alignment")) {
    auto const given = out_.integer("general.alignment");
    bool const fits = given >= 8 && given <= 1 << 20 && (given & (given - 1)) == 0;
    expect(fits, out_.path(), ": general.alignment is ", given, ", expected a power of two from 8 to 2^20");
    alignment = static_cast<std::size_t>(given);
  }
  std::size_t const data = std::min(bytes_.size(), (at_ + alignment - 1) / alignment * alignment);
  std::size_t const room = bytes_.size() - data;
  for (auto& [tensor, at, offset, bytes] : pending_) {
    if (offset % alignment != 0)
      refuse(at, "tensor ", tensor.name, " lies at offset ", offset, ", expected a multiple of ", alignment);
    if (bytes > room || offset > room - bytes)
      refuse(at, "tensor ", tensor.name, " takes ", bytes, " bytes from offset ", offset,
             ", expected an end within the ", room, " bytes of data: the file is cut short or the offset wrong");
    tensor.bytes = bytes_.substr(data + offset, bytes);
  }
}

void GgufReader::check_overlaps() const {
  std::vector<Pending const*> order;
  for (auto const& pending : pending_) order.push_back(&pending);
  std::sort(order.begin(), order.end(), [](auto const* a, auto const* b) { return a->offset < b->offset; });
  for (std::size_t n = 1; n < order.size(); ++n) {
    auto const &before = *order[n - 1], &after = *order[n];
    if (before.offset + before.bytes > after.offset)
      refuse(after.described_at, "tensor ", after.tensor.name, " lies at offset ", after.offset, ", expected ",
             before.offset + before.bytes, " or more: ", before.tensor.name, " reaches to there");
  }
}

void GgufReader::read() {
  read_head();
  auto const keys = count({"the number of", "keys"}, 8 + 4 + 1);
  read_metadata(keys);
  for (std::uint64_t n = 0; n < tensors_; ++n) read_tensor();
  place_tensors();
  check_overlaps();
  for (auto& pending : pending_) {
    std::string const name = pending.tensor.name;
    if (!out_.tensors_.emplace(name, std::move(pending.tensor)).second)
      refuse(pending.described_at, "tensor ", name, " is there twice");
  }
}

}  // namespace sextant::pretrained
