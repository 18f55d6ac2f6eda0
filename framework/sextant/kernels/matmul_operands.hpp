// What a product of one thread is given: plain numbers and pointers, for files that include no Kokkos too.
#pragma once

namespace sextant::kernels {

enum class Op { plain, transposed };
enum class Into { overwrite, add };

namespace blocks {

template <class T>
struct Block {
  T* data;
  int stride;
};

struct Size {
  int rows, cols, terms;
};

/// While it lives oneDNN starts no threads: in a Kokkos without OpenMP, or with one thread, it would take all there are.
class SingleThread {
 public:
  SingleThread();
  ~SingleThread();
  SingleThread(SingleThread const&) = delete;

 private:
  int threads_;
};

}  // namespace blocks
}  // namespace sextant::kernels
