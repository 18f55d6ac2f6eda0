// The plugins a spec may name: their descriptions, without the code behind them.
#pragma once
#include <sextant/encoding/registry.hpp>

#include <string>
#include <vector>

namespace sextant::spec {

class Catalogue {
 public:
  explicit Catalogue(std::vector<encoding::Description> descriptions) : descriptions_(std::move(descriptions)) {}
  /// All that the registry has loaded.
  Catalogue(encoding::Registry const& registry);  // NOLINT: a registry is a catalogue

  std::vector<std::string> names(encoding::Role role) const;
  /// nullptr when there is no such plugin.
  encoding::Description const* find(encoding::Role role, std::string const& name) const;

 private:
  std::vector<encoding::Description> descriptions_;
};

}  // namespace sextant::spec
