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
#include <string_view>
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

/// A member of S, found anew in each.
template <class S, class M>
struct Member {
  std::function<M&(S&)> find;
  M& operator()(S& s) const { return find(s); }
  M const& operator()(S const& s) const { return find(const_cast<S&>(s)); }
};

template <class S>
S const& fresh() {
  static S const s{};
  return s;
}

/// Makes a field of its member, then of its tags, then reads and writes: compiled once for members of a type.
template <class S, class M>
class Maker {
 public:
  Maker(std::string_view path, std::string_view help, Member<S, M> member) : member_(std::move(member)) {
    field_.option.name = path;
    field_.option.help = help;
    field_.option.kind = kind_of<M>();
    if constexpr (std::is_same_v<M, std::vector<std::string>>)
      field_.option.fallback = "[" + join(member_(fresh<S>())) + "]";
    else if constexpr (!std::is_enum_v<M>)
      field_.option.fallback = to_value(member_(fresh<S>()));
  }
  void tag(encoding::Range range) { field_.option.range = range; }
  void tag(encoding::Unit unit) { field_.option.unit = unit.name; }
  void tag(encoding::MayBeAuto meaning) { field_.option.auto_meaning = meaning.meaning; }
  void tag(encoding::Required) { field_.option.fallback.reset(); }
  void tag(OneOf choices) { field_.option.choices = std::move(choices.words); }
  void tag(Automatic<S> automatic) {
    field_.option.auto_meaning = automatic.meaning;
    field_.option.fallback = encoding::Value(encoding::Auto{});
    field_.settle = std::move(automatic.rule);
  }
  void tag(Words<M> words) {
    for (auto const& [word, value] : words.list) field_.option.choices.push_back(word);
    words_ = std::move(words.list);
  }

  Field<S> made() && {
    if constexpr (std::is_same_v<M, std::vector<std::string>>)
      bind_words();
    else if constexpr (std::is_enum_v<M>)
      bind_enum();
    else
      bind_value();
    return std::move(field_);
  }

 private:
  void bind_words() {
    field_.words = true;
    field_.read = [member = member_, option = field_.option](S& s, Node const& node, std::string const& at, Reading&) {
      member(s) = read_words(node, option, at);
    };
    field_.write = [member = member_](S const& s, std::string const&, Reading const&) {
      std::string list;
      for (auto const& word : member(s)) list += (list.empty() ? "" : ", ") + quote(word);
      return Written{"[" + list + "]", {}};
    };
  }
  void bind_enum() {
    auto const name_of = [words = words_](M m) {
      for (auto const& [word, value] : words)
        if (value == m) return word;
      return std::string();
    };
    field_.option.fallback = name_of(member_(fresh<S>()));
    field_.read = [member = member_, option = field_.option, words = words_](S& s, Node const& node,
                                                                             std::string const& at, Reading&) {
      auto const value = read_value(node, option, at);
      for (auto const& [word, meant] : words)
        if (word == std::get<std::string>(value)) member(s) = meant;
    };
    field_.write = [member = member_, name_of](S const& s, std::string const&, Reading const&) {
      return Written{name_of(member(s)), {}};
    };
  }
  void bind_value() {
    field_.read = [member = member_, option = field_.option](S& s, Node const& node, std::string const& at, Reading&) {
      auto const value = read_value(node, option, at);
      if (!fits<M>(value)) refuse_size(node, at);
      from_value(member(s), value);
    };
    field_.write = [member = member_, unit = field_.option.unit](S const& s, std::string const&, Reading const&) {
      return Written{write_value(to_value(member(s)), unit), {}};
    };
  }

  Field<S> field_;
  Member<S, M> member_;
  std::vector<std::pair<std::string, M>> words_;
};
}  // namespace detail

/// field<Model>("mlp.width", [](auto& m) -> auto& { return m.mlp.width; }, "hidden channels", at_least(1)): the default
/// is what a fresh S holds, unless the field is `required` or has an Automatic rule.
template <class S, class Get, class... Tag>
Field<S> field(std::string_view path, Get get, std::string_view help, Tag... tag) {
  using M = std::remove_cvref_t<decltype(get(std::declval<S&>()))>;
  detail::Maker<S, M> maker(path, help, {get});
  (maker.tag(std::move(tag)), ...);
  return std::move(maker).made();
}

}  // namespace sextant::spec
