// The `vary` block: which keys take which values, at which stage, and the arms and views that follow.
#pragma once
#include <sextant/spec/field.hpp>
#include <sextant/spec/spec.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant::spec {

enum class Stage { train, tune, evaluate };  ///< in the order in which they happen

/// One value of an axis: the keys it sets, one unless the axis has a name.
struct Choose {
  std::string label;
  Place place;
  struct Set {
    std::string key;
    Place key_place;
    Node value;
  };
  std::vector<Set> sets;
};

/// One item of `vary`.
struct Axis {
  std::string name;    ///< the key that varies, or the axis's own name
  bool named = false;  ///< values set several keys
  Stage stage = Stage::train;
  bool zip = false;  ///< goes along with the axis before it
  std::vector<Choose> values;
  std::map<std::string, std::vector<std::string>> where;  ///< key or `evaluate` -> labels
  Place place;
};

/// Reads and checks the block by itself. Throws Error with place.
std::vector<Axis> read_vary(Node const& node, Reading& reading);

/// position.encoding, position.scaling, tune.encoding and tune.scaling: values are plugins.
bool is_choice_key(std::string const& key);

/// A key that the document leaves to `vary` takes the first value there as its base.
void fill_bases(Node& root, std::vector<Axis> const& axes);

/// Every combination, each read and checked as a document of its own.
std::vector<Arm> expand(Node const& root, std::vector<Axis> const& axes, Catalogue const& catalogue);

/// The block as YAML that reads back to the same axes.
std::string write_vary(std::vector<Axis> const& axes, Catalogue const& catalogue);

}  // namespace sextant::spec
