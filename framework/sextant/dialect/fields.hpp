// A block of a foreign description, read key by key: every key is taken, known and left alone, or refused with its place.
#pragma once
#include <sextant/spec/field.hpp>

#include <set>

namespace sextant::dialect {

class Fields {
 public:
  Fields(spec::Node const& node, std::string path) : node_(node), path_(std::move(path)) {}

  spec::Node const& node() const { return node_; }
  std::string const& path() const { return path_; }
  std::string place() const { return node_.place.text(); }
  std::string path_of(std::string const& key) const { return spec::below(path_, key); }

  /// nullptr where the key is absent or null.
  spec::Node const* find(std::string const& key) const;
  std::optional<double> number(std::string const& key, encoding::Range range = {}) const;
  std::optional<int> whole(std::string const& key, int least = 1) const;
  std::optional<bool> flag(std::string const& key) const;
  std::optional<std::string> word(std::string const& key) const;
  /// The value of a plugin's option written under a key of this block. A factor below 1 is refused with a word on which
  /// way it points.
  std::optional<encoding::Value> option(std::string const& key, encoding::Option const& option) const;

  /// Throws Error for a key of the block that is not among `known`.
  void refuse_unknown(std::vector<std::string> const& known, std::string const& what) const;
  /// The same where the block holds much else: only for keys one slip away from one of `known`, or that begin with
  /// one of `stems`.
  void refuse_slips(std::vector<std::string> const& known, std::vector<std::string> const& stems,
                    std::string const& what) const;
  /// Throws Error: "place: path.key is missing: why".
  [[noreturn]] void missing(std::string const& key, std::string const& why) const;

 private:
  spec::Node const& node_;
  std::string path_;
};

/// JSON text as a tree with places. Throws Error with line and column where it is no JSON object.
spec::Node parse_json(std::string const& text, std::string const& source);

}  // namespace sextant::dialect
