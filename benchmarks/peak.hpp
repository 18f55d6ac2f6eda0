// Memory of this process around a piece of work.
#pragma once
#include <malloc.h>

#include <fstream>
#include <string>

namespace sextant {

/// A field of /proc/self/status in bytes.
inline double process_bytes(char const* name) {
  std::ifstream in("/proc/self/status");
  std::string key;
  double value = 0;
  for (std::string rest; in >> key && key != name; std::getline(in, rest)) {
  }
  in >> value;
  return value * 1024;
}

/// Peak bytes of this process while `work` runs, beyond what it held before.
template <class F>
double peak_of(F&& work) {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  double const before = process_bytes("VmRSS:");
  work();
  return process_bytes("VmHWM:") - before;
}

}  // namespace sextant
