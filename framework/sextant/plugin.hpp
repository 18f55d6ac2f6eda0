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
PluginEntry plugin_entry(Description (*describe)()) {
  PluginEntry entry{describe, nullptr, nullptr, nullptr};
  if constexpr (IsTask<P>)
    entry.make_task = [](Options const& options) -> std::shared_ptr<Task> {
      P plugin;
      P::schema().set(plugin, options);
      return std::make_shared<TaskAdapter<P>>(plugin);
    };
  else if constexpr (IsScaling<P>)
    entry.make_scaling = [](Options const& options) -> std::shared_ptr<Scaling> {
      P plugin;
      P::schema().set(plugin, options);
      return std::make_shared<ScalingAdapter<P>>(plugin);
    };
  else
    entry.make_encoding = [](Options const& options) -> std::shared_ptr<Encoding> {
      P plugin;
      P::schema().set(plugin, options);
      return std::make_shared<EncodingAdapter<P>>(plugin);
    };
  return entry;
}
}  // namespace sextant::encoding

#define SEXTANT_PLUGIN(Type, plugin_name, plugin_source)                                                              \
  static_assert(std::is_trivially_copyable_v<Type>, "a plugin is a trivially copyable struct: formulas and numbers"); \
  extern "C" __attribute__((visibility("default"))) ::sextant::encoding::AbiTag const sextant_plugin_abi =            \
      ::sextant::encoding::abi_tag_of_this_build();                                                                   \
  extern "C" __attribute__((visibility("default"))) ::sextant::encoding::PluginEntry const* sextant_plugin_entry() {  \
    static auto const entry = ::sextant::encoding::plugin_entry<Type>(                                                \
        [] { return ::sextant::encoding::describe_plugin<Type>(plugin_name, plugin_source); });                       \
    return &entry;                                                                                                    \
  }
