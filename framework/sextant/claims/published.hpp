// Numbers that others have published, kept beside a study's own.
#pragma once
#include <sextant/results/tree.hpp>

#include <string>
#include <vector>

namespace sextant::claims {

struct PublishedTable {
  std::string title, source;  ///< source: the paper and its table
  std::string units;          ///< of the published values
  struct Row {
    std::string name;  ///< as it is published
    double value = 0;
    std::string ours;  ///< the quantity of this study that stands beside it, arm settled; empty: there is none
  };
  std::vector<Row> rows;
};

/// `reference` of a study file: a column a field, a row a number.
results::Group to_group(std::vector<PublishedTable> const& tables);
/// Reads it back. Throws Error when a column is missing or of another type.
std::vector<PublishedTable> published_from(results::Group const& group);

}  // namespace sextant::claims
