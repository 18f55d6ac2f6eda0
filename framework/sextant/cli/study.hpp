// What commands on studies share.
#pragma once
#include <sextant/cli/specs.hpp>
#include <sextant/run/runner.hpp>

namespace sextant::cli {

/// What became of a spec.
struct Carried {
  run::Outcome outcome;
  std::size_t stages = 0;  ///< of the plan
  fs::path page;           ///< the report; empty when the run was stopped
  int code() const { return outcome.stopped ? stopped : outcome.failures.empty() ? done : failed; }
};

/// Carries out a spec in the folder of the arguments, writes the page, and prints only to stderr. Throws Error for what concerns
/// the whole run; failures of stages are in the outcome.
Carried carry_out(SpecArguments const& arguments, run::RunOptions options, Context& context);

void print_failures(std::FILE* to, std::vector<run::Failure> const& failures);

}  // namespace sextant::cli
