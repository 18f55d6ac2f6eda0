// The main of sextant_bench: Kokkos lives as long as the benchmarks, and the report's head says what ran them.

#include <benchmark/benchmark.h>

#include <Kokkos_Core.hpp>
#include <cstdlib>
#include <string>

namespace sextant::build {
extern char const* const flags;
extern char const* const kokkos_version;
}  // namespace sextant::build
namespace sextant {
void register_encodings();  // model/encoding_bench.cpp
}

int main(int argc, char** argv) {
  ::setenv("OMP_PROC_BIND", "false", 0);
  benchmark::Initialize(&argc, argv);
  if (benchmark::ReportUnrecognizedArguments(argc, argv)) return 2;
  Kokkos::ScopeGuard const kokkos;
  sextant::register_encodings();
  benchmark::AddCustomContext("kokkos", sextant::build::kokkos_version);
  benchmark::AddCustomContext("backend", Kokkos::DefaultExecutionSpace::name());
  benchmark::AddCustomContext("threads", std::to_string(Kokkos::DefaultExecutionSpace().concurrency()));
  benchmark::AddCustomContext("flags", sextant::build::flags);
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
}
