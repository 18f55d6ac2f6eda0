#include <sextant/base/error.hpp>
#include <sextant/model/safetensors.hpp>

#include <cstring>
#include <nlohmann/json.hpp>

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

std::size_t count_of(std::vector<std::size_t> const& shape) {
  std::size_t count = 1;
  for (std::size_t const extent : shape) count *= extent;
  return count;
}
}  // namespace

void write_safetensors(fs::path const& path, std::vector<TensorBytes> const& tensors,
                       std::map<std::string, std::string> metadata) {
  std::string payload;
  Json header = Json::object();
  header["__metadata__"] = Json::object();
  for (auto const& tensor : tensors) {
    expect(tensor.bytes.size() == count_of(tensor.shape) * bytes_of(tensor.dtype), path.string(), ": ", tensor.name,
           " has ", tensor.bytes.size(), " bytes, expected ", tensor.dtype, " ", tensor.shape);
    header[tensor.name] = {{"dtype", tensor.dtype},
                           {"shape", tensor.shape},
                           {"data_offsets", {payload.size(), payload.size() + tensor.bytes.size()}}};
    payload += tensor.bytes;
  }
  metadata["sha256"] = sha256(payload);
  for (auto const& [key, value] : metadata) header["__metadata__"][key] = value;
  std::string text = header.dump();
  text.resize((text.size() + 7) / 8 * 8, ' ');  // so that the tensors are aligned
  std::string content(8, '\0');
  for (int byte = 0; byte < 8; ++byte) content[byte] = static_cast<char>(text.size() >> (8 * byte));
  write_file_atomically(path, content + text + payload);
}

Safetensors::Safetensors(fs::path const& path) : path_(path.string()), content_(read_file(path)) {
  expect(content_.size() >= 8, path_, ": torn: ", content_.size(), " bytes, too short for a safetensors header");
  std::uint64_t length = 0;
  for (int byte = 7; byte >= 0; --byte) length = length << 8 | static_cast<unsigned char>(content_[byte]);
  expect(length <= content_.size() - 8, path_, ": torn: the header takes ", length, " bytes, the file has ",
         content_.size() - 8, " after its length");
  Json header;
  try {
    header = Json::parse(content_.begin() + 8, content_.begin() + 8 + static_cast<std::ptrdiff_t>(length));
  } catch (nlohmann::json::exception const& error) {
    fail(path_, ": torn: the header is no JSON: ", error.what());
  }
  std::string_view const payload = std::string_view(content_).substr(8 + length);
  std::size_t end_of_all = 0;
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
      expect(end - begin == count_of(tensor.shape) * bytes_of(tensor.dtype), path_, ": ", name, " has ", end - begin,
             " bytes, expected ", tensor.dtype, " ", tensor.shape);
      tensor.bytes = payload.substr(begin, end - begin);
      end_of_all = std::max(end_of_all, end);
      tensors_[name] = tensor;
    } catch (nlohmann::json::exception const& error) {
      fail(path_, ": header entry ", name, " is not as expected: ", error.what());
    }
  expect(end_of_all == payload.size(), path_, ": ", payload.size() - end_of_all, " bytes belong to no tensor");
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
