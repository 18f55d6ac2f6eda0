// From a spec on the command line to its plan: shared by validate, plan, run and status.
#pragma once
#include <sextant/cli/command.hpp>
#include <sextant/plan/plan.hpp>

#include <memory>

namespace sextant::cli {

struct SpecArguments {
  std::string path;
  std::string tier;
  std::vector<std::string> sets;
  std::string folder;  ///< -o
};
/// Adds SPEC, --tier and --set.
std::shared_ptr<SpecArguments> takes_spec(CLI::App* command);
/// Adds -o.
void takes_folder(CLI::App* command, SpecArguments& arguments);

/// What stands in a spec under position.encoding or position.scaling, given on the command line as `argument`.
std::vector<encoding::Choice> choices_of(std::string const& text, encoding::Role role, std::string const& argument,
                                         encoding::Registry const& registry);

/// A whole number of tokens, from 2 to 2^24. Throws Error beginning with `argument`.
int token_count(std::string const& text, std::string const& argument);

/// Threads that a command computes with, given --threads.
int threads_of(int asked);

/// The plugins and the pretrained models that a spec may name.
spec::Catalogue catalogue_of(encoding::Registry const& registry);

spec::Spec read_spec(SpecArguments const& arguments, encoding::Registry const& registry);
plan::Plan plan_of(spec::Spec const& spec, encoding::Registry const& registry, int threads);
/// -o, or results/<study>, with the tier behind it unless that is small.
std::filesystem::path folder_of(SpecArguments const& arguments, spec::Spec const& spec);

/// A study file, or the one in a study folder.
std::filesystem::path study_file(std::string const& given);

/// Throws Error where the folder is not there and cannot be made.
void make_folder(std::filesystem::path const& folder);

/// Renames a study file after `mark`, so that another can take its place, and says so and why on stderr.
void set_aside(std::filesystem::path const& study, std::string const& mark, std::string const& why);

/// GFLOP/s that training on this machine was last seen to sustain, kept in the cache folder.
double known_gflops(int threads);
void remember_gflops(double gflops, int threads);

}  // namespace sextant::cli
