// What a plugin lets a spec say: options with types, ranges, units and help, checked in one place.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
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

/// What an option may be bound to; an enum is bound by choice().
template <class M>
concept OptionMember = std::is_integral_v<M> || std::is_same_v<M, double> || std::is_same_v<M, std::optional<int>> ||
    std::is_same_v<M, std::optional<double>> || std::is_same_v<M, Numbers> || std::is_same_v<M, Text>;

/// How a member of one type becomes a value and is set to one.
struct MemberType {
  Kind kind;
  Range held;  ///< as Option::held
  Value (*read)(void const* member);
  void (*write)(void* member, Value const& value);
};
/// Of an OptionMember; schema.cpp has them all.
template <class M>
MemberType const& member_type();

/// Options, and where in a plugin's struct each stands. What does not depend on the struct is compiled here, once, and not
/// with every plugin.
class OptionTable {
 public:
  OptionTable();
  OptionTable(OptionTable const&);
  OptionTable(OptionTable&&) noexcept;
  OptionTable& operator=(OptionTable const&) = delete;
  ~OptionTable();

  std::vector<Option> const& options() const;

 protected:
  /// `member` stands `offset` bytes into its struct and holds the default.
  void add(std::string_view name, std::string_view help, MemberType const& type, void const* member,
           std::ptrdiff_t offset);
  /// An enum of so many bytes whose default is `fallback`; its words follow.
  void add_choice(std::string_view name, std::string_view help, std::size_t bytes, std::int64_t fallback,
                  std::ptrdiff_t offset);
  void add_word(std::string_view word, std::int64_t value);
  /// Of the option added last.
  void tag(Range range);
  void tag(Unit unit);
  void tag(MayBeAuto meaning);
  void tag(Required);

  void write(void* plugin, Options const& values) const;

 private:
  struct Member;
  struct Entries;
  std::unique_ptr<Entries> entries_;
};

/// The options of one plugin, bound to the members of its struct.
template <class P>
class Schema : public OptionTable {
 public:
  template <class M, class... Tags>
  Schema option(std::string_view name, M P::*member, std::string_view help, Tags... tags) && {
    static_assert(OptionMember<M>,
                  "an option is a bool, int, double, optional of one, Numbers, Text, or an enum by choice()");
    static_assert(!std::is_same_v<M, Text> || (std::is_same_v<Tags, MayBeAuto> || ...),
                  "an option that is free text says what holds where it is auto");
    add(name, help, member_type<M>(), &(plain().*member), offset(member));
    (tag(tags), ...);
    return std::move(*this);
  }
  /// An enum by name: .choice("layout", &Rope::layout, "which channels pair up", {{"half", Layout::half}, ...})
  template <class E, class... Tags>
  Schema choice(std::string_view name, E P::*member, std::string_view help,
                std::initializer_list<std::pair<char const*, E>> names, Tags... tags) && {
    return std::move(*this).choice_of(name, member, help, names, tags...);
  }
  template <class E, class... Tags>
  Schema choice(std::string_view name, E P::*member, std::string_view help,
                std::vector<std::pair<std::string, E>> const& names, Tags... tags) && {
    return std::move(*this).choice_of(name, member, help, names, tags...);
  }

  /// Values must have passed the options' accept(); absent ones keep the struct's defaults.
  void set(P& plugin, Options const& values) const { write(&plugin, values); }

 private:
  static P const& plain() {
    static P const defaults{};
    return defaults;
  }
  template <class M>
  static std::ptrdiff_t offset(M P::*member) {
    return reinterpret_cast<char const*>(&(plain().*member)) - reinterpret_cast<char const*>(&plain());
  }
  template <class E, class Names, class... Tags>
  Schema choice_of(std::string_view name, E P::*member, std::string_view help, Names const& names, Tags... tags) && {
    add_choice(name, help, sizeof(E), static_cast<std::int64_t>(plain().*member), offset(member));
    for (auto const& [word, value] : names) add_word(word, static_cast<std::int64_t>(value));
    (tag(tags), ...);
    return std::move(*this);
  }
};

}  // namespace sextant::encoding
