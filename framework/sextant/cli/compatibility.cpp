#include <sextant/cli/compatibility.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>
#include <array>

namespace sextant::cli {
namespace {
using inspect::Combination;
using inspect::Compatibility;
using inspect::Composition;
constexpr std::array compositions = {Composition::scaling, Composition::sum, Composition::channels, Composition::heads};

void replace_word(std::string& text, std::string const& word, std::string const& with) {
  auto const inside = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    std::size_t const end = at + word.size();
    bool const whole = (at == 0 || !inside(text[at - 1])) && (end == text.size() || !inside(text[end]));
    if (!whole) continue;
    text.replace(at, word.size(), with);
  }
}

std::string const& second_name(Compatibility const& found, Combination const& c) {
  return (c.composition == Composition::scaling ? found.scalings : found.encodings)[c.second].use;
}

// The reason with the two names taken out, so that one reason for many pairs is one line.
std::string kind_of_reason(Compatibility const& found, Combination const& c) {
  std::string out = c.reason;
  std::string const &first = found.encodings[c.first].use, &second = second_name(found, c);
  replace_word(out, first == second ? first + "_2" : second, "SECOND");
  replace_word(out, first, "FIRST");
  return out;
}

std::string letter(std::size_t n) {
  return n < 26 ? std::string(1, static_cast<char>('a' + n))
                : fmt::format("{}{}", static_cast<char>('a' + n / 26 - 1), static_cast<char>('a' + n % 26));
}

class Legend {
 public:
  std::string of(Compatibility const& found, Combination const& c) {
    std::string const reason = kind_of_reason(found, c);
    auto at = std::find(reasons_.begin(), reasons_.end(), reason);
    if (at == reasons_.end()) at = reasons_.insert(reasons_.end(), reason);
    return letter(static_cast<std::size_t>(at - reasons_.begin()));
  }
  std::string text(bool markdown) const {
    std::string out;
    for (std::size_t n = 0; n < reasons_.size(); ++n)
      out += markdown ? fmt::format("- **{}** {}\n", letter(n), reasons_[n])
                      : fmt::format("  {:>2}  {}\n", letter(n), reasons_[n]);
    return out;
  }

 private:
  std::vector<std::string> reasons_;
};

std::string const yes = "+";

std::string grid(Compatibility const& found, Composition composition, Legend& legend, bool markdown) {
  auto const& columns = composition == Composition::scaling ? found.scalings : found.encodings;
  bool const named = composition == Composition::scaling;  // few columns; else they are numbered as the rows are
  std::string out, row;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    std::string const head = named ? columns[j].use : std::to_string(j + 1);
    out += markdown ? fmt::format(" {} |", head) : fmt::format(" {:>{}}", head, named ? head.size() : 2);
  }
  out = markdown ? "| |" + out + "\n|---|" : fmt::format("{:>28}", "") + out + "\n";
  if (markdown) {
    for (std::size_t j = 0; j < columns.size(); ++j) out += "---|";
    out += "\n";
  }
  for (std::size_t i = 0; i < found.encodings.size(); ++i) {
    row = markdown ? fmt::format("| {} {} |", i + 1, found.encodings[i].use)
                   : fmt::format("{:>3} {:<24}", i + 1, found.encodings[i].use);
    for (auto const& c : found.combinations) {
      if (c.composition != composition || c.first != static_cast<int>(i)) continue;
      std::string const mark = c.reason.empty() ? yes : legend.of(found, c);
      row += markdown
                 ? fmt::format(" {} |", mark)
                 : fmt::format(" {:>{}}", mark, named ? columns[static_cast<std::size_t>(c.second)].use.size() : 2);
    }
    out += row + "\n";
  }
  return out;
}

char const* heading_of(Composition composition) {
  switch (composition) {
    case Composition::scaling:
      return "An encoding (row) under a scaling (column)";
    case Composition::sum:
      return "A sum [row, column]";
    case Composition::channels:
      return "direct_sum over channels, half of each head to row, half to column";
    case Composition::heads:
      return "direct_sum over heads, half of the heads to row, half to column";
  }
  return "";
}
}  // namespace

std::string compatibility_text(Compatibility const& found, bool markdown) {
  auto const shape = inspect::compatibility_shape();
  std::string out =
      fmt::format("{} encodings and {} scalings, asked at {} heads of {} channels: {} works, a letter says why not\n",
                  found.encodings.size(), found.scalings.size(), shape.heads, shape.head_dim, yes);
  Legend legend;
  for (Composition composition : compositions) {
    std::size_t const others = composition == Composition::scaling ? found.scalings.size() : found.encodings.size();
    out += fmt::format("\n{}{}: {} of {} work\n{}", markdown ? "## " : "", heading_of(composition),
                       found.working(composition), found.encodings.size() * others, markdown ? "\n" : "");
    out += grid(found, composition, legend, markdown);
  }
  out += markdown ? "\n## Why not\n\n" : "\nwhy not\n";
  out += legend.text(markdown);
  for (auto const& line : found.not_asked) out += fmt::format("{}not asked: {}\n", markdown ? "\n" : "", line);
  return out;
}

std::string compatibility_json(Compatibility const& found) {
  nlohmann::json out = nlohmann::json::array();
  for (auto const& c : found.combinations)
    out.push_back({{"composition", name_of(c.composition)},
                   {"first", found.encodings[c.first].use},
                   {"second", second_name(found, c)},
                   {"works", c.reason.empty()},
                   {"reason", c.reason}});
  return out.dump(2) + "\n";
}

}  // namespace sextant::cli
