// All that a plugin includes. A plugin is one trivially copyable struct of formulas and one line of registration:
//
//   struct Alibi { ...; template <class T> KOKKOS_FUNCTION T bias(Weights<T> const&, Site<T> const&) const; };
//   SEXTANT_PLUGIN(sextant::plugins::Alibi, "alibi", "arXiv:2108.12409")
//
// docs/first_plugin.md walks through one; encoding/adapter.hpp lists the stages a struct may join.
#pragma once
#include <sextant/encoding/adapter.hpp>
#include <sextant/encoding/plugin_abi.hpp>

namespace sextant::plugins {
using namespace ::sextant::encoding;
}

namespace sextant::encoding {
template <class P>
P plugin_with(Options const& options) {
  P plugin;
  P::schema().set(plugin, options);
  return plugin;
}

template <class P>
constexpr PluginEntry plugin_entry(void (*describe)(Portrait&)) {
  PluginEntry entry{describe, nullptr, nullptr, nullptr};
  if constexpr (IsTask<P>)
    entry.make_task = [](Options const& options) -> std::unique_ptr<Task> {
      return std::make_unique<TaskAdapter<P>>(plugin_with<P>(options));
    };
  else if constexpr (IsScaling<P>)
    entry.make_scaling = [](Options const& options) -> std::unique_ptr<Scaling> {
      return std::make_unique<ScalingAdapter<P>>(plugin_with<P>(options));
    };
  else
    entry.make_encoding = [](Options const& options) -> std::unique_ptr<Encoding> {
      return std::make_unique<EncodingAdapter<P>>(plugin_with<P>(options));
    };
  return entry;
}
}  // namespace sextant::encoding

#define SEXTANT_PLUGIN(Type, plugin_name, plugin_source)                                                              \
  static_assert(std::is_trivially_copyable_v<Type>, "a plugin is a trivially copyable struct: formulas and numbers"); \
  extern "C" __attribute__((visibility("default"))) ::sextant::encoding::AbiTag const sextant_plugin_abi =            \
      ::sextant::encoding::abi_tag_of_this_build();                                                                   \
  extern "C" __attribute__((visibility("default"))) ::sextant::encoding::PluginEntry const* sextant_plugin_entry() {  \
    static constexpr auto entry =                                                                                     \
        ::sextant::encoding::plugin_entry<Type>([](::sextant::encoding::Portrait& portrait) {                         \
          ::sextant::encoding::describe_plugin<Type>(plugin_name, plugin_source, portrait);                           \
        });                                                                                                           \
    return &entry;                                                                                                    \
  }
