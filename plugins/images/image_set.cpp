#include <images/image_set.hpp>

#include <sextant/plugin.hpp>

#include <cmath>
#include <map>
#include <mutex>
#include <numbers>

#include <images/idx.hpp>

namespace sextant::plugins {
namespace fs = std::filesystem;
namespace {
fs::path find_file(fs::path const& folder, std::string const& name) {
  std::error_code none;
  for (auto const& path : {folder / name, folder / (name + ".gz")}) {
    if (!fs::exists(path, none)) continue;
    expect(fs::is_regular_file(path, none), path.string(), ": is no file, expected one in the format of MNIST");
    return path;
  }
  std::string const missing = text((folder / name).string(), " is missing, and so is ", name, ".gz; ");
  if (folder == packaged_folder)
    fail(missing,
         "install them with: apt-get install dataset-fashion-mnist, or name another folder with images.folder");
  fail(missing, "expected the four files of MNIST in images.folder");
}

LabelledImages read_part(fs::path const& images, fs::path const& labels, int& side) {
  auto pixels = read_idx(images, 3), marks = read_idx(labels, 1);
  int const count = pixels.extents[0], height = pixels.extents[1], width = pixels.extents[2];
  expect(count > 0 && height > 0, images.string(), ": has no images");
  expect(height == width, images.string(), ": images are ", width, " by ", height, " pixels, expected squares");
  expect(side == 0 || side == height, images.string(), ": images have ", height, " pixels a side, those to train on ",
         side);
  expect(marks.extents[0] == count, labels.string(), ": has ", marks.extents[0], " labels for the ", count,
         " images of ", images.string());
  for (std::size_t n = 0; n < marks.bytes.size(); ++n)
    expect(marks.bytes[n] < classes, labels.string(), ": label ", n, " is ", int{marks.bytes[n]}, ", expected 0 to ",
           classes - 1);
  side = height;
  return {count, std::move(pixels.bytes), std::move(marks.bytes)};
}

ImageSet read_set(std::string const& folder) {
  auto const files = files_in(folder);
  ImageSet out;
  out.training = read_part(files[0].path, files[1].path, out.side);
  out.tests = read_part(files[2].path, files[3].path, out.side);
  return out;
}

LabelledImages draw_stripes(Stream const& stream, int count, int side) {
  LabelledImages out{.count = count};
  for (int n = 0; n < count; ++n) {
    auto const draw = [&](std::uint64_t k) { return stream.uniform(k, static_cast<std::uint64_t>(n)); };
    double const turn = 2 * std::numbers::pi, angle = turn / 2 * (n % classes) / classes;
    double const wave = turn / (12 + 8 * draw(0)), phase = turn * draw(1);  // 12 to 20 pixels long
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x)
        out.pixels.push_back(static_cast<std::uint8_t>(
            128 + 100 * std::sin(wave * (x * std::cos(angle) + y * std::sin(angle)) + phase)));
    out.labels.push_back(static_cast<std::uint8_t>(n % classes));
  }
  return out;
}
}  // namespace

std::vector<encoding::DataFile> files_in(std::string const& folder) {
  std::string const licence = folder == packaged_folder ? "MIT" : "";
  std::vector<encoding::DataFile> out;
  for (char const* const name :
       {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte", "t10k-labels-idx1-ubyte"})
    out.push_back({.path = find_file(folder, name), .licence = licence});
  return out;
}

ImageSet const& images_in(std::string const& folder) {
  static std::mutex lock;
  static std::map<std::string, ImageSet> open;
  std::scoped_lock const held(lock);
  auto it = open.find(folder);
  if (it == open.end()) it = open.emplace(folder, read_set(folder)).first;
  return it->second;
}

ImageSet const& stripes() {
  constexpr int side = 28;
  static ImageSet const made{side, draw_stripes(Stream(0, "images/stripes/training"), 4000, side),
                             draw_stripes(Stream(0, "images/stripes/tests"), 1000, side)};
  return made;
}

}  // namespace sextant::plugins
