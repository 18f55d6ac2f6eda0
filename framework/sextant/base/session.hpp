// Kokkos for the life of a scope.
#pragma once
#include <csignal>

namespace sextant {

/// SIGINT and SIGTERM. Threads that compute must not run handlers of them: oneDNN's generated matrix product points the stack at a
/// buffer on the heap, and the frame of a handler that starts then is written over what lies below it. A Session starts its
/// threads with these blocked, and `run::catch_signals` waits for them in a thread of its own.
sigset_t const& stop_signals();

/// To be called first in main: threads that wait for others sleep after some 100 us instead of spinning for milliseconds, so
/// that on a machine with other work the one that they wait for gets a core; docs/performance.md has what was measured. GNU's
/// OpenMP reads this from the environment before main, so the program starts itself once more with it set. Does nothing where
/// the user has set OMP_WAIT_POLICY or GOMP_SPINCOUNT.
void wait_politely(char** argv);

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
