#include <sextant/base/error.hpp>
#include <sextant/model/safetensors.hpp>

#include <cstring>
#include <sextant/base/json.hpp>

namespace sextant::model {
namespace {
using Json = nlohmann::ordered_json;

std::size_t bytes_of(std::string const& dtype) {
  static std::map<std::string, std::size_t> const sizes = {{"F64", 8}, {"I64", 8}, {"F32", 4}, {"I32", 4},
                                                           {"U8", 1},  {"F16", 2}, {"BF16", 2}};
  auto const found = sizes.find(dtype);
  expect(found != sizes.end(), "dtype is ", dtype, ", expected F64, F32, F16, BF16, I64, I32 or U8");
  return found->second;
}

std::size_t count_of(std::vector<std::size_t> const& shape, std::string const& where) {
  std::size_t count = 1;
  for (std::size_t const extent : shape) {
    expect(extent <= (std::size_t(1) << 48) / std::max<std::size_t>(count, 1), where, ": shape ", shape,
           " has more than 2^48 entries");
    count *= extent;
  }
  return count;
}
}  // namespace

void write_safetensors(fs::path const& path, std::vector<TensorBytes> const& tensors,
                       std::map<std::string, std::string> metadata) {
  // The payload and the file are one string, so that a file of gigabytes takes its size once: room for the header is made in
  // front when its length is known.
  constexpr std::size_t room = 1 << 22;
  std::size_t size = 0;
  for (auto const& tensor : tensors) size += tensor.bytes.size();
  std::string content;
  content.reserve(size + room);
  Json header = Json::object();
  header["__metadata__"] = Json::object();
  for (auto const& tensor : tensors) {
    expect(tensor.bytes.size() == count_of(tensor.shape, tensor.name) * bytes_of(tensor.dtype), path.string(), ": ",
           tensor.name, " has ", tensor.bytes.size(), " bytes, expected ", tensor.dtype, " ", tensor.shape);
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {content.size(), content.size() + tensor.bytes.size()}}};
    content += tensor.bytes;
  }
  metadata["sha256"] = sha256(content);
  for (auto const& [key, value] : metadata) header["__metadata__"][key] = value;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the tensors are aligned
  std::string length(8, '\0');
  for (int byte = 0; byte < 8; ++byte) length[byte] = static_cast<char>(text.size() >> (8 * byte));
  content.insert(0, length + text);
  write_file_atomically(path, content);
}

Safetensors::Safetensors(fs::path const& path) : path_(path.string()), file_(path) {
  std::string_view const content = file_.bytes();
  expect(content.size() >= 8, path_, ": torn: ", content.size(), " bytes, too short for a safetensors header");
  std::uint64_t length = 0;
  for (int byte = 7; byte >= 0; --byte) length = length << 8 | static_cast<unsigned char>(content[byte]);
  expect(length <= content.size() - 8, path_, ": torn: the header takes ", length, " bytes, the file has ",
         content.size() - 8, " after its length");
  Json header;
  try {
    header = Json::parse(content.begin() + 8, content.begin() + 8 + static_cast<std::ptrdiff_t>(length));
  } catch (nlohmann::json::exception const& error) {
    fail(path_, ": torn: the header is no JSON: ", error.what());
  }
  expect(header.is_object(), path_, ": torn: the header is ", header.type_name(), ", expected a JSON object");
  std::string_view const payload = content.substr(8 + length);
  std::map<std::size_t, std::string const*> places;
  for (auto const& [name, entry] : header.items()) try {
      if (name == "__metadata__") {
        for (auto const& [key, value] : entry.items()) metadata_[key] = value.get<std::string>();
        continue;
      }
      auto const begin = entry.at("data_offsets").at(0).get<std::size_t>();
      auto const end = entry.at("data_offsets").at(1).get<std::size_t>();
      TensorBytes tensor{name, entry.at("dtype"), entry.at("shape").get<std::vector<std::size_t>>(), {}};
      expect(begin <= end && end <= payload.size(), path_, ": torn: ", name, " ends at byte ", end, " of ",
             payload.size());
      expect(tensors_.count(name) == 0, path_, ": ", name, " is there twice");
      expect(end - begin == count_of(tensor.shape, path_ + ": " + name) * bytes_of(tensor.dtype), path_, ": ", name,
             " has ", end - begin, " bytes, expected ", tensor.dtype, " ", tensor.shape);
      tensor.bytes = payload.substr(begin, end - begin);
      auto const& kept = tensors_[name] = tensor;
      if (begin == end) continue;
      auto const [place, fresh] = places.emplace(begin, &kept.name);
      expect(fresh, path_, ": ", name, " shares bytes with ", *place->second);
    } catch (nlohmann::json::exception const& error) {
      fail(path_, ": header entry ", name, " is not as expected: ", error.what());
    }
  std::size_t reached = 0;
  for (auto const& [begin, name] : places) {
    expect(begin >= reached, path_, ": ", *name, " begins at byte ", begin, ", within the tensor before it");
    expect(begin <= reached, path_, ": ", begin - reached, " bytes before ", *name, " belong to no tensor");
    reached += tensors_.at(*name).bytes.size();
  }
  expect(reached == payload.size(), path_, ": ", payload.size() - reached, " bytes belong to no tensor");
  auto const digest = metadata_.find("sha256");
  if (digest == metadata_.end()) return;
  std::string const found = sha256(payload);
  expect(found == digest->second, path_, ": damaged: sha256 of the tensors is ", found, ", expected ", digest->second);
}

std::vector<std::string> Safetensors::names() const {
  std::vector<std::string> out;
  for (auto const& [name, tensor] : tensors_) out.push_back(name);
  return out;
}

TensorBytes const& Safetensors::find(std::string const& name) const {
  auto const found = tensors_.find(name);
  if (found != tensors_.end()) return found->second;
  std::string const near = nearest(name, names());
  fail(path_, ": has no tensor ", name, near.empty() ? "" : "; the nearest is " + near);
}

TensorBytes const& Safetensors::find(std::string const& name, std::string const& dtype,
                                     std::vector<std::size_t> const& shape) const {
  TensorBytes const& tensor = find(name);
  expect(tensor.dtype == dtype && tensor.shape == shape, path_, ": ", name, " is ", tensor.dtype, " ", tensor.shape,
         ", expected ", dtype, " ", shape);
  return tensor;
}

}  // namespace sextant::model
