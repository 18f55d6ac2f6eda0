#include <sextant/base/error.hpp>
#include <sextant/base/mapped_file.hpp>

#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

namespace sextant {

struct MappedFile::Region {
  boost::interprocess::mapped_region region;
};

MappedFile::MappedFile(fs::path const& path) : path_(path), region_(std::make_unique<Region>()) {
  std::error_code code;
  auto const size = fs::file_size(path, code);
  expect(!code, path.string(), ": ", code.message());
  if (size == 0) return;
  try {
    boost::interprocess::file_mapping const file(path.c_str(), boost::interprocess::read_only);
    region_->region = boost::interprocess::mapped_region(file, boost::interprocess::read_only);
  } catch (boost::interprocess::interprocess_exception const& error) {
    fail(path.string(), ": cannot be mapped: ", error.what());
  }
}
MappedFile::~MappedFile() = default;
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;

std::string_view MappedFile::bytes() const {
  return {static_cast<char const*>(region_->region.get_address()), region_->region.get_size()};
}

}  // namespace sextant
