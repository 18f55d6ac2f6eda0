// HDF5's C interface made safe: handles that close themselves, its error stack as text, one caller at a time.
// Included by this room's .cpp files only.
#pragma once
#include <sextant/base/error.hpp>

#include <hdf5.h>

#include <mutex>
#include <string>
#include <utility>

namespace sextant::results {

/// While it lives this thread alone is inside HDF5 (Debian's library is not built for threads), which prints nothing.
class Session {
 public:
  Session();
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;

 private:
  std::lock_guard<std::mutex> alone_;
  H5E_auto2_t print_ = nullptr;
  void* print_data_ = nullptr;
};

/// HDF5's account of the call that failed last, from the outermost to the innermost cause.
std::string reason();

/// Owns one HDF5 identifier. Throws Error with the joined parts and reason() when the call that made it failed.
class Handle {
 public:
  using Close = herr_t (*)(hid_t);

  template <class... Parts>
  Handle(hid_t id, Close close, Parts const&... what) : id_(id), close_(close) {
    if (id < 0) fail(what..., ": ", reason());
  }
  Handle(Handle&& other) noexcept : id_(std::exchange(other.id_, -1)), close_(other.close_) {}
  Handle& operator=(Handle&& other) noexcept {
    std::swap(id_, other.id_);
    std::swap(close_, other.close_);
    return *this;
  }
  ~Handle() {
    if (id_ >= 0) close_(id_);
  }
  operator hid_t() const { return id_; }

 private:
  hid_t id_;
  Close close_;
};

/// Throws Error with the joined parts and reason() when an HDF5 call returned a negative status.
template <class... Parts>
void check(herr_t status, Parts const&... what) {
  if (status < 0) fail(what..., ": ", reason());
}

/// What h5py writes and reads as bool: an enumeration of FALSE and TRUE over int8.
Handle boolean_type();
/// UTF-8 text of any length.
Handle text_type();

}  // namespace sextant::results
