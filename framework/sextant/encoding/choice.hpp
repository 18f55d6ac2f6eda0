// The `position:` block of a spec as data: which encodings, which scalings, with which options.
#pragma once
#include <sextant/encoding/schema.hpp>

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

namespace sextant::encoding {

/// Which layers of a model an encoding acts in: from `from` on every `every`-th one, or those listed.
struct LayerSet {
  int every = 1, from = 0;
  std::vector<int> list;  ///< not empty: these alone
  bool holds(int layer) const {
    if (!list.empty()) return std::find(list.begin(), list.end(), layer) != list.end();
    return layer >= from && (layer - from) % every == 0;
  }
  bool operator==(LayerSet const&) const = default;
};

/// One plugin chosen by name. Composition is data: several encodings in a list are summed, `parts` are the members
/// of a composite such as direct_sum.
struct Choice {
  std::string use;
  Options options;                                ///< as accepted by the plugin's schema; absent ones take its defaults
  std::vector<Choice> parts;                      ///< only for plugins that take parts
  std::optional<LayerSet> layers = std::nullopt;  ///< absent: all; parts follow their whole
};

struct PositionChoice {
  std::vector<Choice> encodings;  ///< at least one
  std::vector<Choice> scalings;   ///< applied in this order to every rotary encoding; may be empty
  int trained_length = 0;         ///< tokens the model is trained at
};

}  // namespace sextant::encoding
