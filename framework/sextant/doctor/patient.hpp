// What is examined: a rotation or bias at work in a model of some shape, trained at one length and used at another.
#pragma once
#include <sextant/dialect/dialect.hpp>
#include <sextant/inspect/precision.hpp>
#include <sextant/inspect/subject.hpp>
#include <sextant/spec/spec.hpp>

#include <map>
#include <string>
#include <vector>

namespace sextant::doctor {

/// Numbers in which the program that runs the model forms the angles of its turns.
struct Angles {
  inspect::Format format = inspect::Format::fp32;
  inspect::Way way = inspect::Way::reduced;
  std::string whose = "Sextant's";  ///< for sentences
};

struct Patient {
  std::string name;  ///< which arm and view, or kind of layer; "" where there is one
  encoding::PositionChoice position;
  encoding::Shape shape;
  double trained = 0;    ///< tokens trained at; 0: not known
  double meant = 0;      ///< tokens that the model is for
  double longest = 0;    ///< tokens of the longest row that is measured or promised
  int layer = 0;         ///< one that the encodings act in
  bool foreign = false;  ///< run by another program, whose caches keep turned keys
  Angles angles;
  double spread = 1;  ///< standard deviation of content logits; 1 for queries and keys of unit variance
  encoding::Registry const* registry = nullptr;
  std::map<std::string, std::string> places;  ///< "base", "scaling", "length", ...: where it was written
  std::string source;

  std::string place(std::string const& key) const;
  /// At `meant` or another length.
  inspect::Subject subject(double length) const;
  /// Frequencies of the first rotary term in rows of a length; empty where nothing turns.
  using Frequencies = encoding::Position::Frequencies;
  std::optional<Frequencies> turn(double length) const;
  std::vector<double> frequencies(double length) const;
  std::optional<double> base() const;
};

/// One patient a kind of layers. Throws Error where the form leaves its base or its lengths to a model.
std::vector<Patient> patients_of(dialect::Form const& form, std::string const& source,
                                 encoding::Registry const& registry);
/// One patient an arm and view.
std::vector<Patient> patients_of(spec::Spec const& spec, encoding::Registry const& registry);

}  // namespace sextant::doctor
