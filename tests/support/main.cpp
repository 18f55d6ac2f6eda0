// The main of every test binary: Kokkos lives as long as the session, and the paths that tests need have defaults, so that
// a binary started by hand (build/tests/kernels_tests "[alibi]") sees what ctest gives it.

#include <Kokkos_Core.hpp>
#include <catch2/catch_session.hpp>
#include <cstdlib>
#include <sstream>
#include <string>

namespace {
void set_environment_defaults() {
  std::istringstream settings{SEXTANT_TEST_ENVIRONMENT};
  for (std::string setting; std::getline(settings, setting, ';');) {
    auto const equals = setting.find('=');
    ::setenv(setting.substr(0, equals).c_str(), setting.substr(equals + 1).c_str(), /*overwrite=*/0);
  }
}
}  // namespace

int main(int argc, char** argv) {
  set_environment_defaults();
  Catch::Session session;
  if (int const wrong = session.applyCommandLine(argc, argv); wrong != 0) return wrong;
  Kokkos::ScopeGuard const kokkos;
  return session.run();
}
