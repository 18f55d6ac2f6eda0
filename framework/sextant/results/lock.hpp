// File locks that end with their holder: a killed process leaves none behind.
#pragma once
#include <sextant/base/file.hpp>

#include <optional>
#include <utility>

namespace sextant::results {

/// An exclusive lock on a file, held while this lives. Open file description locks (Linux 3.15): unlike those of
/// Boost.Interprocess and fcntl they also hold between threads, and asking for one never disturbs who holds it.
/// The file itself stays: removing it would let two processes lock two files of one name.
class Lock {
 public:
  /// nullopt when somebody else holds it. Makes the file and its folder. Throws Error naming the file when the disk
  /// has no locks.
  static std::optional<Lock> try_take(fs::path const& path);
  /// Waits until it is free.
  static Lock take(fs::path const& path);
  /// True while somebody, this process included, holds it; takes nothing.
  static bool is_held(fs::path const& path);

  Lock(Lock&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Lock& operator=(Lock&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Lock();

 private:
  explicit Lock(int fd) : fd_(fd) {}
  int fd_;
};

}  // namespace sextant::results
