// Ctrl-C as a request: work stops at the next safe point, with everything that is done kept.
#pragma once
#include <sextant/base/error.hpp>

namespace sextant::run {

/// Thrown at a safe point after SIGINT or SIGTERM. A second signal ends the process at once.
class Stopped : public Error {
 public:
  using Error::Error;
};

/// From now on SIGINT and SIGTERM set the request. They are received in a thread of their own; threads that this one starts have
/// them blocked.
void catch_signals();
bool stop_requested();
/// Throws Stopped when a stop was requested.
void stop_point(char const* where);

}  // namespace sextant::run
