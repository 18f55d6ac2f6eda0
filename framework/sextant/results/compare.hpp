// Whether two results are the same: for resumed runs, reruns and tests.
#pragma once
#include <sextant/results/file.hpp>

#include <set>
#include <string>
#include <vector>

namespace sextant::results {

struct Difference {
  std::string path;         ///< "runs/ab12/train/loss[17]", "runs/ab12@status", "summary"
  std::string left, right;  ///< values, or what the thing is; "absent" where it is missing
};

/// Names of arrays, attributes and groups, anywhere in a file, that hold times, paths or the machine: what may differ
/// when the same study is run again.
std::set<std::string> const& moments();

/// Where the trees differ, in the order of the left one, one entry a thing (of an array: the first index). Numbers are
/// compared bit by bit, so that NaN equals the same NaN and 0 differs from -0.
std::vector<Difference> differences(Group const& left, Group const& right, std::set<std::string> const& ignored = {});

/// The same for two files, ignoring moments().
std::vector<Difference> compare_numbers(fs::path const& left, fs::path const& right,
                                        std::set<std::string> const& ignored = moments());

/// "left -> right" lines of at most `count` differences, for messages.
std::string summary(std::vector<Difference> const& differences, std::size_t count = 10);

}  // namespace sextant::results
