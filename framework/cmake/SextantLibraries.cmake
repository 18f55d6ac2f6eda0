# Third-party libraries, each as a target whose headers are SYSTEM; and the one place that judges the Kokkos found.

find_package(Kokkos 3.4 REQUIRED)
string(TOUPPER "${Kokkos_DEVICES}" sextant_backends)
get_filename_component(sextant_kokkos_lib ${Kokkos_DIR}/../.. ABSOLUTE)  # an installed library finds it where it was built
list(APPEND CMAKE_INSTALL_RPATH ${sextant_kokkos_lib})
message(STATUS "Kokkos ${Kokkos_VERSION} with ${Kokkos_DEVICES} from ${Kokkos_DIR}")
if(sextant_backends MATCHES "CUDA|HIP|SYCL")
  message(FATAL_ERROR "This Kokkos (${Kokkos_DIR}) launches on a device by default (${Kokkos_DEVICES}). Sextant's attention and "
    "matrix products have no device code yet, so it would compute nothing there. Name a Kokkos whose default execution space is "
    "OpenMP with -DKokkos_ROOT=PREFIX, or let scripts/setup build one.")
endif()
if(NOT sextant_backends MATCHES "OPENMP|THREADS")
  message(WARNING "This Kokkos has no threaded host backend (${Kokkos_DEVICES}): Sextant will run on one core. "
    "scripts/setup builds a Kokkos with OpenMP, or name yours with -DKokkos_ROOT=PREFIX.")
endif()

find_package(OpenMP REQUIRED COMPONENTS CXX)
find_package(Threads REQUIRED)
find_package(OpenSSL REQUIRED COMPONENTS Crypto)
find_package(Boost 1.74 REQUIRED COMPONENTS filesystem)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)
find_package(nlohmann_json REQUIRED)
find_package(dnnl REQUIRED)
find_package(yaml-cpp REQUIRED)
find_package(CLI11 REQUIRED)
set(HDF5_PREFER_PARALLEL OFF)
find_package(HDF5 REQUIRED COMPONENTS C HL)
add_library(sextant_hdf5 INTERFACE)
target_include_directories(sextant_hdf5 SYSTEM INTERFACE ${HDF5_C_INCLUDE_DIRS})
target_link_libraries(sextant_hdf5 INTERFACE ${HDF5_C_HL_LIBRARIES} ${HDF5_C_LIBRARIES})
if(SEXTANT_TESTS)
  find_package(Catch2 3 REQUIRED)
  include(Catch)
endif()
if(SEXTANT_BENCHMARKS)
  find_package(benchmark REQUIRED)
endif()
