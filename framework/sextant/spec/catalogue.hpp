// The plugins and pretrained models a spec may name: their descriptions, without the code behind them.
#pragma once
#include <sextant/encoding/choice.hpp>
#include <sextant/encoding/registry.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sextant::spec {

struct Pretrained;

class Catalogue {
 public:
  explicit Catalogue(std::vector<encoding::Description> descriptions) : descriptions_(std::move(descriptions)) {}
  /// All that the registry has loaded.
  Catalogue(encoding::Registry const& registry);  // NOLINT: a registry is a catalogue

  std::vector<std::string> names(encoding::Role role) const;
  /// What a pretrained model says of itself. Throws Error where there is no such model, or no way to look.
  using Models = std::function<Pretrained(std::string const& name_or_path)>;
  Catalogue& know(Models models) {
    models_ = std::move(models);
    return *this;
  }
  Pretrained pretrained(std::string const& name_or_path) const;

  /// nullptr when there is no such plugin.
  encoding::Description const* find(encoding::Role role, std::string const& name) const;

 private:
  std::vector<encoding::Description> descriptions_;
  Models models_;
};

}  // namespace sextant::spec
