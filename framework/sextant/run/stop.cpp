#include <sextant/base/session.hpp>
#include <sextant/run/stop.hpp>

#include <signal.h>

#include <atomic>
#include <mutex>
#include <thread>

namespace sextant::run {
namespace {
std::atomic<bool> requested = false;

// A second signal ends the process as if nobody had waited for it.
void wait_for_signals() {
  for (int signal = 0; sigwait(&stop_signals(), &signal) == 0;) {
    if (requested.exchange(true)) {
      ::signal(signal, SIG_DFL);
      pthread_sigmask(SIG_UNBLOCK, &stop_signals(), nullptr);
      ::raise(signal);
    }
  }
}
}  // namespace

void catch_signals() {
  static std::once_flag once;
  std::call_once(once, [] {
    pthread_sigmask(SIG_BLOCK, &stop_signals(), nullptr);
    std::thread(wait_for_signals).detach();
  });
}

bool stop_requested() { return requested; }

void stop_point(char const* where) {
  if (stop_requested()) throw Stopped(text("stopped on request ", where));
}

}  // namespace sextant::run
