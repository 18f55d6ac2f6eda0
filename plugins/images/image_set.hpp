// Grey images with a class each, some to train on and others for tests.
#pragma once
#include <sextant/encoding/data_files.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::plugins {

struct LabelledImages {
  int count = 0;
  std::vector<std::uint8_t> pixels;  ///< [count, side, side], 0 is black
  std::vector<std::uint8_t> labels;  ///< [count], 0 to classes - 1
};
struct ImageSet {
  int side = 0;  ///< pixels
  LabelledImages training, tests;
  LabelledImages const& part(bool for_tests) const { return for_tests ? tests : training; }
};
constexpr int classes = 10;

/// Where Debian's package dataset-fashion-mnist puts its files.
constexpr char const* packaged_folder = "/usr/share/datasets/fashion-mnist";

/// The four files of MNIST and its like in a folder, each as it is or packed. Throws Error where one is missing.
std::vector<encoding::DataFile> files_in(std::string const& folder);
/// What they hold, read when it is first asked for and kept while the process lives. Throws Error where they do not fit together.
ImageSet const& images_in(std::string const& folder);
/// Waves in ten directions, the class being the direction: 28 pixels a side, 4000 and 1000 images, made up without any file.
ImageSet const& stripes();

}  // namespace sextant::plugins
