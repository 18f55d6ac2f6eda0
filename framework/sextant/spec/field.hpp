// One key of a spec: its name, kind, range, unit, default and help, bound to a member of a struct. The tables made of
// fields (schema.hpp) are all that reading, writing, `describe spec` and docs/spec.md know of the format.
#pragma once
#include <sextant/encoding/schema.hpp>
#include <sextant/spec/catalogue.hpp>
#include <sextant/spec/node.hpp>
#include <sextant/spec/number.hpp>

#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace sextant::spec {

/// What reading needs besides the document, and what it learns: the full paths that the document gives, and where.
struct Reading {
  Catalogue const& catalogue;
  std::map<std::string, std::string> given;
};

/// A value in resolved form, and what in it was not given.
struct Written {
  std::string text;
  std::vector<std::string> defaulted;
};

/// The value of a node as the option wants it. Throws Error with place, path, what was found and what is allowed.
encoding::Value read_value(Node const& node, encoding::Option const& option, std::string const& path);
/// A list of words, each checked by `option`; one word alone is a list of one.
std::vector<std::string> read_words(Node const& node, encoding::Option const& option, std::string const& path);
/// Throws Error: a whole number of more than 31 bits.
[[noreturn]] void refuse_size(Node const& node, std::string const& path);
/// What a value may be, in words: units are explained by example.
std::string expectation(encoding::Option const& option);
/// "slopes (true or false, default false)"
std::string introduce(encoding::Option const& option);

template <class S>
struct Field {
  encoding::Option option;  ///< its name is the dotted path below the table's root
  bool words = false;       ///< a list of words
  std::function<void(S&, Node const&, std::string const& path, Reading&)> read;
  std::function<Written(S const&, std::string const& path, Reading const&)> write;
  std::function<void(S&)> settle;  ///< the value when absent or `auto`, once all others are read; may be empty

  std::string const& name() const { return option.name; }
  bool required() const { return !option.fallback; }
};

/// Tag: the words of an enum.
template <class E>
struct Words {
  std::vector<std::pair<std::string, E>> list;
};
/// Tag: absent or `auto` means what `rule` says; `meaning` is its help.
template <class S>
struct Automatic {
  char const* meaning;
  std::function<void(S&)> rule;
};
/// Tag: what a text or a list of words may be.
struct OneOf {
  std::vector<std::string> words;
};

namespace detail {
template <class T>
inline constexpr bool is_optional = false;
template <class T>
inline constexpr bool is_optional<std::optional<T>> = true;
template <class T>
inline constexpr bool is_vector = false;
template <class T>
inline constexpr bool is_vector<std::vector<T>> = true;

template <class M>
constexpr encoding::Kind kind_of() {
  using encoding::Kind;
  if constexpr (is_optional<M>)
    return kind_of<typename M::value_type>();
  else if constexpr (std::is_same_v<M, bool>)
    return Kind::boolean;
  else if constexpr (std::is_integral_v<M>)
    return Kind::integer;
  else if constexpr (std::is_floating_point_v<M>)
    return Kind::number;
  else if constexpr (std::is_same_v<M, std::vector<double>>)
    return Kind::numbers;
  else if constexpr (std::is_same_v<M, std::string> || std::is_enum_v<M>)
    return Kind::text;
  else if constexpr (is_vector<M> && std::is_integral_v<typename M::value_type>)
    return Kind::integers;
  else
    return Kind::text;
}

template <class M>
encoding::Value to_value(M const& m) {
  if constexpr (is_optional<M>)
    return m ? to_value(*m) : encoding::Value(encoding::Auto{});
  else if constexpr (std::is_same_v<M, std::string>)
    return m.empty() ? encoding::Value(encoding::Auto{}) : m;
  else if constexpr (std::is_same_v<M, bool> || std::is_floating_point_v<M>)
    return m;
  else if constexpr (std::is_integral_v<M>)
    return static_cast<std::int64_t>(m);
  else
    return std::vector<double>(m.begin(), m.end());
}

/// Whether whole numbers fit in M.
template <class M>
bool fits(encoding::Value const& value) {
  if constexpr (is_optional<M>)
    return fits<typename M::value_type>(value);
  else if constexpr (std::is_same_v<M, int>) {
    auto const* whole = std::get_if<std::int64_t>(&value);
    return !whole || (*whole <= std::numeric_limits<int>::max() && *whole >= std::numeric_limits<int>::min());
  } else if constexpr (std::is_same_v<M, std::vector<int>>) {
    auto const* list = std::get_if<std::vector<double>>(&value);
    bool all = true;
    for (std::size_t i = 0; list && i < list->size(); ++i)
      all = all && fits<int>(static_cast<std::int64_t>((*list)[i]));
    return all;
  } else
    return true;
}

template <class M>
void from_value(M& m, encoding::Value const& value) {
  if constexpr (is_optional<M>) {
    if (std::holds_alternative<encoding::Auto>(value)) return m.reset();
    from_value(m.emplace(), value);
  } else if constexpr (std::is_same_v<M, std::string>) {
    m = std::holds_alternative<encoding::Auto>(value) ? "" : std::get<std::string>(value);
  } else if constexpr (std::is_same_v<M, bool> || std::is_floating_point_v<M>) {
    m = std::get<M>(value);
  } else if constexpr (std::is_integral_v<M>) {
    m = static_cast<M>(std::get<std::int64_t>(value));
  } else {
    m.clear();
    for (double x : std::get<std::vector<double>>(value)) m.push_back(static_cast<typename M::value_type>(x));
  }
}

inline std::string write_value(encoding::Value const& value, std::string const& unit) {
  if (auto const* word = std::get_if<std::string>(&value)) return quote(*word);
  std::string const written = encoding::to_text(value);
  bool const bare = std::holds_alternative<encoding::Auto>(value) || !(unit == "s" || unit == "B");
  return bare ? written : written + " " + unit;
}

template <class S, class M>
struct Tags {
  Field<S>& field;
  std::vector<std::pair<std::string, M>> enum_words;
  void operator()(encoding::Range range) { field.option.range = range; }
  void operator()(encoding::Unit unit) { field.option.unit = unit.name; }
  void operator()(encoding::MayBeAuto meaning) { field.option.auto_meaning = meaning.meaning; }
  void operator()(encoding::Required) { field.option.fallback.reset(); }
  void operator()(OneOf choices) { field.option.choices = std::move(choices.words); }
  void operator()(Automatic<S> automatic) {
    field.option.auto_meaning = automatic.meaning;
    field.option.fallback = encoding::Value(encoding::Auto{});
    field.settle = std::move(automatic.rule);
  }
  template <class E>
  void operator()(Words<E> words) {
    for (auto const& [word, value] : words.list) field.option.choices.push_back(word);
    enum_words = std::move(words.list);
  }
};
}  // namespace detail

/// field<Model>("mlp.width", [](auto& m) -> auto& { return m.mlp.width; }, "hidden channels", at_least(1)): the default
/// is what a fresh S holds, unless the field is `required` or has an Automatic rule.
template <class S, class Get, class... Tag>
Field<S> field(std::string path, Get get, std::string help, Tag... tag) {
  using M = std::remove_cvref_t<decltype(get(std::declval<S&>()))>;
  Field<S> field;
  field.option.name = std::move(path);
  field.option.help = std::move(help);
  field.option.kind = detail::kind_of<M>();
  S const fresh{};
  if constexpr (std::is_same_v<M, std::vector<std::string>>) {
    field.words = true;
    std::string joined;
    for (auto const& word : get(fresh)) joined += (joined.empty() ? "" : ", ") + word;
    field.option.fallback = "[" + joined + "]";
    (detail::Tags<S, std::string>{field, {}}(tag), ...);
    field.read = [get, option = field.option](S& s, Node const& node, std::string const& at, Reading&) {
      get(s) = read_words(node, option, at);
    };
    field.write = [get](S const& s, std::string const&, Reading const&) {
      std::string list;
      for (auto const& word : get(s)) list += (list.empty() ? "" : ", ") + quote(word);
      return Written{"[" + list + "]", {}};
    };
  } else if constexpr (std::is_enum_v<M>) {
    detail::Tags<S, M> tags{field, {}};
    (tags(tag), ...);
    auto const name_of = [words = tags.enum_words](M m) {
      for (auto const& [word, value] : words)
        if (value == m) return word;
      return std::string();
    };
    field.option.fallback = name_of(get(fresh));
    field.read = [get, option = field.option, words = tags.enum_words](S& s, Node const& node, std::string const& at,
                                                                       Reading&) {
      auto const value = read_value(node, option, at);
      for (auto const& [word, meant] : words)
        if (word == std::get<std::string>(value)) get(s) = meant;
    };
    field.write = [get, name_of](S const& s, std::string const&, Reading const&) {
      return Written{name_of(get(s)), {}};
    };
  } else {
    field.option.fallback = detail::to_value(get(fresh));
    (detail::Tags<S, M>{field, {}}(tag), ...);
    field.read = [get, option = field.option](S& s, Node const& node, std::string const& at, Reading&) {
      auto const value = read_value(node, option, at);
      if (!detail::fits<M>(value)) refuse_size(node, at);
      detail::from_value(get(s), value);
    };
    field.write = [get, unit = field.option.unit](S const& s, std::string const&, Reading const&) {
      return Written{detail::write_value(detail::to_value(get(s)), unit), {}};
    };
  }
  return field;
}

}  // namespace sextant::spec
