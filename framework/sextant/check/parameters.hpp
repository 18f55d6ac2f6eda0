// The parameters of a reference case: read by name with defaults, and none of them overlooked.
#pragma once
#include <sextant/base/json.hpp>

#include <optional>
#include <set>
#include <string>
#include <vector>

namespace sextant::check {

/// A flat JSON object. An absent key and a null are the same: the default. Throws Error naming the key, what was found
/// and what was expected.
class Parameters {
 public:
  explicit Parameters(nlohmann::json values);

  nlohmann::json const& values() const { return values_; }
  std::optional<double> number(std::string const& name) const;
  double number(std::string const& name, double fallback) const { return number(name).value_or(fallback); }
  /// Throws also when it is absent.
  double needed(std::string const& name) const;
  int whole(std::string const& name, int fallback) const;
  /// true, false, 1 or 0.
  bool flag(std::string const& name, bool fallback) const;
  std::string word(std::string const& name, std::string const& fallback) const;
  /// Empty when absent.
  std::vector<double> list(std::string const& name) const;
  /// Names that may stand there without being read.
  void allow(std::vector<std::string> const& names) const;
  /// Throws Error for a key that was neither read nor allowed: a rule of the case that nobody applied.
  void expect_all_known() const;

 private:
  nlohmann::json const* find(std::string const& name) const;
  nlohmann::json values_;
  mutable std::set<std::string> known_;
};

}  // namespace sextant::check
