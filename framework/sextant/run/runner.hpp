// Carries a plan out: what is done is never done again, what fails is told, and what is finished is kept.
#pragma once
#include <sextant/run/stages.hpp>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace sextant::run {

struct RunOptions {
  fs::path folder;         ///< of the study
  std::string only;        ///< train this arm alone; empty: all
  bool fail_fast = false;  ///< stop at the first failure
  bool quiet = false;
  std::string command_line;
  fs::path cache;               ///< of corpora
  std::vector<fs::path> reuse;  ///< folders of studies whose finished stages are taken over
};

struct Failure {
  std::string stage, what, message;
};

struct Outcome {
  std::vector<Failure> failures;
  int done = 0, repeated = 0, taken = 0;  ///< stages carried out now, found done, and taken from other studies
  bool stopped = false;                   ///< by a signal
  double gflops = 0;                      ///< that the last training sustained; 0: none was done
  fs::path study_file;                    ///< written from what is done, also after failures
};

/// Runs the stages that are neither done nor finished in one of the studies to reuse. Several runners may share a folder: each stage is taken by one.
/// Throws Error for what concerns the whole run (no disk, a folder of another study); a stage's failure is recorded.
Outcome run_plan(Exec const& exec, spec::Spec const& spec, plan::Plan const& plan, encoding::Registry const& registry,
                 RunOptions const& options);

/// The study file from what is done, without running anything.
void publish(spec::Spec const& spec, plan::Plan const& plan, encoding::Registry const& registry,
             results::Store const& store, RunOptions const& options, std::string const& started);

/// What a study file was made from: hashes of the planned stages, and of what has become of each and is claimed of them.
struct StudyDigest {
  std::string plan, state;
};
StudyDigest digest_of(plan::Plan const& plan, results::Store const& store, spec::Spec const& spec);
/// That of a study file; empty texts when it holds none. Throws Error when the file cannot be read.
StudyDigest digest_of_file(fs::path const& study_file);

/// Throws Error naming the nearest arm when `only` is not one of the spec's.
void expect_arm(spec::Spec const& spec, std::string const& only);

/// id of the run that a train stage and a view make.
std::string run_id(std::string const& train_id, std::string const& view);

}  // namespace sextant::run
