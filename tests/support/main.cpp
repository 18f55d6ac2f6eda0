// The main of every test binary: Kokkos lives as long as the session, and the paths that tests need have defaults, so that
// a binary started by hand (build/tests/kernels_tests "[alibi]") sees what ctest gives it.

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>
#include <cstdlib>

namespace {
void set_defaults() {
  int const keep = 0;  // what the caller has set wins
  ::setenv("SEXTANT_TEST_DATA", SEXTANT_TEST_DEFAULTS_DATA, keep);
  ::setenv("SEXTANT_SOURCE", SEXTANT_TEST_DEFAULTS_SOURCE, keep);
  ::setenv("SEXTANT_BINARY", SEXTANT_TEST_DEFAULTS_BINARY, keep);
  ::setenv("SEXTANT_PLUGIN_PATH", SEXTANT_TEST_DEFAULTS_PLUGINS, keep);
  ::setenv("OMP_PROC_BIND", "false", keep);  // Kokkos advises this for unit tests, and warns without
}
}  // namespace

int main(int argc, char** argv) {
  set_defaults();
  Catch::Session session;
  if (int const wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  Kokkos::ScopeGuard const kokkos;
  return session.run();
}
