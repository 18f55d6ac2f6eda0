// The precision of a model's products.
#pragma once

namespace sextant::kernels {

/// What the operands of a model's products are; sums are float all the same.
enum class Precision { fp32, bf16 };

}  // namespace sextant::kernels
