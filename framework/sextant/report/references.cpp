#include <sextant/base/error.hpp>
#include <sextant/report/references.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <sstream>

namespace sextant::build {
extern char const* const references;
}

namespace sextant::report {
namespace {
// The value of a field that stands on a line of its own: `  eprint = {2309.00071},`.
std::string field_of(std::string const& line, std::string_view name) {
  std::size_t const begin = line.find_first_not_of(' '), open = line.find('{'), close = line.rfind('}');
  bool const here = begin != std::string::npos && std::string_view(line).substr(begin).starts_with(name);
  if (!here || open == std::string::npos || close <= open) return "";
  std::string const before = line.substr(begin + name.size(), open - begin - name.size());
  if (before.find_first_not_of(" =") != std::string::npos) return "";
  return line.substr(open + 1, close - open - 1);
}

std::vector<std::string> split(std::string const& list) {
  std::vector<std::string> out;
  std::istringstream in(list);
  for (std::string item; std::getline(in, item, ';');) out.push_back(item.substr(item.find_first_not_of(' ')));
  return out;
}

// Letters and digits around a hit would make it another name: arXiv:2309.00071 is not in arXiv:2309.000712.
std::size_t find_name(std::string const& text, std::string const& name) {
  auto const inner = [&](std::size_t i) {
    return i < text.size() && std::isalnum(static_cast<unsigned char>(text[i]));
  };
  for (std::size_t at = text.find(name); at != std::string::npos; at = text.find(name, at + 1))
    if (!(at > 0 && inner(at - 1)) && !inner(at + name.size())) return at;
  return std::string::npos;
}

struct Citation {
  Reference const* reference;
  std::vector<std::string> by;
};
void add(std::vector<Citation>& entries, Reference const* reference, std::string const& by) {
  auto at = std::find_if(entries.begin(), entries.end(), [&](Citation const& e) { return e.reference == reference; });
  if (at == entries.end()) at = entries.insert(at, {reference, {}});
  if (std::find(at->by.begin(), at->by.end(), by) == at->by.end()) at->by.push_back(by);
}

/// Entries in the order in which they are first cited, and the sources that are not known.
std::vector<Citation> collect(std::vector<Cited> const& cited, std::vector<Cited>& unknown) {
  std::vector<Citation> entries;
  for (auto const& each : cited) {
    Resolved const resolved = resolve(each.source);
    for (auto const* reference : resolved.found) add(entries, reference, each.by);
    if (resolved.found.empty()) unknown.push_back(each);
  }
  return entries;
}
}  // namespace

std::vector<Reference> read_references(std::string_view bib) {
  std::vector<Reference> out;
  std::istringstream in{std::string(bib)};
  std::string line;
  bool open = false;
  for (int number = 1; std::getline(in, line); ++number) {
    if (line.starts_with('@')) {
      std::size_t const brace = line.find('{'), comma = line.find(',');
      expect(!open && brace != std::string::npos && comma != std::string::npos, "references.bib:", number,
             ": expected an entry such as @misc{key, after the end of the one before");
      out.push_back({line.substr(brace + 1, comma - brace - 1), line + "\n", {}});
      open = true;
    } else if (open) {
      Reference& entry = out.back();
      if (auto const id = field_of(line, "eprint"); !id.empty()) entry.ids.push_back("arXiv:" + id);
      if (auto const url = field_of(line, "url"); !url.empty()) entry.ids.push_back(url.substr(url.find("//") + 2));
      if (auto const sources = field_of(line, "sources"); !sources.empty()) {
        for (auto const& id : split(sources)) entry.ids.push_back(id);
        continue;
      }
      entry.bibtex += line + "\n";
      if (line != "}") continue;
      open = false;
      expect(!entry.ids.empty(), "references.bib:", number, ": ", entry.key, " has no eprint, url or sources");
    }
  }
  expect(!open, "references.bib: ", out.empty() ? "" : out.back().key, " is cut short, expected a line with } alone");
  return out;
}

std::vector<Reference> const& references() {
  static auto const all = read_references(build::references);
  return all;
}

Resolved resolve(std::string const& source) {
  Resolved out;
  out.rest = source;
  for (auto const& reference : references())
    for (auto const& id : reference.ids) {
      std::size_t const at = find_name(out.rest, id);
      if (at == std::string::npos) continue;
      out.rest.erase(at, id.size());
      out.found.push_back(&reference);
      break;
    }
  if (out.rest.find_first_not_of(" ,;") == std::string::npos) out.rest.clear();
  return out;
}

std::string bibliography(std::vector<Cited> const& cited) {
  std::vector<Cited> unknown;
  std::string out;
  for (auto const& entry : collect(cited, unknown)) {
    std::string bibtex = entry.reference->bibtex;
    if (auto const last = bibtex.rfind(",\n}"); last != std::string::npos && last + 4 == bibtex.size())
      bibtex.erase(last, 1);
    out += text(out.empty() ? "" : "\n", "% ", join(entry.by), "\n", bibtex);
  }
  for (auto const& each : unknown) out += text("\n% ", each.by, ": no entry for ", each.source, "\n");
  return out;
}

std::string bibliography_json(std::vector<Cited> const& cited) {
  std::vector<Cited> unknown;
  auto out = nlohmann::json::array();
  for (auto const& entry : collect(cited, unknown))
    out.push_back({{"key", entry.reference->key}, {"bibtex", entry.reference->bibtex}, {"used_by", entry.by}});
  for (auto const& each : unknown) out.push_back({{"source", each.source}, {"used_by", {each.by}}});
  return out.dump(2) + "\n";
}

}  // namespace sextant::report
