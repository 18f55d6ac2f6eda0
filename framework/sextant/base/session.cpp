#include <sextant/base/error.hpp>
#include <sextant/base/kokkos.hpp>
#include <sextant/base/session.hpp>

#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

namespace sextant {

void wait_politely([[maybe_unused]] char** argv) {
#if defined(__linux__) && defined(KOKKOS_ENABLE_OPENMP)
  if (std::getenv("OMP_WAIT_POLICY") || std::getenv("GOMP_SPINCOUNT")) return;
  ::setenv("GOMP_SPINCOUNT", "3000", 1);
  ::execv("/proc/self/exe", argv);  // returns only where that cannot be: then as it was
#endif
}

sigset_t const& stop_signals() {
  static sigset_t const signals = [] {
    sigset_t out;
    sigemptyset(&out);
    sigaddset(&out, SIGINT);
    sigaddset(&out, SIGTERM);
    return out;
  }();
  return signals;
}

Session::Session(int threads) {
  ::setenv("OMP_PROC_BIND", "false", 0);  // what the caller has set wins; Kokkos warns without
  expect(threads >= 0, "threads: is ", threads, ", expected a whole number >= 1");
  int const most = std::max(64, 4 * static_cast<int>(std::thread::hardware_concurrency()));
  expect(threads <= most, "threads: is ", threads, ", expected at most ", most, " on this machine");
  sigset_t before;
  pthread_sigmask(SIG_BLOCK, &stop_signals(), &before);
  Kokkos::initialize(kokkos_settings(threads > 0 ? threads : -1));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  int const have = concurrency();
  if (threads > 0 && on_host && have != threads) {
    Kokkos::finalize();
    fail("asked for ", threads, " threads, but the backend ", Exec::name(), " has ", have,
         ": build against a Kokkos with OpenMP, or leave --threads out");
  }
}

Session::~Session() { Kokkos::finalize(); }

}  // namespace sextant
