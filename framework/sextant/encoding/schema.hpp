// What a plugin lets a spec say: options with types, ranges, units and help, checked in one place.
#pragma once
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

namespace sextant::encoding {

/// The word `auto` in a spec: the value follows from the run (an option says from what).
struct Auto {
  bool operator==(Auto const&) const = default;
};
using Value = std::variant<Auto, bool, std::int64_t, double, std::string, std::vector<double>>;
using Options = std::map<std::string, Value>;

/// As YAML would write it; a double keeps every bit.
std::string to_text(Value const& value);

enum class Kind { boolean, integer, number, text, integers, numbers };

struct Range {
  double least = -std::numeric_limits<double>::infinity(), most = std::numeric_limits<double>::infinity();
  bool open = false;  ///< least itself is not allowed
};
inline constexpr Range positive{0, std::numeric_limits<double>::infinity(), true};
constexpr Range at_least(double least) { return {least, std::numeric_limits<double>::infinity(), false}; }
constexpr Range above(double least) { return {least, std::numeric_limits<double>::infinity(), true}; }
constexpr Range between(double least, double most) { return {least, most, false}; }

struct Unit {
  char const* name;
};
/// The spec may say `auto`, and does when the key is absent unless `required`; `meaning` says what then holds.
struct MayBeAuto {
  char const* meaning;
};
struct Required {};
inline constexpr Required required{};

struct Option {
  std::string name, help, unit;
  Kind kind = Kind::number;
  std::optional<Value> fallback;  ///< none: the spec must give it
  std::string auto_meaning;       ///< empty: `auto` is not allowed
  std::vector<std::string> choices;
  Range range;
  Range held = {};  ///< what its member can hold, of text so many bytes, where that is less

  /// "a number > 0", "one of half, interleaved", "true or false", ...
  std::string expectation() const;
  /// The value in this option's kind (8 and 8.0 are one number; 4096.0 is an integer, 4096.5 is not).
  /// Throws Error("is X, expected Y").
  Value accept(Value const& value) const;
};

/// Free text of fixed capacity, so that a plugin stays trivially copyable. As an option it may be `auto`: it is empty then.
struct Text {
  static constexpr std::size_t capacity = 1024;
  char value[capacity] = {};
  bool empty() const { return value[0] == 0; }
  std::string text() const { return value; }
};

/// A fixed-capacity list of numbers, so that a plugin stays trivially copyable.
struct Numbers {
  static constexpr int capacity = 1024;
  int count = 0;
  double value[capacity] = {};
  double operator[](int i) const { return value[i]; }
};

/// The options of one plugin, bound to the members of its struct.
template <class P>
class Schema {
 public:
  template <class M, class... Tags>
  Schema option(std::string name, M P::*member, std::string help, Tags... tags) && {
    Option option{.name = std::move(name), .help = std::move(help), .fallback = read(P{}.*member)};
    option.kind = kind_of<M>();
    static_assert(!std::is_same_v<M, Text> || (std::is_same_v<Tags, MayBeAuto> || ...),
                  "an option that is free text says what holds where it is auto");
    (apply(option, tags), ...);
    if constexpr (std::is_same_v<M, std::optional<int>>)
      option.held = held_in<int>();
    else if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>)
      option.held = held_in<M>();
    else if constexpr (std::is_same_v<M, Text>)
      option.held = between(0, Text::capacity - 1);
    add(std::move(option), [member](P& p, Value const& v) { write(p.*member, v); });
    return std::move(*this);
  }
  /// An enum by name: .choice("layout", &Rope::layout, "which channels pair up", {{"half", Layout::half}, ...})
  template <class E, class... Tags>
  Schema choice(std::string name, E P::*member, std::string help, std::vector<std::pair<std::string, E>> names,
                Tags... tags) && {
    Option option{.name = std::move(name), .help = std::move(help), .kind = Kind::text};
    for (auto const& [word, value] : names) {
      option.choices.push_back(word);
      if (value == P{}.*member) option.fallback = word;
    }
    (apply(option, tags), ...);
    add(std::move(option), [member, names = std::move(names)](P& p, Value const& v) {
      for (auto const& [word, value] : names)
        if (word == std::get<std::string>(v)) p.*member = value;
    });
    return std::move(*this);
  }

  std::vector<Option> const& options() const { return options_; }
  /// Values must have passed the options' accept(); absent ones keep the struct's defaults.
  void set(P& plugin, Options const& values) const {
    for (std::size_t i = 0; i < options_.size(); ++i)
      if (auto it = values.find(options_[i].name); it != values.end()) setters_[i](plugin, it->second);
  }

 private:
  template <class M>
  static constexpr Kind kind_of() {
    if constexpr (std::is_same_v<M, bool>)
      return Kind::boolean;
    else if constexpr (std::is_integral_v<M> || std::is_same_v<M, std::optional<int>>)
      return Kind::integer;
    else if constexpr (std::is_same_v<M, double> || std::is_same_v<M, std::optional<double>>)
      return Kind::number;
    else if constexpr (std::is_same_v<M, Numbers>)
      return Kind::numbers;
    else if constexpr (std::is_same_v<M, Text>)
      return Kind::text;
    else
      static_assert(!sizeof(M),
                    "an option is a bool, int, double, optional of one, Numbers, Text, or an enum by choice()");
  }
  template <class Int>
  static constexpr Range held_in() {
    using Limits = std::numeric_limits<Int>;
    return between(static_cast<double>(Limits::min()), static_cast<double>(Limits::max()));
  }
  template <class M>
  static Value read(M const& m) {
    if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, double>)
      return m;
    else if constexpr (std::is_integral_v<M>)
      return static_cast<std::int64_t>(m);
    else if constexpr (std::is_same_v<M, Numbers>)
      return std::vector<double>(m.value, m.value + m.count);
    else if constexpr (std::is_same_v<M, Text>)
      return m.empty() ? Value(Auto{}) : Value(m.text());
    else if constexpr (std::is_same_v<M, std::optional<int>>)
      return m ? Value(static_cast<std::int64_t>(*m)) : Value(Auto{});
    else
      return m ? Value(*m) : Value(Auto{});
  }
  template <class M>
  static void write(M& m, Value const& v) {
    if constexpr (std::is_same_v<M, bool> || std::is_same_v<M, double>)
      m = std::get<M>(v);
    else if constexpr (std::is_integral_v<M>)
      m = static_cast<M>(std::get<std::int64_t>(v));
    else if constexpr (std::is_same_v<M, Numbers>) {
      auto const& list = std::get<std::vector<double>>(v);
      m.count = static_cast<int>(list.size());
      for (int i = 0; i < m.count; ++i) m.value[i] = list[i];
    } else if constexpr (std::is_same_v<M, Text>) {
      m = {};
      if (auto const* const words = std::get_if<std::string>(&v)) words->copy(m.value, Text::capacity - 1);
    } else if (std::holds_alternative<Auto>(v))
      m.reset();
    else if constexpr (std::is_same_v<M, std::optional<int>>)
      m = static_cast<int>(std::get<std::int64_t>(v));
    else
      m = std::get<double>(v);
  }
  static void apply(Option& o, Range range) { o.range = range; }
  static void apply(Option& o, Unit unit) { o.unit = unit.name; }
  static void apply(Option& o, MayBeAuto meaning) { o.auto_meaning = meaning.meaning; }
  static void apply(Option& o, Required) { o.fallback.reset(); }
  void add(Option option, std::function<void(P&, Value const&)> setter) {
    options_.push_back(std::move(option));
    setters_.push_back(std::move(setter));
  }
  std::vector<Option> options_;
  std::vector<std::function<void(P&, Value const&)>> setters_;
};

}  // namespace sextant::encoding
