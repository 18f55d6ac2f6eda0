#include <sextant/base/error.hpp>
#include <sextant/encoding/schema.hpp>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>

namespace sextant::encoding {
namespace {
std::string number_text(double value) {
  if (std::isnan(value)) return ".nan";
  if (std::isinf(value)) return value < 0 ? "-.inf" : ".inf";
  char buffer[32];
  auto const end = std::to_chars(buffer, buffer + sizeof buffer, value).ptr;
  return {buffer, end};
}

bool inside(Range const& range, double x) {
  return (range.open ? x > range.least : x >= range.least) && x <= range.most;
}

std::string range_text(Range const& range) {
  bool const low = std::isfinite(range.least), high = std::isfinite(range.most);
  if (low && high) return text(" from ", number_text(range.least), " to ", number_text(range.most));
  if (low) return text(range.open ? " > " : " >= ", number_text(range.least));
  if (high) return text(" <= ", number_text(range.most));
  return "";
}
}  // namespace

std::string to_text(Value const& value) {
  struct Write {
    std::string operator()(Auto) const { return "auto"; }
    std::string operator()(bool b) const { return b ? "true" : "false"; }
    std::string operator()(std::int64_t i) const { return std::to_string(i); }
    std::string operator()(double x) const { return number_text(x); }
    std::string operator()(std::string const& s) const { return s; }
    std::string operator()(std::vector<double> const& list) const {
      std::string out = "[";
      for (double x : list) out += (out.size() > 1 ? ", " : "") + number_text(x);
      return out + "]";
    }
  };
  return std::visit(Write{}, value);
}

std::string Option::expectation() const {
  std::string out;
  switch (kind) {
    case Kind::boolean:
      out = "true or false";
      break;
    case Kind::integer:
      out = "a whole number" + range_text(range);
      break;
    case Kind::number:
      out = "a number" + range_text(range);
      break;
    case Kind::text:
      out = choices.empty() ? "a word" : "one of " + join(choices);
      break;
    case Kind::integers:
      out = "a list of whole numbers" + range_text(range);
      break;
    case Kind::numbers:
      out = "a list of numbers" + range_text(range);
      break;
  }
  if (!unit.empty()) out += " (" + unit + ")";
  if (!auto_meaning.empty()) out += ", or auto";
  return out;
}

Value Option::accept(Value const& value) const {
  auto const refuse = [&](std::string const& hint = "") {
    fail("is ", to_text(value), ", expected ", expectation(), hint);
  };
  if (std::holds_alternative<Auto>(value)) {
    if (auto_meaning.empty()) refuse();
    return value;
  }
  double x = 0;
  bool const numeric = std::holds_alternative<std::int64_t>(value) || std::holds_alternative<double>(value);
  if (numeric)
    x = std::holds_alternative<double>(value) ? std::get<double>(value)
                                              : static_cast<double>(std::get<std::int64_t>(value));
  switch (kind) {
    case Kind::boolean:
      if (!std::holds_alternative<bool>(value)) refuse();
      return value;
    case Kind::integer:
      if (!numeric || x != std::floor(x) || !inside(range, x)) refuse();
      if (double const most = std::min(held.most, 0x1p53); x > most) refuse(text("; at most ", std::int64_t(most)));
      if (double const least = std::max(held.least, -0x1p53); x < least)
        refuse(text("; at least ", std::int64_t(least)));
      return static_cast<std::int64_t>(x);
    case Kind::number:
      if (!numeric || !std::isfinite(x) || !inside(range, x)) refuse();
      return x;
    case Kind::text: {
      if (!std::holds_alternative<std::string>(value)) refuse();
      auto const& word = std::get<std::string>(value);
      for (auto const& choice : choices)
        if (choice == word) return value;
      if (!choices.empty()) {
        std::string const near = nearest(word, choices);
        refuse(near.empty() ? "" : "; did you mean " + near + "?");
      }
      if (static_cast<double>(word.size()) > held.most)
        refuse(text("; it has ", word.size(), " bytes, at most ", std::int64_t(held.most)));
      return value;
    }
    case Kind::integers:
    case Kind::numbers: {
      if (!std::holds_alternative<std::vector<double>>(value)) refuse();
      auto const& list = std::get<std::vector<double>>(value);
      if (list.size() > static_cast<std::size_t>(Numbers::capacity))
        refuse(text(" with at most ", Numbers::capacity, " entries"));
      for (double entry : list)
        if (!std::isfinite(entry) || !inside(range, entry) || (kind == Kind::integers && entry != std::floor(entry)))
          refuse();
      return value;
    }
  }
  return value;
}

namespace {
template <class M>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<M, bool>)
    return Kind::boolean;
  else if constexpr (std::is_integral_v<M> || std::is_same_v<M, std::optional<int>>)
    return Kind::integer;
  else if constexpr (std::is_same_v<M, Numbers>)
    return Kind::numbers;
  else if constexpr (std::is_same_v<M, Text>)
    return Kind::text;
  else
    return Kind::number;
}

template <class Int>
constexpr Range all_of() {
  using Limits = std::numeric_limits<Int>;
  return between(static_cast<double>(Limits::min()), static_cast<double>(Limits::max()));
}
template <class M>
constexpr Range held_in() {
  if constexpr (std::is_same_v<M, std::optional<int>>)
    return all_of<int>();
  else if constexpr (std::is_integral_v<M> && !std::is_same_v<M, bool>)
    return all_of<M>();
  else if constexpr (std::is_same_v<M, Text>)
    return between(0, Text::capacity - 1);
  else
    return {};
}

template <class M>
Value read(void const* member) {
  M const& m = *static_cast<M const*>(member);
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
void write(void* member, Value const& v) {
  M& m = *static_cast<M*>(member);
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
}  // namespace

template <class M>
MemberType const& member_type() {
  static constexpr MemberType type{kind_of<M>(), held_in<M>(), read<M>, write<M>};
  return type;
}
template MemberType const& member_type<bool>();
template MemberType const& member_type<char>();
template MemberType const& member_type<signed char>();
template MemberType const& member_type<unsigned char>();
template MemberType const& member_type<short>();
template MemberType const& member_type<unsigned short>();
template MemberType const& member_type<int>();
template MemberType const& member_type<unsigned>();
template MemberType const& member_type<long>();
template MemberType const& member_type<unsigned long>();
template MemberType const& member_type<long long>();
template MemberType const& member_type<unsigned long long>();
template MemberType const& member_type<double>();
template MemberType const& member_type<std::optional<int>>();
template MemberType const& member_type<std::optional<double>>();
template MemberType const& member_type<Numbers>();
template MemberType const& member_type<Text>();

namespace {
template <class Int>
void store_as(char* member, std::int64_t number) {
  Int const narrowed = static_cast<Int>(number);
  std::memcpy(member, &narrowed, sizeof narrowed);
}
/// The number of an enumerator, into an enum of so many bytes.
void store(char* member, std::size_t bytes, std::int64_t number) {
  auto* const as = bytes == 1   ? store_as<std::int8_t>
                   : bytes == 2 ? store_as<std::int16_t>
                   : bytes == 4 ? store_as<std::int32_t>
                                : store_as<std::int64_t>;
  as(member, number);
}
}  // namespace

struct OptionTable::Member {
  std::ptrdiff_t offset;
  MemberType const* type;             ///< null: an enum
  std::size_t bytes = 0;              ///< of the enum
  std::int64_t fallback = 0;          ///< of the enum
  std::vector<std::int64_t> numbers;  ///< behind the enum's words

  void set(char* plugin, Option const& option, Value const& value) const {
    if (type) return type->write(plugin + offset, value);
    auto const& word = std::get<std::string>(value);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      if (option.choices[i] == word) store(plugin + offset, bytes, numbers[i]);
  }
};

struct OptionTable::Entries {
  std::vector<Option> options;
  std::vector<Member> members;  ///< one an option
};

OptionTable::OptionTable() : entries_(std::make_unique<Entries>()) {}
OptionTable::OptionTable(OptionTable const& other) : entries_(std::make_unique<Entries>(*other.entries_)) {}
OptionTable::OptionTable(OptionTable&&) noexcept = default;
OptionTable::~OptionTable() = default;

std::vector<Option> const& OptionTable::options() const { return entries_->options; }

void OptionTable::add(std::string_view name, std::string_view help, MemberType const& type, void const* member,
                      std::ptrdiff_t offset) {
  Option option{.name = std::string(name), .help = std::string(help), .kind = type.kind, .fallback = type.read(member)};
  option.held = type.held;
  entries_->options.push_back(std::move(option));
  entries_->members.push_back({offset, &type});
}

void OptionTable::add_choice(std::string_view name, std::string_view help, std::size_t bytes, std::int64_t fallback,
                             std::ptrdiff_t offset) {
  entries_->options.push_back({.name = std::string(name), .help = std::string(help), .kind = Kind::text});
  entries_->members.push_back({offset, nullptr, bytes, fallback});
}
void OptionTable::add_word(std::string_view word, std::int64_t value) {
  Option& option = entries_->options.back();
  Member& member = entries_->members.back();
  option.choices.emplace_back(word);
  member.numbers.push_back(value);
  if (value == member.fallback) option.fallback = option.choices.back();
}

void OptionTable::tag(Range range) { entries_->options.back().range = range; }
void OptionTable::tag(Unit unit) { entries_->options.back().unit = unit.name; }
void OptionTable::tag(MayBeAuto meaning) { entries_->options.back().auto_meaning = meaning.meaning; }
void OptionTable::tag(Required) { entries_->options.back().fallback.reset(); }

void OptionTable::write(void* plugin, Options const& values) const {
  for (std::size_t i = 0; i < entries_->options.size(); ++i) {
    Option const& option = entries_->options[i];
    auto const value = values.find(option.name);
    if (value != values.end()) entries_->members[i].set(static_cast<char*>(plugin), option, value->second);
  }
}

}  // namespace sextant::encoding
