#include <sextant/base/error.hpp>
#include <sextant/check/parameters.hpp>

#include <cmath>

namespace sextant::check {

Parameters::Parameters(nlohmann::json values) : values_(std::move(values)) {
  expect(values_.is_object(), "params is ", values_.type_name(), ", expected an object");
}

nlohmann::json const* Parameters::find(std::string const& name) const {
  known_.insert(name);
  auto const at = values_.find(name);
  return at == values_.end() || at->is_null() ? nullptr : &*at;
}

std::optional<double> Parameters::number(std::string const& name) const {
  auto const* value = find(name);
  if (!value) return std::nullopt;
  expect(value->is_number(), "parameter ", name, " is ", value->dump(), ", expected a number");
  return value->get<double>();
}

double Parameters::needed(std::string const& name) const {
  auto const value = number(name);
  expect(value.has_value(), "parameter ", name, " is absent, and the method needs it");
  return *value;
}

int Parameters::whole(std::string const& name, int fallback) const {
  double const value = number(name, fallback);
  expect(value == std::floor(value) && std::abs(value) < 1e9, "parameter ", name, " is ", value,
         ", expected a whole number");
  return static_cast<int>(value);
}

bool Parameters::flag(std::string const& name, bool fallback) const {
  auto const* value = find(name);
  if (!value) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  bool const bit = value->is_number() && (value->get<double>() == 0 || value->get<double>() == 1);
  expect(bit, "parameter ", name, " is ", value->dump(), ", expected true, false, 1 or 0");
  return value->get<double>() == 1;
}

std::string Parameters::word(std::string const& name, std::string const& fallback) const {
  auto const* value = find(name);
  if (!value) return fallback;
  expect(value->is_string(), "parameter ", name, " is ", value->dump(), ", expected a word");
  return value->get<std::string>();
}

std::vector<double> Parameters::list(std::string const& name) const {
  auto const* value = find(name);
  std::vector<double> out;
  if (!value) return out;
  expect(value->is_array(), "parameter ", name, " is ", value->dump(), ", expected a list of numbers");
  for (auto const& entry : *value) {
    expect(entry.is_number(), "parameter ", name, " holds ", entry.dump(), ", expected numbers");
    out.push_back(entry.get<double>());
  }
  return out;
}

void Parameters::allow(std::vector<std::string> const& names) const { known_.insert(names.begin(), names.end()); }

void Parameters::expect_all_known() const {
  for (auto const& [name, value] : values_.items())
    expect(known_.contains(name), "parameter ", name, " (", value.dump(), ") is not one that verify applies",
           did_you_mean(name, {known_.begin(), known_.end()}));
}

}  // namespace sextant::check
