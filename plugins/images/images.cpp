// A grey image in raster order, cell by cell, and its class.
//
//   g(0,0) g(1,0) ... g(0,1) ... g(n-1,n-1) ask [class]          g: grey level of a cell, n cells a side
//
// A cell is the mean of pool by pool pixels, in one of `levels` equal steps of grey. An image of more cells a side than it has
// is enlarged before: every pixel, and so every cell, stands there k by k times. That changes where things stand, and shows
// nothing that was not there before, as finer pooling would.
//
// Cell (x, y) stands at y canvas + x, `ask` and the class at the first place of the line below the image.
//
// Training draws from the file to train on, tests from that for tests. A row belongs to the tests by its hash; images whose
// hash says otherwise than their file are left out, so that no file is ever read for the other purpose, at any size: 7/8 of the
// images to train on are left, and 1/8 of those for tests.
//
// Source: Xiao, Rasul and Vollgraf, "Fashion-MNIST", arXiv:1708.07747, for the images.
#include <common/task.hpp>
#include <sextant/encoding/data_files.hpp>

#include <optional>

#include <images/image_set.hpp>

namespace sextant::plugins {
enum class From { files, stripes };

struct Images : ByLengths {
  From from = From::files;
  Text folder;
  int pool = 4, levels = 16;
  std::optional<int> canvas;

  static constexpr char const* summary = "an image in raster order, asked for its class";
  static constexpr char const* formula = "g(0,0) g(1,0) ... g(0,1) ... g(n-1,n-1) ask [class]";
  static constexpr char const* length_means = "cells of a side";
  static constexpr int first_level = first_symbol;

  static auto schema() {
    return task_schema<Images>()
        .choice("from", &Images::from, "files in the format of MNIST, or waves of ten directions, made up",
                {{"files", From::files}, {"stripes", From::stripes}})
        .option("pool", &Images::pool, "pixels of a cell's side", between(1, 4096))
        .option("levels", &Images::levels, "steps of grey", between(2, 256))
        .option("canvas", &Images::canvas, "cells of a line of positions: (x, y) stands at y canvas + x",
                between(1, 4096), MayBeAuto{"those of a side"})
        .option("folder", &Images::folder, "where the files are: a path from / on",
                MayBeAuto{"Debian's package dataset-fashion-mnist"});
  }
  static std::vector<Example> examples() {
    auto const of = [](double side, Options more) {
      more["from"] = std::string("stripes");
      more["lengths"] = std::vector<double>{side, side};
      return Example{more, {}};
    };
    return {of(7, {}), of(14, {{"pool", std::int64_t{2}}, {"levels", std::int64_t{4}}, {"canvas", std::int64_t{16}}}),
            of(14, {})};
  }

  int vocabulary() const { return first_level + levels + classes; }
  int row_length(int side) const { return side * side + 2; }
  int reach(int side) const { return side * width(side) + 1; }
  std::vector<DataFile> files() const { return from == From::files ? files_in(path()) : std::vector<DataFile>(); }

  void check(int side) const {
    expect(from == From::files || folder.empty(), "images.folder is for images from files");
    expect(lengths[0] == lengths[1], "images.lengths go from ", lengths[0], " to ", lengths[1],
           ", expected one side twice, as in [7, 7]");
    fit(images().side, side);
  }

  void fill(Draw& draw, int side, Row& row) const {
    auto const& set = images();
    fit(set.side, side);
    constexpr int attempts = 1000;
    for (int attempt = 0; attempt < attempts; ++attempt) {
      bool const for_tests = draw.below(2) == 1;
      auto const& part = set.part(for_tests);
      row = show(part, set.side, draw.below(part.count), side);
      if (belongs_to_tests(row) == for_tests) return;
    }
    fail("images: none of ", attempts,
         " images belongs by its hash where its file does; expected more images, or smaller cells");
  }

 private:
  /// Throws Error where images of so many pixels a side cannot be shown in `side` cells.
  void fit(int pixels, int side) const {
    int const cells = pixels / pool;
    expect(pixels % pool == 0, "images of ", pixels, " pixels a side do not divide into cells of ", pool,
           "; expected images.pool to divide ", pixels);
    expect(side % cells == 0, "a side of ", side, " cells is no multiple of the ", cells,
           " that an image has; expected ", cells, ", or ", 2 * cells, " for images enlarged to twice the side");
    expect(width(side) >= side, "a side of ", side, " cells does not fit in a canvas of ", width(side),
           "; expected a wider canvas, or shorter lengths");
  }
  int width(int side) const { return canvas.value_or(side); }
  std::string path() const {
    std::string const given = folder.empty() ? packaged_folder : folder.text();
    expect(given.front() == '/', "images.folder is ", given, ", expected a path from / on");
    return given;
  }
  ImageSet const& images() const { return from == From::files ? images_in(path()) : stripes(); }

  Row show(LabelledImages const& part, int pixels, int number, int side) const {
    int const times = side / (pixels / pool);
    auto const* const image = part.pixels.data() + static_cast<std::ptrdiff_t>(number) * pixels * pixels;
    Row row;
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) {
        row.stand(y * width(side) + x);
        row.say(first_level + level(image, pixels, x / times, y / times));
      }
    row.stand(side * width(side));
    row.say(ask_token);
    row.answer(first_level + levels + part.labels[static_cast<std::size_t>(number)]);
    return row;
  }

  /// floor(mean / 256 levels), in whole numbers.
  int level(std::uint8_t const* image, int pixels, int x, int y) const {
    std::int64_t sum = 0;
    for (int j = 0; j < pool; ++j)
      for (int i = 0; i < pool; ++i) sum += image[(y * pool + j) * pixels + x * pool + i];
    return static_cast<int>(sum * levels / (std::int64_t{256} * pool * pool));
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Images, "images", "arXiv:1708.07747")
SEXTANT_PLUGIN_FILES(sextant::plugins::Images)
