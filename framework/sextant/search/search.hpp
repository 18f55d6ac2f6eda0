// LongRoPE's search on a trained model, beside random draws and YaRN's own parameters at the same number of evaluations.
//
// Every evaluation reads the search documents once and is a stage of a study folder (results/store.hpp), named by the hash of
// all that determines its value: a search that was stopped takes what is there, and goes on to the same bits. Winners are then
// measured, by the room `extend`, on documents that the search did not read.
#pragma once
#include <sextant/extend/extend.hpp>
#include <sextant/search/rotation.hpp>

namespace sextant::search {

enum class Aim {
  loss,   ///< mean loss of the last `tail` tokens of the target length
  needle  ///< loss of a passkey's digits, over depths
};
char const* name_of(Aim aim);
/// Throws Error with the nearest name.
Aim aim_of(std::string const& name);

struct Task {
  extend::Subject const& subject;
  std::vector<extend::Document> const& documents;  ///< read by the search alone
  int target = 0;                                  ///< tokens
  int tail = 512;                                  ///< tokens before the target that the loss is over
  Aim aim = Aim::loss;
  int depths = 4;  ///< of passkeys
  double step = 0.01;
  Settings settings;
  encoding::Registry const& registry;
};

/// One evaluation, as a scaling and as divisors of frequencies.
struct Row {
  encoding::Choice scaling;
  Genome genome;
  std::string origin;
  int generation = 0;
  double objective = 0;
};

/// What one method evaluated, in order.
struct Course {
  std::string method;  ///< evolution, random or yarn-tuned
  std::vector<Row> rows;
  std::vector<double> best_so_far;
  std::size_t best = 0;
  Row const& winner() const { return rows[best]; }
};

/// All three methods. Throws Error for a task that makes no sense before anything is evaluated, run::Stopped after a signal.
std::vector<Course> carry_out(Exec const& exec, Task const& task, results::Store const& store, bool quiet);

/// Winners and rivals for documents that were held out: none, linear, ntk, yarn, then each method's winner under its name.
std::vector<extend::Arm> arms_of(Task const& task, std::vector<Course> const& courses);

/// The group `search` of a study file: docs/results.md says what is in it.
results::Group group_of(Task const& task, std::vector<Course> const& courses);

}  // namespace sextant::search
