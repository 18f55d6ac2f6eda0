// The `reference` block: published numbers, each beside a quantity of the study.
#pragma once
#include <sextant/claims/published.hpp>
#include <sextant/spec/claims.hpp>

#include <string>
#include <vector>

namespace sextant::spec {

/// A published number.
struct PublishedItem {
  std::string name, ours;
  double value = 0;
  Node ours_node;
};

/// One item of `reference`.
struct PublishedBlock {
  std::string title, source, units;
  std::vector<PublishedItem> values;
  std::string path;  ///< reference.0
};

std::vector<Field<PublishedBlock>> const& published_fields();
std::vector<Field<PublishedItem>> const& published_value_fields();

/// Reads the list without looking quantities up. A null node is an empty list.
std::vector<PublishedBlock> read_published(Node const& node, Reading& reading);

/// The tables with the arm of every quantity settled among `here`; one that only `others` have stands for none of this tier.
/// Throws Error with the place of the word that is wrong, as for claims.
std::vector<claims::PublishedTable> settle_published(std::vector<PublishedBlock> const& blocks, Arms const& here,
                                                     std::function<std::vector<Arms>()> const& others,
                                                     std::string const& source);

/// The list as YAML that reads back to the same tables; "" when it is empty.
std::string write_published(std::vector<PublishedBlock> const& blocks, Reading const& reading);

}  // namespace sextant::spec
