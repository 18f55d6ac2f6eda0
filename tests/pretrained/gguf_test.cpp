#include <sextant/base/error.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/pretrained/gguf.hpp>

#include <catch2/catch_all.hpp>
#include <pretrained/gguf_bytes.hpp>
#include <support/complaint.hpp>

using namespace sextant;
using namespace sextant::pretrained;
using Catch::Matchers::ContainsSubstring;

namespace {
constexpr std::uint32_t u32_type = 4, string_type = 8, array_type = 9;

// Two keys and two tensors: everything that a reader meets.
std::string small_file(std::uint32_t version = 3) {
  test::Bytes out;
  out.head(2, 4, version);
  out.text("general.architecture").u32(string_type).text("llama");
  out.text("llama.block_count").u32(u32_type).u32(2);
  out.text("tokens").u32(array_type).u32(string_type).u64(2).text("a").text("bc");
  out.text("nested").u32(array_type).u32(array_type).u64(1).u32(u32_type).u64(2).u32(7).u32(8);
  out.tensor("plain", {4, 2}, 0, 0).tensor("blocks", {32, 1}, 8, 32).pad();
  for (float const value : {0.f, 1.f, 2.f, 3.f, 4.f, 5.f, 6.f, 7.f}) out.put(value);
  out.put<std::uint16_t>(0x3c00);  // 1 in half
  for (int i = 0; i < 32; ++i) out.put(static_cast<signed char>(i - 16));
  return out.content;
}

std::string complaint_of(std::string const& content) {
  test::TemporaryFile const file(content);
  std::string message = test::complaint([&] { Gguf{file.path()}; });
  auto const at = message.find("model.gguf");
  REQUIRE(at != std::string::npos);  // every message names the file
  return message.substr(at);
}
}  // namespace

TEST_CASE("number formats: every block gives the bits that ggml's reference gives", "[gguf][reference]") {
  Gguf const file(test::data_file("formats.gguf"));
  for (auto const& format : number_formats()) {
    auto const found = values_of(file, file.find(format.name));
    auto const& reference = file.find(std::string(format.name) == "F32" ? "F32" : std::string(format.name) + ".values");
    REQUIRE(found.size() == 1024);
    REQUIRE(reference.bytes.size() == 4096);
    int wrong = 0;
    for (std::size_t i = 0; i < 1024; ++i) {
      float expected;
      std::memcpy(&expected, reference.bytes.data() + 4 * i, 4);
      wrong += std::memcmp(&expected, &found[i], 4) != 0 && !(expected == 0 && found[i] == 0);  // -0 is 0
    }
    INFO(format.name);
    CHECK(wrong == 0);
  }
}

TEST_CASE("number formats: halves of every kind are their value", "[gguf]") {
  CHECK(half_to_float(0x3c00) == 1.0f);
  CHECK(half_to_float(0xc000) == -2.0f);
  CHECK(half_to_float(0x7bff) == 65504.0f);
  CHECK(half_to_float(0x0001) == 0x1p-24f);
  CHECK(half_to_float(0x83ff) == -1023 * 0x1p-24f);
  CHECK(std::signbit(half_to_float(0x8000)));
  CHECK(std::isinf(half_to_float(0x7c00)));
  CHECK(std::isnan(half_to_float(0x7e00)));
  CHECK(bfloat_to_float(0x3f80) == 1.0f);
}

TEST_CASE("gguf: metadata of every type is read", "[gguf]") {
  Gguf const file(test::data_file("formats.gguf"));
  CHECK(file.version() == 3);
  CHECK(file.integer("a.u8") == 200);
  CHECK(file.integer("a.i8") == -100);
  CHECK(file.integer("a.u16") == 60000);
  CHECK(file.integer("a.i16") == -30000);
  CHECK(file.integer("a.u32") == 4000000000);
  CHECK(file.integer("a.i32") == -2000000000);
  CHECK(file.number("a.f32") == 0.5);
  CHECK(file.flag("a.bool"));
  CHECK(file.word("a.string") == "grüße");
  CHECK(file.words("a.strings") == std::vector<std::string>{"one", "", "three"});
  CHECK(file.integers("a.integers") == std::vector<std::int64_t>{1, -2, 3});
  CHECK(file.numbers("a.numbers") == std::vector<double>{0.25, 1.5});
  CHECK(file.metadata().at("a.u64").text() == "9223372036854775808");
  CHECK(file.integer("a.i64") == -(std::int64_t(1) << 62));
  CHECK(file.number("a.f64") == 1e300);
  CHECK(file.number("a.u8") == 200);
  CHECK_THROWS_WITH(file.integer("a.u64"),
                    ContainsSubstring("a.u64 is u64 9223372036854775808, expected a whole number"));
  CHECK_THROWS_WITH(file.integer("a.string"),
                    ContainsSubstring("a.string is string \"grüße\", expected a whole number"));
  CHECK_THROWS_WITH(file.words("a.integers"), ContainsSubstring("a.integers[0] is i32 1, expected a text"));
  CHECK_THROWS_WITH(file.integer("a.u33"), ContainsSubstring("has no key a.u33; the nearest is a.u3"));
}

TEST_CASE("gguf: versions 2 and 3 hold the same", "[gguf]") {
  for (std::uint32_t const version : {2u, 3u}) {
    test::TemporaryFile const file(small_file(version));
    Gguf const gguf(file.path());
    CHECK(gguf.version() == version);
    CHECK(gguf.words("tokens") == std::vector<std::string>{"a", "bc"});
    CHECK(gguf.metadata().at("nested").text() == "[[7, 8] (2 x u32)] (1 x array)");
    CHECK(gguf.find("plain").shape == std::vector<std::size_t>{2, 4});
    CHECK(values_of(gguf, gguf.find("plain"))[5] == 5);
    CHECK(values_of(gguf, gguf.find("blocks"))[31] == 15);
    CHECK_THROWS_WITH(gguf.find("blokcs"), ContainsSubstring("has no tensor blokcs; the nearest is blocks"));
  }
}

TEST_CASE("gguf: what is wrong with the head is said with its place", "[gguf][error]") {
  CHECK(complaint_of("") == "model.gguf: byte 0: the file does not begin with GGUF, as a GGUF model does");
  CHECK(complaint_of("GGML....") == "model.gguf: byte 0: the file does not begin with GGUF, as a GGUF model does");
  CHECK(complaint_of(test::Bytes().head(0, 0, 1).content) == "model.gguf: byte 4: the version is 1, expected 2 or 3");
  CHECK(complaint_of(test::Bytes().head(0, 0, 0x03000000).content) ==
        "model.gguf: byte 4: the file is big-endian (version 3 with its bytes turned round), expected little-endian");
  CHECK(
      complaint_of(test::Bytes().head(1000000, 0).content) ==
      "model.gguf: byte 8: the number of tensors is 1000000, expected at most 0, for which the 8 bytes left would do");
  CHECK(complaint_of(test::Bytes().head(0, ~0ull).content) ==
        "model.gguf: byte 16: the number of keys is 18446744073709551615, expected at most 0, for which the 0 bytes "
        "left would do");
}

TEST_CASE("gguf: what is wrong with a key is said with its place and name", "[gguf][error]") {
  auto const with = [](auto const& write) {
    test::Bytes out;
    out.head(0, 1);
    write(out);
    out.raw(std::string(40, '\0'));
    return complaint_of(out.content);
  };
  CHECK(with([](auto& out) { out.text("k").u32(13); }) == "model.gguf: byte 33: key k has type 13, expected 0 to 12");
  CHECK(with([](auto& out) { out.text("k").u32(7).raw("\2"); }) ==
        "model.gguf: byte 37: key k is a bool of value 2, expected 0 or 1");
  CHECK(with([](auto& out) { out.text("k").u32(8).u64(1 << 30); }) ==
        "model.gguf: byte 37: key k is a text of 1073741824 bytes, expected at most the 40 that are left");
  CHECK(
      with([](auto& out) { out.text("k").u32(9).u32(0).u64(1 << 30); }) ==
      "model.gguf: byte 41: the length of k is 1073741824, expected at most 40, for which the 40 bytes left would do");
  test::Bytes twice;
  twice.head(0, 2);
  for (int n = 0; n < 2; ++n) twice.text("again").u32(4).u32(1);
  CHECK(complaint_of(twice.content) == "model.gguf: byte 45: key again is there twice");
  test::Bytes deep;
  deep.head(0, 1).text("k");
  for (int n = 0; n < 5; ++n) deep.u32(9), n > 0 ? deep.u64(1) : deep;
  CHECK_THAT(complaint_of(deep.raw(std::string(40, '\1')).content),
             ContainsSubstring("key k nests arrays deeper than 4"));
}

TEST_CASE("gguf: what is wrong with a tensor is said with its name, offset and what was expected", "[gguf][error]") {
  auto const with = [](std::vector<std::uint64_t> const& extents, std::uint32_t type, std::uint64_t offset) {
    return complaint_of(
        test::Bytes().head(1, 0).tensor("w", extents, type, offset).pad().raw(std::string(64, '\0')).content);
  };
  CHECK(with({4, 4}, 0, 32) ==
        "model.gguf: byte 24: tensor w takes 64 bytes from offset 32, expected an end within the 64 bytes of data: the "
        "file is "
        "cut short or the offset wrong");
  CHECK(with({4, 4}, 0, 7) == "model.gguf: byte 24: tensor w lies at offset 7, expected a multiple of 32");
  CHECK(with({4, 4}, 10, 0) ==
        "model.gguf: byte 24: tensor w has type 10 (Q2_K), expected one of F32, F16, BF16, Q8_0, Q4_0, "
        "Q4_1, Q5_0, Q5_1, Q4_K, Q5_K, Q6_K");
  CHECK_THAT(with({4, 4}, 77, 0), ContainsSubstring("tensor w has type 77, expected one of"));
  CHECK(with({33}, 8, 0) == "model.gguf: byte 24: tensor w is Q8_0 with rows of 33 values, expected a multiple of 32");
  CHECK(with({}, 0, 0) == "model.gguf: byte 24: tensor w has 0 axes, expected 1 to 4");
  CHECK(with({4, 0}, 0, 0) ==
        "model.gguf: byte 24: tensor w has extent 0 on axis 1, expected at least 1 and at most 2^40 values");
  CHECK_THAT(with({1ull << 33, 1ull << 33}, 0, 0), ContainsSubstring("tensor w has extent 8589934592 on axis 1"));
  CHECK_THAT(with({4, 4}, 0, ~0ull - 31), ContainsSubstring("expected an end within the 64 bytes of data"));

  auto const two = [](std::string const& second, std::uint64_t offset) {
    test::Bytes out;
    out.head(2, 0).tensor("first", {16}, 0, 0).tensor(second, {8}, 0, offset);
    return complaint_of(out.pad().raw(std::string(128, '\0')).content);
  };
  CHECK_THAT(two("second", 32),
             ContainsSubstring("tensor second lies at offset 32, expected 64 or more: first reaches to there"));
  CHECK_THAT(two("first", 64), ContainsSubstring("tensor first is there twice"));

  test::Bytes aligned;
  aligned.head(0, 1).text("general.alignment").u32(4).u32(48);
  CHECK(complaint_of(aligned.content) == "model.gguf: general.alignment is 48, expected a power of two from 8 to 2^20");
}

TEST_CASE("gguf: alignment is what the file says", "[gguf]") {
  test::Bytes out;
  out.head(1, 1).text("general.alignment").u32(4).u32(64).tensor("w", {2}, 0, 0).pad(64).put(1.5f).put(2.5f);
  test::TemporaryFile const file(out.content);
  Gguf const gguf(file.path());
  CHECK(values_of(gguf, gguf.find("w")) == std::vector<float>{1.5f, 2.5f});
}

TEST_CASE("gguf: a weight that is no finite number is named", "[gguf][error]") {
  auto content = small_file();
  std::uint32_t const nan = 0x7fc00000;
  std::memcpy(content.data() + content.size() - 34 - 32 + 8, &nan, 4);
  test::TemporaryFile const file(content);
  Gguf const gguf(file.path());
  CHECK_THROWS_WITH(values_of(gguf, gguf.find("plain")), ContainsSubstring("plain[2] is nan, expected finite numbers"));
}

TEST_CASE("gguf: a file cut at any byte is refused", "[gguf][fuzz]") {
  auto const whole = small_file();
  test::TemporaryFile const file(whole);
  CHECK_NOTHROW(Gguf{file.path()});
  for (std::size_t length = 0; length < whole.size(); ++length) {
    file.write(whole.substr(0, length));
    INFO(length << " bytes of " << whole.size());
    REQUIRE_THROWS_AS(Gguf{file.path()}, Error);
  }
}

TEST_CASE("gguf: bytes turned at random give an error or a file that can be read, and never a crash", "[gguf][fuzz]") {
  auto const whole = small_file();
  test::TemporaryFile const file(whole);
  Stream const stream(3, "flips");
  int refused = 0, read = 0;
  for (std::uint64_t trial = 0; trial < 4000; ++trial) {
    auto content = whole;
    for (std::uint64_t flip = 0; flip < 1 + trial % 4; ++flip)
      content[stream.below(content.size(), 8 * trial + 2 * flip)] =
          static_cast<char>(stream.below(256, 8 * trial + 2 * flip + 1));
    file.write(content);
    try {
      Gguf const gguf(file.path());
      for (auto const& [name, value] : gguf.metadata()) CHECK_FALSE(value.text().empty());
      for (auto const& [name, tensor] : gguf.tensors()) values_of(gguf, tensor);
      ++read;
    } catch (Error const&) {
      ++refused;
    }
  }
  CHECK(refused > 500);  // both happen: the test sees both sides
  CHECK(read > 500);
}

TEST_CASE("gguf: a file that is not there is named with the system's reason", "[gguf][error]") {
  CHECK_THROWS_WITH(Gguf{"/nowhere/model.gguf"}, "/nowhere/model.gguf: No such file or directory");
}
