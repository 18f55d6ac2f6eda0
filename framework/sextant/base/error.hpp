// How Sextant refuses: one exception type whose text says where, what was found and what was expected.
#pragma once
#include <initializer_list>
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
/// One argument of `text`, and how a stream takes it. Messages are written in one function, not once for each list of types.
struct Part {
  void const* value;
  void (*put)(std::ostream&, void const*);
};
std::string joined(std::initializer_list<Part> parts);

Part part(char const* text);  // literals of every length are one type
template <class T>
Part part(T const& value) {
  return {&value, [](std::ostream& out, void const* at) { out << *static_cast<T const*>(at); }};
}
template <class T>
Part part(std::vector<T> const& list) {  // [2, 8, 128, 64], as shapes are written
  return {&list, [](std::ostream& out, void const* at) {
            auto const& all = *static_cast<std::vector<T> const*>(at);
            out << '[';
            for (std::size_t i = 0; i < all.size(); ++i) out << (i ? ", " : "") << all[i];
            out << ']';
          }};
}
}  // namespace detail

/// Joins its arguments as an output stream would; a vector is written as [a, b, c].
template <class... Parts>
std::string text(Parts const&... parts) {
  return detail::joined({detail::part(parts)...});
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
