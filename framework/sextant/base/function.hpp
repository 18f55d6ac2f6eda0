// What a function that a device may call is marked with where Kokkos is not included: files for the CPU's vectors alone
// read the same headers, and their compiler knows no Kokkos with CUDA.
#pragma once

#if defined(__CUDACC__) || defined(__HIPCC__)
#define SEXTANT_FUNCTION __host__ __device__
#else
#define SEXTANT_FUNCTION
#endif
