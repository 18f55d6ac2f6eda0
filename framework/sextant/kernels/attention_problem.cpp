#include <sextant/kernels/attention_problem.hpp>

#include <new>

namespace sextant::kernels::host {

void Block::Free::operator()(void* p) const { ::operator delete(p, std::align_val_t(64)); }

void Block::reserve(std::size_t bytes) {
  if (bytes <= bytes_) return;
  data_.reset();
  bytes_ = 0;
  data_.reset(::operator new(bytes, std::align_val_t(64)));
  bytes_ = bytes;
}

}  // namespace sextant::kernels::host
