# What scripts/setup put into .deps/ comes before the system's, and after what the user names (Kokkos_ROOT, CMAKE_PREFIX_PATH).
foreach(prefix kokkos catch2)
  if(EXISTS ${sextant_root}/.deps/${prefix})
    list(APPEND CMAKE_PREFIX_PATH ${sextant_root}/.deps/${prefix})
  endif()
endforeach()
