// How Sextant refuses: one exception type whose text says where, what was found and what was expected.
#pragma once
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace sextant {

class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& message) : std::runtime_error(message) {}
};

namespace detail {
template <class T>
void put(std::ostream& out, T const& part) {
  out << part;
}
template <class T>
void put(std::ostream& out, std::vector<T> const& list) {  // [2, 8, 128, 64], as shapes are written
  out << '[';
  for (std::size_t i = 0; i < list.size(); ++i) out << (i ? ", " : "") << list[i];
  out << ']';
}
}  // namespace detail

/// Joins its arguments as an output stream would; a vector is written as [a, b, c].
template <class... Parts>
std::string text(Parts const&... parts) {
  std::ostringstream out;
  (detail::put(out, parts), ...);
  return out.str();
}

template <class... Parts>
[[noreturn]] void fail(Parts const&... parts) {
  throw Error(text(parts...));
}

/// Throws Error with the joined parts unless `holds`. The parts are only formatted when it does not.
template <class... Parts>
void expect(bool holds, Parts const&... parts) {
  if (!holds) [[unlikely]]
    fail(parts...);
}

/// The candidate nearest to `name` by edit distance, or "" when none is near enough to be a slip.
std::string nearest(std::string_view name, std::vector<std::string> const& candidates);

/// "; did you mean X?" or, when nothing is near, "; known: a, b, c". Made to end an error message.
std::string did_you_mean(std::string_view name, std::vector<std::string> const& candidates);

/// a, b, c
std::string join(std::vector<std::string> const& parts, std::string_view separator = ", ");

}  // namespace sextant
