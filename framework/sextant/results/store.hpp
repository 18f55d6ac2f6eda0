// The folder of a study: one record a stage, each whole or absent, shared by any number of runners.
//
//   <study>/stages/<id>/record.h5    what the stage found; written once, never again
//   <study>/stages/<id>/failed.txt   why it failed last; the next runner tries again
//   <study>/stages/<id>/lock         held while somebody works on the stage
//   <study>/stages/<id>/...          checkpoints, written by whoever holds the lock
//   <study>/study.h5                 everything, assembled from the records (study.hpp)
#pragma once
#include <sextant/results/file.hpp>
#include <sextant/results/lock.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::results {

/// The right to work on one stage. Ends with its owner, however that ends.
class Claim {
 public:
  std::string const& id() const { return id_; }
  /// <study>/stages/<id>: the place for checkpoints.
  fs::path const& folder() const { return folder_; }

 private:
  friend class Store;
  Claim(std::string id, fs::path folder, Lock lock)
      : id_(std::move(id)), folder_(std::move(folder)), lock_(std::move(lock)) {}
  std::string id_;
  fs::path folder_;
  Lock lock_;
};

class Store {
 public:
  /// Makes nothing yet: a study that only gets looked at need not exist.
  explicit Store(fs::path folder) : folder_(std::move(folder)) {}

  fs::path const& folder() const { return folder_; }
  fs::path study_file() const { return folder_ / "study.h5"; }
  /// Throws Error unless the id is letters, digits, - and _ only.
  fs::path stage_folder(std::string const& id) const;
  fs::path record_file(std::string const& id) const { return stage_folder(id) / "record.h5"; }

  /// Ids of the stages that are done, ascending.
  std::vector<std::string> list() const;
  bool done(std::string const& id) const { return fs::exists(record_file(id)); }
  /// True while somebody holds the claim.
  bool running(std::string const& id) const;
  /// The message of the last failure; nullopt when there was none or the stage is done.
  std::optional<std::string> failure(std::string const& id) const;
  /// "done", "running", "failed" or "planned".
  std::string status(std::string const& id) const;

  /// nullopt when somebody else holds the stage or it is done already. Clears what a killed holder left half written.
  std::optional<Claim> try_claim(std::string const& id) const;

  Group read(std::string const& id) const { return read_file(record_file(id)); }
  /// Writes the record and forgets earlier failures. Throws Error when there is one already.
  void write(Claim const& claim, Group const& record) const;
  /// The same as write() with the record that `other` has of this stage, and all files beside it. Throws Error when
  /// that record cannot be read.
  void copy(Claim const& claim, Store const& other) const;
  /// Keeps the message for `failure`.
  void fail(Claim const& claim, std::string const& message) const;

  /// Writes study.h5, one runner at a time.
  void publish(Group const& study) const;

 private:
  fs::path folder_;
};

}  // namespace sextant::results
