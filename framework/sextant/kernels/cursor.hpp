// Scratch memory of a task or a team, cut into arrays.
#pragma once
#include <sextant/base/function.hpp>

#include <cstddef>
#include <cstdint>

namespace sextant::kernels::host {

/// Hands out the stretches of a block, each starting on a 64-byte boundary. Over null it only counts.
class Cursor {
 public:
  SEXTANT_FUNCTION explicit Cursor(void* base = nullptr) : base_(static_cast<char*>(base)) {}
  template <class T>
  SEXTANT_FUNCTION T* take(std::int64_t count) {
    std::size_t const at = used_;
    used_ += (static_cast<std::size_t>(count) * sizeof(T) + 63) / 64 * 64;
    return base_ ? reinterpret_cast<T*>(base_ + at) : nullptr;
  }
  SEXTANT_FUNCTION std::size_t used() const { return used_; }

 private:
  char* base_;
  std::size_t used_ = 0;
};

}  // namespace sextant::kernels::host
