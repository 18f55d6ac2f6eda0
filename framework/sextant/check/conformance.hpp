// The conformance suite: what any plugin must do to be believed, tried on one plugin. docs/plugin_check.md explains each
// check; they are written in the conformance_*.cpp files, a group a file.
#pragma once
#include <sextant/encoding/registry.hpp>

#include <functional>
#include <string>
#include <vector>

namespace sextant::check {

enum class Outcome { pass, fail, not_claimed, not_applicable };
char const* word(Outcome outcome);

/// One check's verdict, and of its worst comparison the figures and where they were found.
struct Finding {
  std::string check, meaning;
  Outcome outcome = Outcome::pass;
  bool measured = false;
  double worst = 0,
         bound = 0;   ///< largest |found - expected| / max(1, largest |expected|), and what it must stay below
  std::string note;   ///< why it failed or does not apply; what was refused
  std::string input;  ///< the input at the worst place, in words: options, shape, positions, documents
  std::string place;  ///< "output: batch 0, head 1, token 5, channel 2"
  double found = 0, expected = 0;
};

struct Conformance {
  std::string plugin, file;
  encoding::Role role = encoding::Role::encoding;
  std::vector<Finding> findings;

  bool passed() const;
  int count(Outcome outcome) const;
  Finding const& at(std::string const& check) const;
  std::vector<std::string> failures() const;
  std::string table() const;
  std::string json() const;
};

struct ConformanceSettings {
  /// What conformance_digest() gives on another number of threads: Kokkos fixes them when it starts, so only a second
  /// process can know. Absent: the check does not apply.
  std::function<std::string()> digest_on_other_threads;
  /// Called before each input is tried, with the findings so far and this one's check and input: for whoever has to say
  /// what was going on when the plugin ended the process.
  std::function<void(Conformance const& so_far, Finding const& now)> before;
  std::vector<std::string> only;  ///< checks to run; empty: all
};

/// Runs every check on one registered plugin. Throws Error when there is no such plugin or no such check.
Conformance check_plugin(encoding::Registry const& registry, encoding::Role role, std::string const& name,
                         ConformanceSettings const& settings = {});
/// A digest of the bits of a pass forward and backward.
std::string conformance_digest(encoding::Registry const& registry, encoding::Role role, std::string const& name);
/// Names of all checks, in the order of the table.
std::vector<std::string> conformance_checks();

}  // namespace sextant::check
