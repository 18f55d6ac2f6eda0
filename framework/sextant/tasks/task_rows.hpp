// Rows of a task for training and for tests. An example belongs to one of the two by the hash of its tokens, so that no test
// example is ever trained on: those that fall to the other side are drawn again.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/encoding/data_files.hpp>
#include <sextant/encoding/task.hpp>

#include <memory>
#include <optional>

namespace sextant::tasks {

using encoding::belongs_to_tests;

class TaskRows {
 public:
  explicit TaskRows(std::shared_ptr<encoding::Task const> task) : task_(std::move(task)) {}

  /// Example `index` of a seed's training stream; its length is uniform between the shortest and the longest of training.
  /// Throws Error when none can be found that is not a test's.
  encoding::Row training(std::uint64_t seed, std::uint64_t index) const;
  /// Test example `index` of a length: the same for every seed. `depth` as in encoding::Draw. Throws Error when none can be
  /// found that training would not draw.
  encoding::Row test(int length, std::uint64_t index, std::optional<double> depth = {}) const;

 private:
  std::shared_ptr<encoding::Task const> task_;
};

/// Writes an example into row `r` of tokens and targets [rows, length]: its tokens, and behind each the next one where that is
/// part of the answer, else -1; the rest is padding (token 0, target -1). Throws Error when it is longer than a row.
void put_row(encoding::Row const& example, int r, View2<std::int32_t> const& tokens,
             View2<std::int32_t> const& targets);
/// Writes where the tokens of an example stand into row `r` of positions [rows, length]; its padding stands at the last of them.
/// Throws Error when it does not say so of each.
void put_positions(encoding::Row const& example, int r, View2<double> const& positions);

}  // namespace sextant::tasks
