#include <sextant/base/error.hpp>
#include <sextant/report/style.hpp>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string_view>

namespace sextant::report {

std::array<Ink, ink_count> const inks{{
    {"#0072b2", "#58aef0", "blue"},
    {"#d55e00", "#ff8f4d", "vermilion"},
    {"#00875f", "#35cf9f", "bluish green"},
    {"#b8578f", "#f09cc9", "reddish purple"},
    {"#a17c00", "#f0d442", "yellow"},
    {"#2f97d0", "#9bdcff", "sky blue"},
    {"#6b7280", "#aab3c0", "grey"},
    {"#5b4bb5", "#a99cff", "indigo"},
    {"#8a4b0f", "#d9a066", "brown"},
    {"#8e2257", "#e8739f", "wine"},
    {"#2a857b", "#72d9cb", "teal"},
    {"#74751a", "#cbcb5e", "olive"},
}};

namespace {
struct Known {
  std::string_view name;
  int ink;
  Marker marker;
};
constexpr Known known_encodings[] = {
    {"rope", 0, Marker::circle},
    {"alibi", 1, Marker::triangle},
    {"rope+alibi", 2, Marker::diamond},
    {"direct_sum", 3, Marker::square},
    {"direct_sum(rope,alibi)", 3, Marker::down},
    {"sinusoidal", 4, Marker::down},
    {"t5", 5, Marker::plus},
    {"nope", 6, Marker::cross},
    {"learned", 7, Marker::star},
    {"fox", 8, Marker::square},
    {"grape_m", 9, Marker::down},
    {"grape_a", 10, Marker::star},
    {"segmented_theta", 11, Marker::circle},
};

struct KnownScaling {
  std::string_view name;
  char const* dash;
  Marker marker;
};
constexpr KnownScaling known_scalings[] = {
    {"linear", "7 3", Marker::square}, {"ntk", "2 3", Marker::triangle}, {"yarn", "9 3 2 3", Marker::diamond}};

constexpr char const* dashes[] = {"7 3", "2 3", "9 3 2 3", "12 4", "4 2 1 2"};
constexpr Marker markers[] = {Marker::circle, Marker::square, Marker::triangle, Marker::diamond,
                              Marker::down,   Marker::cross,  Marker::plus,     Marker::star};
constexpr int hashed_looks = ink_count * std::size(dashes) * std::size(markers);

std::uint64_t hash(std::string_view text) {  // FNV-1a
  std::uint64_t h = 0xCBF29CE484222325ull;
  for (char const c : text) h = (h ^ static_cast<unsigned char>(c)) * 0x100000001B3ull;
  return h ^ (h >> 29);
}

// Every number below hashed_looks is another combination of colour, dash and marker.
Look hashed(std::uint64_t number, bool hollow) {
  std::size_t const ink = number % ink_count, rest = number / ink_count;
  return {static_cast<int>(ink), dashes[rest % std::size(dashes)],
          markers[rest / std::size(dashes) % std::size(markers)], hollow};
}

// "rope + alibi" is "rope+alibi"; case does not count.
std::string plain(std::string_view name) {
  std::string out;
  for (char const c : name)
    if (c != ' ') out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return out;
}

std::optional<Look> known_look(std::string const& encoding) {
  std::string const name = plain(encoding);
  for (auto const& entry : known_encodings)
    if (name == entry.name) return Look{entry.ink, "", entry.marker, false};
  return std::nullopt;
}

// "yarn", "yarn x4", "yarn xauto" look alike in dash and marker only when they are one label; the first word decides,
// and a further word shifts the marker.
Look scaled_look(Look look, std::string const& scaling) {
  std::string const first = plain(scaling.substr(0, scaling.find(' ')));
  std::string const rest = plain(scaling.substr(std::min(scaling.size(), first.size())));
  Look const by_hash = hashed(hash(plain(scaling)), true);
  look.dash = by_hash.dash;
  look.marker = by_hash.marker;
  look.hollow = true;
  for (auto const& entry : known_scalings)
    if (first == entry.name) {
      look.dash = entry.dash;
      if (rest.empty() || rest == "xauto") look.marker = entry.marker;
    }
  return look;
}
}  // namespace

Look look_of(Arm const& arm) {
  auto const known = known_look(arm.encoding);
  Look const base = known ? *known : hashed(hash(plain(arm.encoding)) % hashed_looks, false);
  return arm.scaled() ? scaled_look(base, arm.scaling) : base;
}

Looks::Looks(std::vector<Arm> const& arms) {
  std::vector<Arm> waiting;
  for (auto const& arm : arms)
    if (known_look(arm.encoding) && !arm.scaled())
      by_label_.emplace(arm.label(), look_of(arm));
    else
      waiting.push_back(arm);
  std::sort(waiting.begin(), waiting.end(), [](Arm const& a, Arm const& b) {
    bool const known_a = known_look(a.encoding).has_value(), known_b = known_look(b.encoding).has_value();
    return known_a != known_b ? known_a : a.label() < b.label();
  });
  auto const taken = [&](Look const& look) {
    return std::any_of(by_label_.begin(), by_label_.end(), [&](auto const& entry) { return entry.second == look; });
  };
  for (auto const& arm : waiting) {
    if (by_label_.contains(arm.label())) continue;
    Look look = look_of(arm);
    std::uint64_t const start = hash(arm.label());
    // A scaled arm keeps its encoding's colour as long as one of its dashes and markers is free.
    for (std::uint64_t step = 0; taken(look) && step < hashed_looks; ++step) {
      Look const next = hashed(start + step * (arm.scaled() ? ink_count : 1), arm.scaled());
      look = {arm.scaled() ? look.ink : next.ink, next.dash, next.marker, next.hollow};
    }
    by_label_.emplace(arm.label(), look);
  }
}

Look const& Looks::of(Arm const& arm) const {
  auto const at = by_label_.find(arm.label());
  if (at != by_label_.end()) return at->second;
  std::vector<std::string> known;
  for (auto const& entry : by_label_) known.push_back(entry.first);
  fail("report: no look was chosen for arm ", arm.label(), did_you_mean(arm.label(), known));
}

}  // namespace sextant::report
