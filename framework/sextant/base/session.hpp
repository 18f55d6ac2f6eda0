// Kokkos for the life of a scope.
#pragma once

namespace sextant {

/// Starts Kokkos with `threads` threads (0: as the system says). Throws Error when the backend cannot have that many:
/// a serial build, asked for four, would otherwise compute alone and not say so.
class Session {
 public:
  explicit Session(int threads);
  ~Session();
  Session(Session const&) = delete;
  Session& operator=(Session const&) = delete;
};

}  // namespace sextant
