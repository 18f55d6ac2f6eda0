// The main of sextant_bench: Kokkos lives as long as the benchmarks, and the report's head says what ran them.

#include <benchmark/benchmark.h>
#include <sextant/base/session.hpp>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <string>

namespace sextant::build {
extern char const* const flags;
extern char const* const kokkos_version;
}  // namespace sextant::build
namespace sextant {
void register_encodings();  // model/encoding_bench.cpp
void register_families();   // encoding/family_bench.cpp
void forget_models();       // model/pretrained_bench.cpp
}  // namespace sextant

int main(int argc, char** argv) {
  sextant::wait_politely(argv);
  ::setenv("OMP_PROC_BIND", "false", 0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Kokkos::ScopeGuard const kokkos;
  sextant::register_encodings();
  sextant::register_families();
  benchmark::AddCustomContext("kokkos", sextant::build::kokkos_version);
  benchmark::AddCustomContext("backend", Kokkos::DefaultExecutionSpace::name());
  benchmark::AddCustomContext("threads", std::to_string(Kokkos::DefaultExecutionSpace().concurrency()));
  benchmark::AddCustomContext("flags", sextant::build::flags);
  benchmark::RunSpecifiedBenchmarks();
  sextant::forget_models();  // before Kokkos ends
  benchmark::Shutdown();
}
