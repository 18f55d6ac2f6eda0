// A winner in the words of other programs.
#pragma once
#include <sextant/dialect/dialect.hpp>
#include <sextant/search/search.hpp>

namespace sextant::search {

struct Export {
  std::string dialect, file;  ///< sextant, winner.yaml; hf, winner.config.json; gguf, winner.gguf.txt
  std::string text;           ///< empty where the dialect has no words for it,
  std::string why_not;        ///< with the reason
  dialect::Remarks remarks;
};

/// `architecture` begins GGUF keys; empty: llama.
std::vector<Export> exports_of(Task const& task, Row const& winner, std::string const& architecture);

}  // namespace sextant::search
