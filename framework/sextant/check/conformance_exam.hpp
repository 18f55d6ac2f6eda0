// What every check of the conformance suite is handed: the plugin, and where to say what was found.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/check/conformance.hpp>
#include <sextant/check/conformance_probe.hpp>

namespace sextant::check {

/// Shape of a flat list of numbers, with what each axis counts: {{"head", 4}, {"query", 8}}.
using Axes = std::vector<std::pair<char const*, int>>;

class Exam {
 public:
  Exam(Subject const& plugin, ConformanceSettings const& how, Conformance const& so_far, Finding& finding)
      : subject(plugin), settings(how), so_far_(so_far), finding_(finding) {}

  Subject const& subject;
  ConformanceSettings const& settings;
  encoding::Registry const& registry() const { return subject.registry(); }

  /// Says which input is tried next.
  Trial const& on(Trial const& trial);
  /// Holds numbers to others; the worst place is kept. NaN equals nothing.
  bool close(std::string const& what, std::vector<double> const& found, std::vector<double> const& expected,
             double bound, Axes const& axes = {});
  bool finite(std::string const& what, std::vector<double> const& found, Axes const& axes = {});
  /// The first failure stays.
  void fail(std::string const& why);
  void not_claimed() { finding_.outcome = Outcome::not_claimed; }
  void not_applicable(std::string const& why);
  void note(std::string const& text);
  /// Runs body; an Error is taken as a refusal, which is noted. False when refused.
  template <class Body>
  bool may_refuse(std::string const& what, Body&& body) {
    try {
      body();
      return true;
    } catch (Error const& error) {
      note(what + " is refused: " + error.what());
      return false;
    }
  }

 private:
  Conformance const& so_far_;
  Finding& finding_;
};

struct ConformanceCheck {
  char const* name;
  char const* meaning;
  void (*run)(Exam&);
};
std::vector<ConformanceCheck> const& all_conformance_checks();

// conformance_shapes.cpp
void check_shapes(Exam&);
void check_parameters(Exam&);
void check_state(Exam&);
void check_short_inputs(Exam&);
void check_odd_shapes(Exam&);
// conformance_options.cpp
void check_options(Exam&);
// conformance_gradients.cpp
void check_input_gradients(Exam&);
void check_parameter_gradients(Exam&);
// conformance_laws.cpp
void check_relative(Exam&);
void check_orthogonal(Exam&);
void check_group(Exam&);
void check_additive(Exam&);
void check_equals(Exam&);
void check_identity_at_factor_one(Exam&);
void check_follows_length(Exam&);
// conformance_masks.cpp
void check_causal(Exam&);
void check_hidden_keys(Exam&);
void check_documents(Exam&);
void check_padding(Exam&);
// conformance_streams.cpp
void check_offset(Exam&);
void check_chunks(Exam&);
void check_decode(Exam&);
void check_positions(Exam&);
void check_past_trained(Exam&);
// conformance_numbers.cpp
void check_repeats(Exam&);
void check_threads(Exam&);
void check_reference(Exam&);
void check_float(Exam&);
void check_bf16(Exam&);
void check_device(Exam&);

}  // namespace sextant::check
