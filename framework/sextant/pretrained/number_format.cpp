#include <sextant/base/error.hpp>
#include <sextant/pretrained/number_format.hpp>

#include <bit>
#include <cstring>
#include <map>

namespace sextant::pretrained {
namespace {
using Byte = unsigned char;

std::uint16_t word16(Byte const* at) { return static_cast<std::uint16_t>(at[0] | at[1] << 8); }
std::uint32_t word32(Byte const* at) { return word16(at) | std::uint32_t(word16(at + 2)) << 16; }
float half(Byte const* at) { return half_to_float(word16(at)); }

// One routine a format: a block's bytes to its values. The products of scales and small integers are exact in float32, so
// only the last addition rounds, and the compiler cannot change a bit.
void q8_0(Byte const* block, float* out) {
  float const d = half(block);
  for (int i = 0; i < 32; ++i) out[i] = d * static_cast<float>(static_cast<signed char>(block[2 + i]));
}

// 32 values of four bits, the low nibbles first, and a fifth bit from `high` where there is one.
template <class F>
void nibbles(Byte const* packed, std::uint32_t high, F const& value) {
  for (int i = 0; i < 16; ++i) {
    value(i, (packed[i] & 15) | static_cast<int>(high >> i & 1) << 4);
    value(i + 16, packed[i] >> 4 | static_cast<int>(high >> (i + 16) & 1) << 4);
  }
}
void q4_0(Byte const* block, float* out) {
  float const d = half(block);
  nibbles(block + 2, 0, [&](int i, int q) { out[i] = d * static_cast<float>(q - 8); });
}
void q4_1(Byte const* block, float* out) {
  float const d = half(block), m = half(block + 2);
  nibbles(block + 4, 0, [&](int i, int q) { out[i] = d * static_cast<float>(q) + m; });
}
void q5_0(Byte const* block, float* out) {
  float const d = half(block);
  nibbles(block + 6, word32(block + 2), [&](int i, int q) { out[i] = d * static_cast<float>(q - 16); });
}
void q5_1(Byte const* block, float* out) {
  float const d = half(block), m = half(block + 2);
  nibbles(block + 8, word32(block + 4), [&](int i, int q) { out[i] = d * static_cast<float>(q) + m; });
}

struct ScaleMin {
  float scale, min;
};
// Pair j of eight six-bit scales and minima in twelve bytes.
ScaleMin scale_min(Byte const* packed, int j) {
  auto const of = [](int scale, int min) { return ScaleMin{static_cast<float>(scale), static_cast<float>(min)}; };
  if (j < 4) return of(packed[j] & 63, packed[j + 4] & 63);
  return of((packed[j + 4] & 15) | packed[j - 4] >> 6 << 4, packed[j + 4] >> 4 | packed[j] >> 6 << 4);
}

// 256 values in eight groups of 32, each with a scale and a minimum; fifth bits in `high` (null: none).
void four_or_five_bits(Byte const* block, Byte const* high, Byte const* low, float* out) {
  float const d = half(block), least = half(block + 2);
  for (int group = 0; group < 8; ++group) {
    auto const [scale, min] = scale_min(block + 4, group);
    float const ds = d * scale, dm = least * min;
    Byte const* const q = low + group / 2 * 32;
    for (int i = 0; i < 32; ++i) {
      int const fifth = high ? high[i] >> group & 1 : 0;
      int const value = (group % 2 ? q[i] >> 4 : q[i] & 15) + 16 * fifth;
      out[32 * group + i] = ds * static_cast<float>(value) - dm;
    }
  }
}
void q4_k(Byte const* block, float* out) { four_or_five_bits(block, nullptr, block + 16, out); }
void q5_k(Byte const* block, float* out) { four_or_five_bits(block, block + 16, block + 48, out); }

void q6_k(Byte const* block, float* out) {
  Byte const *const low = block, *const high = block + 128, *const scales = block + 192;
  float const d = half(block + 208);
  for (int i = 0; i < 256; ++i) {
    int const part = i / 128, quarter = i % 128 / 32, lane = i % 32;
    Byte const packed = low[64 * part + 32 * (quarter % 2) + lane];
    int const top = high[32 * part + lane] >> (2 * quarter) & 3;
    int const value = ((quarter < 2 ? packed & 15 : packed >> 4) | top << 4) - 32;
    float const scale = static_cast<float>(static_cast<signed char>(scales[i / 16]));
    out[i] = d * scale * static_cast<float>(value);
  }
}

void f32(Byte const* value, float* out) { std::memcpy(out, value, 4); }
void f16(Byte const* value, float* out) { *out = half(value); }
void bf16(Byte const* value, float* out) { *out = bfloat_to_float(word16(value)); }

template <void (*Block)(Byte const*, float*)>
void each_block(FormatInfo const& format, Byte const* from, std::size_t blocks, float* out) {
  for (std::size_t n = 0; n < blocks; ++n) Block(from + n * format.bytes, out + n * format.block);
}
}  // namespace

float half_to_float(std::uint16_t bits) {
  std::uint32_t const sign = std::uint32_t(bits & 0x8000) << 16, exponent = bits >> 10 & 31, fraction = bits & 0x3ff;
  if (exponent == 31) return std::bit_cast<float>(sign | 0x7f800000 | fraction << 13);
  if (exponent > 0) return std::bit_cast<float>(sign | (exponent + 112) << 23 | fraction << 13);
  float const tiny = static_cast<float>(fraction) * 0x1p-24f;  // subnormal in half, not in float
  return sign ? -tiny : tiny;
}
float bfloat_to_float(std::uint16_t bits) { return std::bit_cast<float>(std::uint32_t(bits) << 16); }

std::vector<FormatInfo> const& number_formats() {
  using enum NumberFormat;
  static std::vector<FormatInfo> const formats = {
      {f32, "F32", 0, 1, 4},        {f16, "F16", 1, 1, 2},       {bf16, "BF16", 30, 1, 2},
      {q8_0, "Q8_0", 8, 32, 34},    {q4_0, "Q4_0", 2, 32, 18},   {q4_1, "Q4_1", 3, 32, 20},
      {q5_0, "Q5_0", 6, 32, 22},    {q5_1, "Q5_1", 7, 32, 24},   {q4_k, "Q4_K", 12, 256, 144},
      {q5_k, "Q5_K", 13, 256, 176}, {q6_k, "Q6_K", 14, 256, 210}};
  return formats;
}

FormatInfo const& info(NumberFormat format) { return number_formats().at(static_cast<std::size_t>(format)); }

std::string known_formats() {
  std::vector<std::string> names;
  for (auto const& format : number_formats()) names.emplace_back(format.name);
  return join(names);
}

std::string other_ggml_type(std::uint32_t ggml_type) {
  static std::map<std::uint32_t, char const*> const names = {
      {9, "Q8_1"},   {10, "Q2_K"},   {11, "Q3_K"},  {15, "Q8_K"},  {16, "IQ2_XXS"}, {17, "IQ2_XS"}, {18, "IQ3_XXS"},
      {19, "IQ1_S"}, {20, "IQ4_NL"}, {21, "IQ3_S"}, {22, "IQ2_S"}, {23, "IQ4_XS"},  {24, "I8"},     {25, "I16"},
      {26, "I32"},   {27, "I64"},    {28, "F64"},   {29, "IQ1_M"}, {34, "TQ1_0"},   {35, "TQ2_0"},  {39, "MXFP4"}};
  auto const found = names.find(ggml_type);
  return found == names.end() ? "" : found->second;
}

void dequantise(NumberFormat format, std::string_view bytes, std::size_t count, float* out) {
  FormatInfo const& shape = info(format);
  std::size_t const blocks = count / shape.block;
  expect(count % shape.block == 0 && bytes.size() == blocks * shape.bytes, "dequantise: ", bytes.size(), " bytes of ",
         shape.name, " for ", count, " values, expected blocks of ", shape.block, " values in ", shape.bytes, " bytes");
  auto const* const from = reinterpret_cast<Byte const*>(bytes.data());
  switch (format) {
    case NumberFormat::f32:
      return each_block<f32>(shape, from, blocks, out);
    case NumberFormat::f16:
      return each_block<f16>(shape, from, blocks, out);
    case NumberFormat::bf16:
      return each_block<bf16>(shape, from, blocks, out);
    case NumberFormat::q8_0:
      return each_block<q8_0>(shape, from, blocks, out);
    case NumberFormat::q4_0:
      return each_block<q4_0>(shape, from, blocks, out);
    case NumberFormat::q4_1:
      return each_block<q4_1>(shape, from, blocks, out);
    case NumberFormat::q5_0:
      return each_block<q5_0>(shape, from, blocks, out);
    case NumberFormat::q5_1:
      return each_block<q5_1>(shape, from, blocks, out);
    case NumberFormat::q4_k:
      return each_block<q4_k>(shape, from, blocks, out);
    case NumberFormat::q5_k:
      return each_block<q5_k>(shape, from, blocks, out);
    case NumberFormat::q6_k:
      return each_block<q6_k>(shape, from, blocks, out);
  }
}

}  // namespace sextant::pretrained
