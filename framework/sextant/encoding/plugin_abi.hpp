// What a plugin's shared object exports, and the tag by which a host refuses one it cannot talk to.
#pragma once
#include <sextant/encoding/encoding.hpp>

#include <Kokkos_Core.hpp>

#define SEXTANT_PLUGIN_API 7

#define SEXTANT_STRING_(x) #x
#define SEXTANT_STRING(x) SEXTANT_STRING_(x)
#if defined(__clang__)
#define SEXTANT_COMPILER "clang " SEXTANT_STRING(__clang_major__)
#else
#define SEXTANT_COMPILER "g++ " SEXTANT_STRING(__GNUC__)
#endif

namespace sextant::encoding {

/// Plain bytes at a known symbol, so that it can be read before anything of the plugin runs. Layout never changes.
struct AbiTag {
  char magic[16];
  int api;
  char compiler[32];
  int kokkos_version;
  char backend[32];
  int standard_library_abi;
};

constexpr void copy_text(char* to, std::size_t room, char const* from) {
  std::size_t i = 0;
  for (; from[i] && i + 1 < room; ++i) to[i] = from[i];
  for (; i < room; ++i) to[i] = 0;
}

constexpr AbiTag abi_tag_of_this_build() {
  AbiTag tag{};
  copy_text(tag.magic, sizeof tag.magic, "sextant-plugin");
  tag.api = SEXTANT_PLUGIN_API;
  copy_text(tag.compiler, sizeof tag.compiler, SEXTANT_COMPILER);
  tag.kokkos_version = KOKKOS_VERSION;
#if defined(KOKKOS_ENABLE_CUDA)
  copy_text(tag.backend, sizeof tag.backend, "Cuda");
#elif defined(KOKKOS_ENABLE_OPENMP)
  copy_text(tag.backend, sizeof tag.backend, "OpenMP");
#elif defined(KOKKOS_ENABLE_THREADS)
  copy_text(tag.backend, sizeof tag.backend, "Threads");
#else
  copy_text(tag.backend, sizeof tag.backend, "Serial");
#endif
#if defined(_GLIBCXX_USE_CXX11_ABI)
  tag.standard_library_abi = _GLIBCXX_USE_CXX11_ABI;
#endif
  return tag;
}

/// Behind the tag, once it fits: how to describe and make what the plugin holds.
struct PluginEntry {
  void (*describe)(Portrait&);
  std::unique_ptr<Encoding> (*make_encoding)(Options const&);
  std::unique_ptr<Scaling> (*make_scaling)(Options const&);
  std::unique_ptr<Task> (*make_task)(Options const&);
};

}  // namespace sextant::encoding
