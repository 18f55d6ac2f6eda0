# sextant_room(NAME [USES room...] [LINKS library...]): the folder framework/sextant/NAME as an object library.
# All rooms but cli end in one shared library, Sextant::sextant; cli becomes the program. A room without a .cpp is a room still.

set(sextant_rooms "" CACHE INTERNAL "")

if(SEXTANT_PCH)
  file(WRITE ${CMAKE_BINARY_DIR}/pch/pch.cpp.in "// Carries the precompiled header that the rooms share.\n")
  configure_file(${CMAKE_BINARY_DIR}/pch/pch.cpp.in ${CMAKE_BINARY_DIR}/pch/pch.cpp COPYONLY)
endif()

# Rooms that read, judge, arrange and write. Nobody waits for them to run, and -Og takes off half of their compile time.
# What computes is optimised in full.
set(sextant_calm_rooms advise base check claims cli dialect doctor extend inspect plan report results run search spec
  statistics)
# Rooms whose loops compile file by file, as all of kernels does: what is inlined in them must not hang on a neighbour.
set(sextant_rooms_with_loops encoding model)

# A target's files compiled `SEXTANT_BATCH` at a time: most of what a file costs is the headers and the standard library's
# templates that its neighbours need too. Names in unnamed namespaces are then one set for all files of a batch.
function(sextant_batch target)
  if(SEXTANT_BATCH GREATER 1)
    set(size ${SEXTANT_BATCH})
    # The templates of CLI11, and those of Catch2, cost more than what most files add to them.
    if(target MATCHES "cli_objects")
      math(EXPR size "4 * ${size}")
    elseif(target MATCHES "_tests$")
      math(EXPR size "2 * ${size}")
    endif()
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE ${size})
  endif()
endfunction()

# Leaves those of the sources out of a batch that have loops over tokens or channels, and those that instantiate a class: nvcc
# does so at the end of what it compiles, where a neighbour may have instantiated a member.
function(sextant_loops_apart)
  foreach(source IN LISTS ARGN)
    file(STRINGS ${source} apart REGEX "KOKKOS_|parallel_|launch|simd|^template class" LIMIT_COUNT 1)
    if(apart)
      set_source_files_properties(${source} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
  endforeach()
endfunction()

# A target compiled with the precompiled header of its kind, and with the kind's flags, which must be the header's too.
# rooms: what computes; calm: what does not; tests; plugins, and those that are wrong on purpose.
function(sextant_compile_as kind target)
  if(kind MATCHES "calm|tests|wrong")
    # Two roundings for a * b + c at every level and by every compiler: a report's figures are the same wherever it is built.
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release,RelWithDebInfo>:-Og> -ffp-contract=off)
  endif()
  if(SEXTANT_PCH AND NOT SEXTANT_DEVICE)  # nvcc has none
    sextant_precompile(${target} ${kind})
  endif()
endfunction()

function(sextant_precompile target kind)
  if(NOT TARGET sextant_pch_${kind})
    add_library(sextant_pch_${kind} OBJECT ${CMAKE_BINARY_DIR}/pch/pch.cpp)
    if(CMAKE_CXX_COMPILER_LAUNCHER MATCHES ccache)
      set_target_properties(sextant_pch_${kind} PROPERTIES
        CXX_COMPILER_LAUNCHER "sh;${sextant_root}/framework/cmake/fresh_pch;${CMAKE_CXX_COMPILER_LAUNCHER}")
    endif()
    get_target_property(flags ${target} COMPILE_OPTIONS)
    if(flags)
      set_target_properties(sextant_pch_${kind} PROPERTIES COMPILE_OPTIONS "${flags}")
    endif()
    if(kind MATCHES "plugins|wrong")  # GCC takes a precompiled header only where the definitions are the same
      target_link_libraries(sextant_pch_${kind} PRIVATE sextant_flags Sextant::plugin)
    else()
      target_link_libraries(sextant_pch_${kind} PRIVATE sextant_flags sextant_common)
    endif()
    target_include_directories(sextant_pch_${kind} PRIVATE ${sextant_root}/framework)
    set(headers <Kokkos_Core.hpp> <algorithm> <array> <cmath> <cstdint> <filesystem> <functional> <map> <memory> <optional>
      <span> <sstream> <string> <string_view> <vector>)
    if(kind MATCHES "plugins|wrong")
      set_target_properties(sextant_pch_${kind} PROPERTIES CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
      list(APPEND headers <sextant/plugin.hpp>)
    elseif(kind STREQUAL tests)
      target_link_libraries(sextant_pch_${kind} PRIVATE Catch2::Catch2)
      list(APPEND headers <catch2/catch_all.hpp>)
    endif()
    target_precompile_headers(sextant_pch_${kind} PRIVATE ${headers})
  endif()
  get_target_property(type ${target} TYPE)
  if(type STREQUAL EXECUTABLE)  # -fPIC as in the header, where CMake would say -fPIE
    set_target_properties(${target} PROPERTIES POSITION_INDEPENDENT_CODE OFF)
    target_compile_options(${target} PRIVATE -fPIC)
  endif()
  target_precompile_headers(${target} REUSE_FROM sextant_pch_${kind})
endfunction()

# What every room, plugin and test may include.
add_library(sextant_common INTERFACE)
target_link_libraries(sextant_common INTERFACE
  Kokkos::kokkos OpenMP::OpenMP_CXX Threads::Threads Boost::boost Boost::filesystem fmt::fmt spdlog::spdlog
  nlohmann_json::nlohmann_json ${CMAKE_DL_LIBS})

function(sextant_room name)
  cmake_parse_arguments(PARSE_ARGV 1 room "" "" "USES;LINKS")
  foreach(used IN LISTS room_USES)
    if(NOT used IN_LIST sextant_rooms)
      message(FATAL_ERROR "room ${name} uses ${used}, which does not stand above it")
    endif()
  endforeach()
  set(sextant_rooms ${sextant_rooms} ${name} CACHE INTERNAL "")
  set_property(GLOBAL APPEND PROPERTY sextant_links ${room_LINKS})

  file(GLOB sources CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sextant/${name}/*.cpp)
  list(FILTER sources EXCLUDE REGEX "/cli/main\\.cpp$")
  if(NOT sources OR (SEXTANT_ROOMS AND NOT name IN_LIST SEXTANT_ROOMS))
    return()
  endif()
  set(target sextant_${name})
  if(name STREQUAL cli)
    set(target sextant_cli_objects)
  endif()
  add_library(${target} OBJECT ${sources})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE sextant_flags sextant_common ${room_LINKS})
  target_compile_definitions(${target} PRIVATE SEXTANT_VERSION="${PROJECT_VERSION}")
  if(name IN_LIST sextant_rooms_with_loops)
    sextant_loops_apart(${sources})
  endif()
  if(NOT name STREQUAL kernels)
    sextant_batch(${target})
  endif()
  if(name IN_LIST sextant_calm_rooms)
    sextant_compile_as(calm ${target})
  else()
    sextant_compile_as(rooms ${target})
  endif()
  if(name STREQUAL cli)
    return()
  endif()
  set_property(GLOBAL APPEND PROPERTY sextant_objects $<TARGET_OBJECTS:sextant_${name}>)
endfunction()

# Sources of a room that Kokkos's nvcc_wrapper hands to the host's compiler; they include no header of Kokkos.
function(sextant_host_sources room)
  if(SEXTANT_DEVICE)
    list(TRANSFORM ARGN REPLACE "(.+)" "sextant/${room}/\\1.cpp" OUTPUT_VARIABLE sources)
    set_source_files_properties(${sources} PROPERTIES COMPILE_OPTIONS --host-only)
  endif()
endfunction()

# Sextant::sextant, the shared library of all rooms. A generated source records how it was built.
function(sextant_library)
  string(TOUPPER "${CMAKE_BUILD_TYPE}" type)
  string(STRIP "${CMAKE_CXX_FLAGS} ${CMAKE_CXX_FLAGS_${type}}" flags)
  if(SEXTANT_NATIVE)
    string(APPEND flags " -march=native")
  endif()
  if(SEXTANT_SANITIZE)
    string(APPEND flags " -fsanitize=${SEXTANT_SANITIZE}")
  endif()
  set(bibliography ${sextant_root}/framework/sextant/report/references.bib)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${bibliography})
  file(READ ${bibliography} sextant_references)
  configure_file(${sextant_root}/framework/cmake/build.cpp.in ${CMAKE_BINARY_DIR}/generated/build.cpp @ONLY)
  get_property(objects GLOBAL PROPERTY sextant_objects)
  get_property(links GLOBAL PROPERTY sextant_links)
  list(REMOVE_DUPLICATES links)
  add_library(sextant SHARED ${CMAKE_BINARY_DIR}/generated/build.cpp ${objects})
  # Its functions call one another, whatever inline copies of them the program was compiled with.
  target_link_options(sextant PRIVATE $<$<CXX_COMPILER_ID:GNU,Clang>:LINKER:-Bsymbolic-functions>)
  add_library(Sextant::sextant ALIAS sextant)
  target_include_directories(sextant PUBLIC
    $<BUILD_INTERFACE:${sextant_root}/framework> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
  target_link_libraries(sextant
    PUBLIC sextant_abi Kokkos::kokkos OpenMP::OpenMP_CXX
    PRIVATE $<BUILD_INTERFACE:sextant_flags> $<BUILD_INTERFACE:sextant_common> ${links})
  if(NOT SEXTANT_SANITIZE)
    target_link_options(sextant PRIVATE LINKER:--no-undefined)
  endif()
  set_target_properties(sextant PROPERTIES SOVERSION ${PROJECT_VERSION_MAJOR} VERSION ${PROJECT_VERSION})
endfunction()

# The program `sextant`: the cli room around its main.cpp.
function(sextant_program)
  if(SEXTANT_ROOMS AND NOT cli IN_LIST SEXTANT_ROOMS)
    return()
  elseif(NOT EXISTS ${CMAKE_CURRENT_SOURCE_DIR}/sextant/cli/main.cpp)
    file(GLOB ignored CONFIGURE_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/sextant/cli/main.cpp)
    message(STATUS "no framework/sextant/cli/main.cpp yet: the program is left out")
    return()
  endif()
  add_executable(sextant_cli ${CMAKE_CURRENT_SOURCE_DIR}/sextant/cli/main.cpp)
  set_target_properties(sextant_cli PROPERTIES OUTPUT_NAME sextant)
  target_link_libraries(sextant_cli PRIVATE sextant_flags sextant_common Sextant::sextant CLI11::CLI11)
  sextant_compile_as(calm sextant_cli)
  if(TARGET sextant_cli_objects)
    target_link_libraries(sextant_cli PRIVATE sextant_cli_objects)
  endif()
endfunction()
