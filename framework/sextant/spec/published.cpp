#include <sextant/base/error.hpp>
#include <sextant/spec/claim_names.hpp>
#include <sextant/spec/fault.hpp>
#include <sextant/spec/published.hpp>
#include <sextant/spec/table.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using claims::Fault;

char const* const example = "{title: ..., source: ..., units: \"%\", values: [{name: RoPE, value: 51.7}]}";

/// Texts of a list that tell its items apart.
void expect_new(std::vector<std::string>& seen, std::string const& word, std::string const& place,
                std::string const& path, char const* what) {
  expect(word.find_first_not_of(" \t\n") != std::string::npos, place, ": ", path, " is empty, expected a text");
  expect(std::find(seen.begin(), seen.end(), word) == seen.end(), place, ": ", path, " is ", word, ", as an earlier ",
         what, " is called; expected a name of its own");
  seen.push_back(word);
}

void check(PublishedBlock const& block, std::vector<std::string>& titles, Reading const& reading) {
  auto const place = [&](std::string const& path) { return reading.given.at(path); };
  expect_new(titles, block.title, place(below(block.path, "title")), below(block.path, "title"), "table");
  for (auto const& [key, word] : {std::pair{"source", &block.source}, std::pair{"units", &block.units}})
    expect(word->find_first_not_of(" \t\n") != std::string::npos, place(below(block.path, key)), ": ",
           below(block.path, key), " is empty, expected ",
           std::string(key) == "source" ? "the paper and the table that hold these numbers" : "units such as \"%\"");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < block.values.size(); ++i) {
    std::string const path = text(block.path, ".values.", i, ".name");
    expect_new(names, block.values[i].name, place(path), path, "number of the table");
  }
}

/// The quantity with its arm; "" where only another tier has it.
std::string settled_arms(PublishedItem const& item, std::string const& path, Arms const& here,
                         std::function<std::vector<Arms>()> const& others, std::string const& source) {
  if (item.ours.empty()) return "";
  try {
    auto const quantity = claims::parse_measured(item.ours);
    try {
      return settle(quantity, here).text;
    } catch (Fault const& fault) {
      for (auto const& arms : others()) try {
          settle(quantity, arms);
          return "";
        } catch (Fault const&) {  // the next tier may have it
        }
      throw;
    }
  } catch (Fault const& fault) {
    refuse(item.ours_node, path, fault, source);
  }
}
}  // namespace

std::vector<PublishedBlock> read_published(Node const& node, Reading& reading) {
  std::vector<PublishedBlock> out;
  if (node.kind == Node::Kind::null) return out;
  if (!node.is_list() || node.items.empty())
    fail(node.place.text(), ": reference is ", node.is_list() ? "an empty list" : found(node),
         ", expected a list of tables such as ", example);
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    PublishedBlock block;
    block.path = text("reference.", i);
    read_table(block, node.items[i], block.path, published_fields(), {}, reading);
    check(block, titles, reading);
    out.push_back(std::move(block));
  }
  return out;
}

std::vector<claims::PublishedTable> settle_published(std::vector<PublishedBlock> const& blocks, Arms const& here,
                                                     std::function<std::vector<Arms>()> const& others,
                                                     std::string const& source) {
  std::vector<claims::PublishedTable> out;
  for (auto const& block : blocks) {
    claims::PublishedTable table{block.title, block.source, block.units, {}};
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      auto const& item = block.values[i];
      std::string const path = text(block.path, ".values.", i, ".ours");
      table.rows.push_back({item.name, item.value, settled_arms(item, path, here, others, source)});
    }
    out.push_back(std::move(table));
  }
  return out;
}

std::string write_published(std::vector<PublishedBlock> const& blocks, Reading const& reading) {
  if (blocks.empty()) return "";
  std::string out = "reference:\n";
  for (auto const& block : blocks) {
    char const* before = "  - {";
    for (auto const& field : published_fields()) {
      out += text(before, field.name(), ": ", field.write(block, below(block.path, field.name()), reading).text);
      before = ", ";
    }
    out += "}\n";
  }
  return out;
}

}  // namespace sextant::spec
