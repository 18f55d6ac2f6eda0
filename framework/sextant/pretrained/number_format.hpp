// How weights lie in files: plain floats of several widths, and blocks of small integers with shared scales.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace sextant::pretrained {

/// The types that Sextant reads, under ggml's names. Blocks run along the last axis.
enum class NumberFormat { f32, f16, bf16, q8_0, q4_0, q4_1, q5_0, q5_1, q4_k, q5_k, q6_k };

struct FormatInfo {
  NumberFormat format;
  char const* name;         ///< as ggml and safetensors write it: Q4_1, BF16
  std::uint32_t ggml_type;  ///< its number in a GGUF file
  int block;                ///< values of a block
  int bytes;                ///< bytes of a block
};
std::vector<FormatInfo> const& number_formats();
FormatInfo const& info(NumberFormat format);

/// The formats' names, for messages.
std::string known_formats();

/// What ggml calls a type that Sextant does not read (IQ2_XXS), or "" for a number that ggml has not given out.
std::string other_ggml_type(std::uint32_t ggml_type);

/// `count` values (whole blocks) from their bytes, to the bit as ggml's reference routines give them in float32.
void dequantise(NumberFormat format, std::string_view bytes, std::size_t count, float* out);

float half_to_float(std::uint16_t bits);
float bfloat_to_float(std::uint16_t bits);

}  // namespace sextant::pretrained
