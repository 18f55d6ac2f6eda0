// What the conformance suite tries a plugin on: option values drawn from its schema, shapes that it accepts.
#pragma once
#include <sextant/encoding/position.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::check {

/// One input of a position block, small enough to be repeated by hand. Query, key, value and token embedding are normal
/// random numbers of a fixed seed; parameters are their start plus 0.2 of such numbers.
struct Trial {
  encoding::PositionChoice choice;
  int batch = 1, heads = 4, kv_heads = 4, head_dim = 8, value_dim = 3, model_dim = 12, length = 8;
  bool causal = true;
  std::vector<double> positions = {};  ///< [length]; empty: 0, 1, 2, ...
  std::vector<int> documents = {};     ///< [length]; empty: one document
  double target_length = 0;            ///< for scalings; 0: the trained length
  bool fresh = false;                  ///< parameters at their start

  encoding::Shape shape() const;
  std::vector<double> at() const;  ///< positions, or 0, 1, 2, ...
  std::string text() const;
};

/// count positions from `start` on.
std::vector<double> run_of(int count, double start = 0, double step = 1);
std::string text_of(encoding::PositionChoice const& choice);

/// Options of the plugin under test, which differ from where they started in `option`.
struct Sample {
  encoding::Choice choice;
  std::string option;  ///< empty: a starting point
};

class Subject {
 public:
  /// Throws Error when nothing tried is accepted.
  Subject(encoding::Registry const& registry, encoding::Role role, std::string const& name);

  encoding::Registry const& registry() const { return registry_; }
  encoding::Role role() const { return role_; }
  encoding::Description const& about() const { return about_; }
  bool claims(std::string const& law) const;

  /// The defaults or examples, then each with one option changed to another value that is accepted.
  std::vector<Sample> const& samples() const { return samples_; }
  /// Values worth trying for an option, its default first.
  std::vector<encoding::Value> values_of(encoding::Option const& option) const;

  /// A trial of the plugin with these options, at a shape that the defaults fit. A scaling is tried on rotary encodings.
  Trial trial(encoding::Choice const& choice) const;
  Trial trial() const { return trial(samples_.front().choice); }
  /// Why a trial is refused, or nothing.
  std::optional<std::string> refusal(Trial const& trial) const;

 private:
  void find_shape();
  void draw();
  encoding::Registry const& registry_;
  encoding::Role role_;
  encoding::Description const& about_;
  Trial fit_;  ///< the shape
  std::vector<Sample> samples_;
};

}  // namespace sextant::check
