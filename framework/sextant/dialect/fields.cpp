#include <sextant/base/error.hpp>
#include <sextant/dialect/fields.hpp>
#include <sextant/spec/yaml.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>

namespace sextant::dialect {
using encoding::Option;
using encoding::Value;
using spec::Node;

namespace {
Option plain(std::string const& name, encoding::Kind kind, encoding::Range range = {}) {
  Option option;
  option.name = name;
  option.kind = kind;
  option.range = range;
  return option;
}

// One letter more, one less, another one, or two neighbours swapped.
bool one_slip(std::string const& a, std::string const& b) {
  if (a.size() > b.size()) return one_slip(b, a);
  if (b.size() - a.size() > 1) return false;
  std::size_t const n = static_cast<std::size_t>(std::mismatch(a.begin(), a.end(), b.begin()).first - a.begin());
  if (a.size() < b.size()) return a.substr(n) == b.substr(n + 1);
  bool const other = n < a.size() && a.substr(n + 1) == b.substr(n + 1);
  bool const swapped = n + 1 < a.size() && a[n] == b[n + 1] && a[n + 1] == b[n] && a.substr(n + 2) == b.substr(n + 2);
  return other || swapped;
}
}  // namespace

Node const* Fields::find(std::string const& key) const {
  Node const* const found = node_.find(key);
  return found && found->kind != Node::Kind::null ? found : nullptr;
}

std::optional<Value> Fields::option(std::string const& key, Option const& option) const {
  Node const* const node = find(key);
  if (!node) return std::nullopt;
  Option told = option;
  told.auto_meaning.clear();  // a word of specs alone
  try {
    return spec::read_value(*node, told, path_of(key));
  } catch (Error const& error) {
    auto const given = node->is_scalar() && !node->quoted ? spec::parse_number(node->text) : std::nullopt;
    double const x = given ? spec::as_double(*given) : 0;
    if (option.name != "factor" || !(x > 0 && x < 1)) throw;
    fail(error.what(), ": it is target length / trained length and stretches; did you mean its reciprocal, ",
         spec::number_text(1 / x), "?");
  }
}

std::optional<double> Fields::number(std::string const& key, encoding::Range range) const {
  auto const value = option(key, plain(key, encoding::Kind::number, range));
  return value ? std::optional(spec::as_double(*value)) : std::nullopt;
}

std::optional<int> Fields::whole(std::string const& key, int least) const {
  auto const value = option(key, plain(key, encoding::Kind::integer, encoding::between(least, 1 << 30)));
  return value ? std::optional(static_cast<int>(spec::as_double(*value))) : std::nullopt;
}

std::optional<bool> Fields::flag(std::string const& key) const {
  auto const value = option(key, plain(key, encoding::Kind::boolean));
  return value ? std::optional(std::get<bool>(*value)) : std::nullopt;
}

std::optional<std::string> Fields::word(std::string const& key) const {
  auto const value = option(key, plain(key, encoding::Kind::text));
  return value ? std::optional(std::get<std::string>(*value)) : std::nullopt;
}

void Fields::refuse_unknown(std::vector<std::string> const& known, std::string const& what) const {
  for (auto const& entry : node_.entries) {
    bool const fine = std::find(known.begin(), known.end(), entry.key) != known.end();
    expect(fine, entry.place.text(), ": ", path_of(entry.key), ": ", what, " has no key ", entry.key,
           did_you_mean(entry.key, known));
  }
}

void Fields::refuse_slips(std::vector<std::string> const& known, std::vector<std::string> const& stems,
                          std::string const& what) const {
  for (auto const& entry : node_.entries) {
    if (std::find(known.begin(), known.end(), entry.key) != known.end()) continue;
    bool const ours = std::any_of(stems.begin(), stems.end(), [&](auto const& s) { return entry.key.starts_with(s); });
    bool const slip = std::any_of(known.begin(), known.end(), [&](auto const& k) { return one_slip(entry.key, k); });
    expect(!ours && !slip, entry.place.text(), ": ", path_of(entry.key), ": ", what, " has no key ", entry.key,
           did_you_mean(entry.key, known));
  }
}

void Fields::missing(std::string const& key, std::string const& why) const {
  fail(place(), ": ", path_of(key), " is missing: ", why);
}

Node parse_json(std::string const& text, std::string const& source) {
  try {
    nlohmann::json const json = nlohmann::json::parse(text);
    expect(json.is_object(), source, ":1:1: found ", json.type_name(), ", expected a JSON object");
  } catch (nlohmann::json::parse_error const& error) {
    auto const end = text.begin() + static_cast<std::ptrdiff_t>(std::min(error.byte, text.size()));
    auto const line = 1 + std::count(text.begin(), end, '\n');
    fail(source, ":", line, ": not JSON: ", error.what());
  }
  std::string spaced = text;  // tabs between tokens are JSON and not YAML; inside strings JSON has none
  std::replace(spaced.begin(), spaced.end(), '\t', ' ');
  return spec::parse_yaml(spaced, source);
}

}  // namespace sextant::dialect
