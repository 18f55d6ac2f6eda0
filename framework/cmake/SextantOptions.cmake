# Flags that all of our code shares, and two promises about options: an unknown one is refused, and none repeats Kokkos's.

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Debug, Release or RelWithDebInfo" FORCE)
endif()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)
set(CMAKE_LIBRARY_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/lib)
include(GNUInstallDirs)
file(RELATIVE_PATH sextant_lib_from_bin /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
set(CMAKE_INSTALL_RPATH "$ORIGIN/${sextant_lib_from_bin}" "$ORIGIN")
set(CMAKE_INSTALL_RPATH_USE_LINK_PATH ON)

find_program(SEXTANT_CCACHE ccache)
mark_as_advanced(SEXTANT_CCACHE)
if(SEXTANT_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER AND NOT SEXTANT_DEVICE)
  # The sloppiness is what ccache asks for with a precompiled header; it still looks at the contents of every file. With the
  # base directory, two build folders of one checkout, and two checkouts, share what they compile.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      CCACHE_BASEDIR=${sextant_root} CCACHE_NOHASHDIR=true ${SEXTANT_CCACHE})
endif()

# A hundred plugins and tests are linked: gold takes half the time of the default, where binutils has it.
include(CheckLinkerFlag)
if(NOT SEXTANT_DEVICE)
  check_linker_flag(CXX -fuse-ld=gold SEXTANT_LINKS_WITH_GOLD)
  if(SEXTANT_LINKS_WITH_GOLD)
    add_link_options(-fuse-ld=gold)
  endif()
endif()

# What a header compiled elsewhere must agree on: vector widths in our interfaces follow the processor. Installed with
# Sextant::sextant, so that plugins out of the tree use the same.
add_library(sextant_abi INTERFACE)
add_library(Sextant::abi ALIAS sextant_abi)
set_target_properties(sextant_abi PROPERTIES EXPORT_NAME abi)
target_compile_features(sextant_abi INTERFACE cxx_std_20)
target_compile_options(sextant_abi INTERFACE
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-psabi>
  $<$<COMPILE_LANGUAGE:CXX>:-fno-trapping-math>  # no result changes, but loops with a choice in them vectorise
  $<$<COMPILE_LANGUAGE:CXX>:-fno-math-errno>
  $<$<AND:$<BOOL:${SEXTANT_NATIVE}>,$<COMPILE_LANGUAGE:CXX>>:-march=native>
  $<$<BOOL:${SEXTANT_DEVICE}>:--expt-relaxed-constexpr>)  # of the standard library: limits, bit_cast

# Our own code only. -ffast-math never; where rooms compute, contraction to FMA is the compiler's default and stays.
add_library(sextant_flags INTERFACE)
target_link_libraries(sextant_flags INTERFACE sextant_abi)
target_compile_options(sextant_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall -Wextra -Wno-missing-field-initializers -Wnon-virtual-dtor>
  # Of files compiled together a local name may be that of a neighbour, in its unnamed namespace.
  $<$<AND:$<COMPILE_LANGUAGE:CXX>,$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>>:-Wshadow>
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow=local>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-Wno-maybe-uninitialized>
  $<$<COMPILE_LANG_AND_ID:CXX,Clang>:-Wno-pass-failed>  # `omp simd` over a function that clang has no vector form of
  $<$<BOOL:${SEXTANT_DEVICE}>:-Werror=cross-execution-space-call>  # a host function in device code would not link, or worse
  $<$<AND:$<BOOL:${SEXTANT_WERROR}>,$<COMPILE_LANGUAGE:CXX>>:-Werror>
  $<$<COMPILE_LANG_AND_ID:CXX,GNU>:-fdiagnostics-color=always>
  # GCC clears its memory whenever that doubles, from 128 MiB on, which a precompiled header fills: a twelfth of the compile time.
  $<$<AND:$<COMPILE_LANG_AND_ID:CXX,GNU>,$<NOT:$<BOOL:${SEXTANT_DEVICE}>>>:--param=ggc-min-heapsize=524288>
  $<$<AND:$<BOOL:${SEXTANT_CCACHE}>,$<CXX_COMPILER_ID:GNU>>:-fpch-preprocess>)
if(SEXTANT_SANITIZE)
  target_compile_options(sextant_flags INTERFACE -fsanitize=${SEXTANT_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=undefined)
  target_link_options(sextant_flags INTERFACE -fsanitize=${SEXTANT_SANITIZE})
endif()

# A -D that nothing reads is a typing error that a build would hide: CMake leaves such a variable without a type.
function(sextant_refuse_unknown_options)
  get_cmake_property(names CACHE_VARIABLES)
  foreach(name IN LISTS names)
    string(TOUPPER ${name} upper)
    get_property(type CACHE ${name} PROPERTY TYPE)
    get_property(help CACHE ${name} PROPERTY HELPSTRING)
    if(NOT (type STREQUAL UNINITIALIZED OR help MATCHES "No help, variable specified on the command line"))
      continue()
    endif()
    if(upper MATCHES "^KOKKOS_(ENABLE|ARCH|DEVICES|CXX)")
      unset(${name} CACHE)
      message(FATAL_ERROR "-D${name}: Kokkos's backends are chosen when Kokkos is built, and Sextant takes what it finds "
        "(${Kokkos_DEVICES} in ${Kokkos_DIR}). Build Kokkos with what you want (the spelling there is Kokkos_ENABLE_OPENMP, "
        "Kokkos_ENABLE_CUDA, all capitals) and name it with -DKokkos_ROOT=PREFIX.")
    elseif(upper MATCHES "^SEXTANT_")
      unset(${name} CACHE)
      message(FATAL_ERROR "-D${name} is no option of Sextant. The options are SEXTANT_NATIVE, SEXTANT_WERROR, SEXTANT_TESTS, "
        "SEXTANT_BENCHMARKS, SEXTANT_PCH, SEXTANT_BATCH, SEXTANT_DEVICE, SEXTANT_ROOMS and SEXTANT_SANITIZE.")
    endif()
  endforeach()
endfunction()
