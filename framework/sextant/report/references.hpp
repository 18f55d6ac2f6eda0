// The papers and programs behind encodings and scalings, as BibTeX (references.bib).
#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sextant::report {

struct Reference {
  std::string key;               ///< peng2023yarn
  std::string bibtex;            ///< the entry, without what only Sextant reads
  std::vector<std::string> ids;  ///< what a source may call it: "arXiv:2309.00071", "kexue.fm/archives/9708"
};

/// Entries of a .bib text. Throws Error with the line for one that is cut short or says nothing to find it by.
std::vector<Reference> read_references(std::string_view bib);
/// Those that Sextant was built with, in the order of the file.
std::vector<Reference> const& references();

/// What a source such as "kexue.fm/archives/8823, arXiv:2202.12172" refers to.
struct Resolved {
  std::vector<Reference const*> found;
  std::string rest;  ///< what of the source names nothing that is known; empty when all of it does
};
Resolved resolve(std::string const& source);

/// A source, and who states it.
struct Cited {
  std::string by, source;
};
/// Every entry once, above it who uses it, and what could not be found as comments.
std::string bibliography(std::vector<Cited> const& cited);
/// The same as a JSON list of {key, bibtex, used_by}, and {source, used_by} for what could not be found.
std::string bibliography_json(std::vector<Cited> const& cited);

}  // namespace sextant::report
