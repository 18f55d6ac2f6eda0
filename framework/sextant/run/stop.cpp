#include <sextant/run/stop.hpp>

#include <csignal>

namespace sextant::run {
namespace {
volatile std::sig_atomic_t requested = 0;

void on_signal(int signal) {
  if (requested) {
    std::signal(signal, SIG_DFL);
    std::raise(signal);
  }
  requested = 1;
}
}  // namespace

void catch_signals() {
  struct sigaction action {};
  action.sa_handler = on_signal;
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

bool stop_requested() { return requested != 0; }

void stop_point(char const* where) {
  if (stop_requested()) throw Stopped(text("stopped on request ", where));
}

}  // namespace sextant::run
