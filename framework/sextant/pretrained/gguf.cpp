#include <sextant/base/error.hpp>
#include <sextant/pretrained/gguf.hpp>
#include <sextant/pretrained/gguf_reader.hpp>

#include <fmt/format.h>

namespace sextant::pretrained {
namespace {
template <class T>
std::optional<T> as(GgufValue const& value) {
  auto const* const found = std::get_if<T>(&value.value);
  return found ? std::optional<T>(*found) : std::nullopt;
}

std::optional<std::int64_t> as_integer(GgufValue const& value) {
  if (auto const whole = as<std::uint64_t>(value))
    return *whole <= std::uint64_t(INT64_MAX) ? std::optional(std::int64_t(*whole)) : std::nullopt;
  return as<std::int64_t>(value);
}
std::optional<double> as_number(GgufValue const& value) {
  if (auto const whole = as_integer(value)) return double(*whole);
  return as<double>(value);
}
std::optional<std::string> as_word(GgufValue const& value) {
  auto const text = as<std::string_view>(value);
  return text ? std::optional(std::string(*text)) : std::nullopt;
}

template <class As>
auto one(std::string const& path, std::string const& key, GgufValue const& value, char const* expected, As const& as) {
  auto const found = as(value);
  if (!found) fail(path, ": ", key, " is ", value.type, " ", value.text(), ", expected ", expected);
  return *found;
}

// Every element by as(element), which refuses some.
template <class As>
auto all(std::string const& path, std::string const& key, GgufValue const& value, char const* expected, As const& as) {
  auto const* const array = std::get_if<GgufArray>(&value.value);
  if (!array) fail(path, ": ", key, " is ", value.type, " ", value.text(), ", expected an array, each ", expected);
  std::vector<typename decltype(as(value))::value_type> out;
  std::visit(
      [&](auto const& values) {
        for (auto const& element : values)
          out.push_back(one(path, key + "[" + std::to_string(out.size()) + "]",
                            GgufValue{array->type, typename std::decay_t<decltype(values)>::value_type(element)},
                            expected, as));
      },
      array->values);
  return out;
}
}  // namespace

std::string GgufValue::text() const {
  struct Write {
    std::string operator()(std::uint64_t x) const { return std::to_string(x); }
    std::string operator()(std::int64_t x) const { return std::to_string(x); }
    std::string operator()(double x) const { return fmt::format("{}", x); }
    std::string operator()(bool x) const { return x ? "true" : "false"; }
    std::string operator()(std::string_view x) const {
      return x.size() <= 60 ? fmt::format("\"{}\"", x) : fmt::format("\"{}...\" ({} bytes)", x.substr(0, 57), x.size());
    }
    std::string operator()(GgufArray const& x) const {
      return std::visit(
          [&](auto const& values) {
            std::vector<std::string> first;
            for (std::size_t i = 0; i < values.size() && i < 3; ++i) first.push_back((*this)(values[i]));
            if (values.size() > 3) first.emplace_back("...");
            return fmt::format("[{}] ({} x {})", join(first), values.size(), x.type);
          },
          x.values);
    }
  };
  return std::visit(Write{}, value);
}

Gguf::Gguf(fs::path const& path) : TensorFile(path.string()), file_(path) { GgufReader(*this).read(); }

GgufValue const& Gguf::value(std::string const& key) const {
  auto const found = metadata_.find(key);
  if (found != metadata_.end()) return found->second;
  std::vector<std::string> keys;
  for (auto const& [known, value] : metadata_) keys.push_back(known);
  std::string const near = nearest(key, keys);
  fail(path_, ": has no key ", key, near.empty() ? "" : "; the nearest is " + near);
}

std::int64_t Gguf::integer(std::string const& key) const {
  return one(path_, key, value(key), "a whole number", as_integer);
}
double Gguf::number(std::string const& key) const { return one(path_, key, value(key), "a number", as_number); }
std::string Gguf::word(std::string const& key) const { return one(path_, key, value(key), "a text", as_word); }
bool Gguf::flag(std::string const& key) const { return one(path_, key, value(key), "a bool", as<bool>); }

std::vector<std::string> Gguf::words(std::string const& key) const {
  return all(path_, key, value(key), "a text", as_word);
}
std::vector<std::int64_t> Gguf::integers(std::string const& key) const {
  return all(path_, key, value(key), "a whole number", as_integer);
}
std::vector<double> Gguf::numbers(std::string const& key) const {
  return all(path_, key, value(key), "a number", as_number);
}

}  // namespace sextant::pretrained
