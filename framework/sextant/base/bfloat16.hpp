// bf16: the upper half of a float, 8 bits of significand. A storage type: arithmetic happens in float.
#pragma once
#include <bit>
#include <cstdint>

namespace sextant {

struct BFloat16 {
  std::uint16_t bits = 0;
  bool operator==(BFloat16 const&) const = default;
};

constexpr float to_float(BFloat16 x) { return std::bit_cast<float>(std::uint32_t(x.bits) << 16); }

/// To the nearest, ties to even, as hardware rounds; too large becomes infinity, a NaN stays one.
constexpr BFloat16 to_bfloat16(float x) {
  auto const bits = std::bit_cast<std::uint32_t>(x);
  bool const nan = (bits & 0x7FFFFFFFu) > 0x7F800000u;
  std::uint32_t const rounded = nan ? bits | 0x00400000u : bits + 0x7FFFu + (bits >> 16 & 1u);
  return {static_cast<std::uint16_t>(rounded >> 16)};
}

constexpr float round_to_bf16(float x) { return to_float(to_bfloat16(x)); }

}  // namespace sextant
