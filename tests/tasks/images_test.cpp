// The task of images against files that the test writes itself, read by plain loops.
#include <sextant/tasks/task_rows.hpp>

#include <algorithm>
#include <catch2/catch_test_macros.hpp>
#include <catch2/matchers/catch_matchers_string.hpp>
#include <set>

#include "support/complaint.hpp"
#include "support/idx_files.hpp"
#include "support/temp_folder.hpp"

using namespace sextant;
using namespace sextant::tasks;
using Catch::Matchers::ContainsSubstring;
using Options = encoding::Options;

namespace {
constexpr int ask = 2, first_level = 3;  // docs/tasks.md

std::shared_ptr<encoding::Task const> images_of(fs::path const& folder, double side, Options options = {}) {
  options.insert({{"folder", folder.string()}, {"pool", std::int64_t{2}}});
  options["lengths"] = std::vector<double>{side, side};
  return encoding::Registry::global().make_task({"images", options, {}});
}

std::int64_t whole(int n) { return n; }

/// Tokens of an image of tiny_images by hand: cells of means 25, 255, 63.75 and 4 n, in 16 steps of 16.
std::vector<std::int32_t> by_hand(int n, int label) {
  return {first_level + 1, first_level + 15, first_level + 3, first_level + n / 4, ask, first_level + 16 + label};
}
}  // namespace

TEST_CASE("images: cells are means of pixels in steps of grey, read from plain files and packed ones alike",
          "[tasks][images]") {
  test::TempFolder const plain, packed;
  test::tiny_images().write(plain.path());
  test::tiny_images().write(packed.path(), true);
  std::set<std::vector<std::int32_t>> training, tests;
  for (int n = 0; n < 64; ++n) training.insert(by_hand(n, n % 5)), tests.insert(by_hand(n, 5 + n % 5));
  TaskRows const rows(images_of(plain.path(), 2)), same(images_of(packed.path(), 2));
  std::set<std::vector<std::int32_t>> seen;
  for (std::uint64_t n = 0; n < 300; ++n) {
    auto const row = rows.training(5, n), test = rows.test(2, n);
    seen.insert(row.tokens);
    CHECK(training.contains(row.tokens));
    CHECK(tests.contains(test.tokens));
    CHECK(row.scored == std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1});
    CHECK(same.training(5, n).tokens == row.tokens);
    CHECK(same.test(2, n).tokens == test.tokens);
  }
  CHECK(seen.size() > 30);
  CHECK(rows.training(6, 0).tokens == rows.training(6, 0).tokens);
}

TEST_CASE("images: two steps of grey are black and white, and a cell of one pixel is that pixel", "[tasks][images]") {
  test::TempFolder const folder;
  test::tiny_images().write(folder.path());
  TaskRows const rows(images_of(folder.path(), 4, {{"pool", whole(1)}, {"levels", whole(2)}}));
  auto const row = rows.training(1, 0);
  REQUIRE(row.tokens.size() == 18);
  std::vector<int> const first_lines{0, 0, 1, 1, 0, 0, 1, 1};
  for (std::size_t i = 0; i < 8; ++i) CHECK(row.tokens[i] == first_level + first_lines[i]);
  CHECK(row.tokens[13] == first_level + 1);  // the fourth line begins with 0 and 255
  CHECK(row.tokens[17] >= first_level + 2);
}

TEST_CASE("images: an enlarged image has every cell several times over, and cells stand at their points of the canvas",
          "[tasks][images]") {
  test::TempFolder const folder;
  test::tiny_images().write(folder.path());
  for (int const times : {1, 2, 3})
    for (int const canvas : {0, 8}) {
      int const side = 2 * times, width = canvas ? canvas : side;
      Options options;
      if (canvas) options["canvas"] = whole(canvas);
      auto const task = images_of(folder.path(), 2, options);
      CHECK(task->row_length(side) == side * side + 2);
      CHECK(task->reach(side) == side * width + 1);
      auto const row = TaskRows(task).test(side, 3);
      auto const cells = static_cast<std::size_t>(side * side);
      REQUIRE(row.tokens.size() == cells + 2);
      REQUIRE(row.positions.size() == cells + 2);
      std::vector<std::int32_t> corners;
      for (int y = 0; y < side; ++y)
        for (int x = 0; x < side; ++x) {
          auto const at = static_cast<std::size_t>(y * side + x);
          auto const corner = static_cast<std::size_t>(y / times * times * side + x / times * times);
          CHECK(row.tokens[at] == row.tokens[corner]);
          if (at == corner) corners.push_back(row.tokens[at]);
          CHECK(row.positions[at] == y * width + x);
        }
      CHECK(std::vector(corners.begin(), corners.begin() + 3) == std::vector<std::int32_t>{4, 18, 6});
      CHECK(row.tokens[cells] == ask);
      CHECK(row.positions[cells] == side * width);  // the first place of the line below
      CHECK(row.positions[cells + 1] == side * width);
    }
}

TEST_CASE("images: training shows no image of the file for tests, and tests none of that for training, at any size",
          "[tasks][images]") {
  test::TempFolder const folder;
  test::tiny_images().write(folder.path());
  TaskRows const rows(images_of(folder.path(), 2));
  std::set<std::vector<std::int32_t>> trained;
  for (std::uint64_t n = 0; n < 500; ++n) {
    auto const row = rows.training(2, n);
    trained.insert(row.tokens);
    CHECK(row.tokens.back() < first_level + 16 + 5);
    CHECK_FALSE(belongs_to_tests(row));
  }
  for (int const side : {2, 4, 6})
    for (std::uint64_t n = 0; n < 100; ++n) {
      auto const row = rows.test(side, n);
      CHECK(row.tokens.back() >= first_level + 16 + 5);
      CHECK(belongs_to_tests(row));
      CHECK_FALSE(trained.contains(row.tokens));
    }
}

TEST_CASE("images: the waves need no file, and stand across the direction that their class names", "[tasks][images]") {
  auto const task = encoding::Registry::global().make_task(
      {"images", {{"lengths", std::vector<double>{7, 7}}, {"from", std::string("stripes")}}, {}});
  CHECK(encoding::data_files(encoding::Registry::global(), task->choice()).empty());
  std::set<int> seen;
  for (std::uint64_t n = 0; n < 200; ++n) {
    auto const row = TaskRows(task).training(4, n);
    int const label = row.tokens.back() - first_level - 16;
    seen.insert(label);
    for (std::size_t at = 0; at < 49; ++at) {
      if (label == 0) CHECK(row.tokens[at] == row.tokens[at % 7]);      // along x: all lines alike
      if (label == 5) CHECK(row.tokens[at] == row.tokens[at / 7 * 7]);  // along y: all columns alike
    }
  }
  CHECK(seen.size() == 10);
}

TEST_CASE("images: the files that are read are named with their hashes", "[tasks][images]") {
  test::TempFolder const folder;
  test::tiny_images().write(folder.path(), true);
  auto const files = encoding::data_files(encoding::Registry::global(), images_of(folder.path(), 2)->choice());
  REQUIRE(files.size() == 4);
  std::string all;
  for (auto const& file : files) {
    CHECK(file.sha256 == sha256_file(file.path));
    CHECK(file.bytes == static_cast<std::int64_t>(fs::file_size(file.path)));
    all += file.sha256;
  }
  CHECK(files[0].path == folder / "train-images-idx3-ubyte.gz");
  CHECK(encoding::sha256_of(files) == sha256(all));
  CHECK(encoding::sha256_of({}).empty());
  auto const& registry = encoding::Registry::global();
  CHECK(encoding::data_files(registry, {"copy", {{"lengths", std::vector<double>{1, 2}}}, {}}).empty());
}

TEST_CASE("images: files that are missing, damaged or do not fit together are refused by name", "[tasks][images]") {
  auto const refusal = [](auto const& change, bool packed = false) {
    test::TempFolder const folder;
    auto files = test::tiny_images();
    change(files);
    files.write(folder.path(), packed);
    return test::complaint([&] { images_of(folder.path(), 2)->row_length(2); });
  };
  using Files = test::ImageFiles;
  CHECK_THAT(refusal([](Files& f) { f.training[3] = 1; }),
             ContainsSubstring("train-images-idx3-ubyte: is no IDX file of bytes in 3 dimensions: it begins with 2049, "
                               "expected 2051"));
  CHECK_THAT(
      refusal([](Files& f) { f.tests_labels = "no"; }),
      ContainsSubstring("t10k-labels-idx1-ubyte: is no IDX file of bytes in 1 dimensions: it has 2 bytes in all"));
  CHECK_THAT(refusal([](Files& f) { f.tests.resize(10); }),
             ContainsSubstring("t10k-images-idx3-ubyte: is cut short within"));
  CHECK_THAT(refusal([](Files& f) { f.tests.pop_back(); }),
             ContainsSubstring("has 1023 bytes behind its header, expected 1024 for [64, 4, 4]"));
  CHECK_THAT(refusal([](Files& f) { f.tests += 'x'; }), ContainsSubstring("has 1025 bytes behind its header"));
  CHECK_THAT(refusal([](Files& f) {
               f.training = test::idx({0x80000000u, 4, 4}, "");
             }),
             ContainsSubstring("extent 1 is 2147483648, expected less than 2^31"));
  CHECK_THAT(refusal([](Files& f) { f.training_labels = test::idx({63}, std::string(63, '\1')); }),
             ContainsSubstring("train-labels-idx1-ubyte: has 63 labels for the 64 images of "));
  CHECK_THAT(refusal([](Files& f) { f.training_labels.back() = 10; }, true),
             ContainsSubstring("train-labels-idx1-ubyte.gz: label 63 is 10, expected 0 to 9"));
  CHECK_THAT(refusal([](Files& f) {
               f.training = test::idx({64, 2, 8}, std::string(1024, '\1'));
             }),
             ContainsSubstring("images are 8 by 2 pixels, expected squares"));
  CHECK_THAT(refusal([](Files& f) {
               f.tests = test::idx({64, 2, 2}, std::string(256, '\1'));
             }),
             ContainsSubstring("t10k-images-idx3-ubyte: images have 2 pixels a side, those to train on 4"));
  CHECK_THAT(refusal([](Files& f) { f.tests = test::idx({0, 4, 4}, ""); }), ContainsSubstring("has no images"));

  test::TempFolder const folder;
  fs::create_directory(folder / "train-images-idx3-ubyte");
  CHECK_THAT(test::complaint([&] { images_of(folder.path(), 2)->row_length(2); }),
             ContainsSubstring("train-images-idx3-ubyte: is no file, expected one in the format of MNIST"));
  fs::remove(folder / "train-images-idx3-ubyte");
  CHECK_THAT(
      test::complaint([&] { images_of(folder.path(), 2)->row_length(2); }),
      ContainsSubstring("train-images-idx3-ubyte is missing, and so is train-images-idx3-ubyte.gz; expected the four "
                        "files of MNIST in images.folder"));
}

TEST_CASE("images: a packed file that was cut short or damaged is refused by name", "[tasks][images]") {
  auto const refusal = [](auto const& change) {
    test::TempFolder const folder;
    test::tiny_images().write(folder.path(), true);
    fs::path const path = folder / "t10k-images-idx3-ubyte.gz";
    auto bytes = read_file(path);
    change(bytes);
    write_file_atomically(path, bytes);
    return test::complaint([&] { images_of(folder.path(), 2)->row_length(2); });
  };
  CHECK_THAT(refusal([](std::string& bytes) { bytes.resize(500); }),
             ContainsSubstring("t10k-images-idx3-ubyte.gz: is cut short: its gzip stream does not end"));
  CHECK_THAT(refusal([](std::string& bytes) { bytes.resize(bytes.size() - 3); }), ContainsSubstring("is cut short"));
  CHECK_THAT(refusal([](std::string& bytes) { bytes[100] ^= 1; }),
             ContainsSubstring("t10k-images-idx3-ubyte.gz: is damaged: it does not unpack to what was packed"));
  CHECK_THAT(refusal([](std::string& bytes) { bytes += "junk"; }),
             ContainsSubstring("t10k-images-idx3-ubyte.gz: has 4 bytes behind its gzip stream"));
  CHECK_THAT(refusal([](std::string& bytes) { bytes += bytes; }),
             ContainsSubstring("has 2064 bytes behind its header"));
  CHECK_THAT(refusal([](std::string& bytes) { bytes.clear(); }),
             ContainsSubstring("t10k-images-idx3-ubyte.gz: is empty"));
}

TEST_CASE("images: sides, cells and canvases that do not fit are refused with what would do", "[tasks][images]") {
  test::TempFolder const folder;
  test::tiny_images().write(folder.path());
  auto const refusal = [&](int side, Options const& options = {}) {
    return test::complaint([&] { images_of(folder.path(), 2, options)->row_length(side); });
  };
  CHECK_THAT(refusal(3),
             ContainsSubstring("a side of 3 cells is no multiple of the 2 that an image has; expected 2, or 4 "
                               "for images enlarged to twice the side"));
  CHECK_THAT(
      refusal(2, {{"pool", whole(3)}}),
      ContainsSubstring("images of 4 pixels a side do not divide into cells of 3; expected images.pool to divide 4"));
  CHECK_THAT(refusal(2, {{"pool", whole(8)}}), ContainsSubstring("do not divide into cells of 8"));
  CHECK_THAT(refusal(4, {{"canvas", std::int64_t{4294967312}}}), ContainsSubstring("canvas is 4294967312"));
  CHECK_THAT(refusal(4, {{"canvas", whole(3)}}), ContainsSubstring("a side of 4 cells does not fit in a canvas of 3"));
  CHECK_THAT(refusal(2, {{"from", std::string("stripes")}}),
             ContainsSubstring("images.folder is for images from files"));
  CHECK_THAT(test::complaint([] { images_of("here", 2)->row_length(2); }),
             ContainsSubstring("images.folder is here, expected a path from / on"));
  CHECK_THAT(test::complaint([] { images_of("/" + std::string(2000, 'x'), 2); }),
             ContainsSubstring("it has 2001 bytes, at most 1023"));
  auto const of_two_sides = [&] {
    Options const options{
        {"folder", folder.path().string()}, {"pool", whole(2)}, {"lengths", std::vector<double>{2, 4}}};
    encoding::Registry::global().make_task({"images", options, {}})->row_length(4);
  };
  CHECK_THAT(test::complaint(of_two_sides),
             ContainsSubstring("images.lengths go from 2 to 4, expected one side twice"));
}
