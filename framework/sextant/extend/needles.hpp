// Passkeys: a sentence with five digits somewhere in a document, asked for at its end.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// A text of `length` tokens whose last ones ask for `key`, which is told after `depth` (0 to 1) of the document; the answer
/// follows.
struct Needle {
  std::vector<std::int32_t> tokens;
  int answer = 0;  ///< tokens at the end that are the answer
};
Needle make_needle(Subject const& subject, Document const& document, int length, double depth, int key);

/// How the model does on the last tokens of a text.
struct Answer {
  bool correct = true;  ///< every token is the likeliest, given those before it
  double loss = 0;      ///< nat/token
};
Answer answer_of(Exec const& exec, run::Network& network, Needle const& needle);
/// Five digits, the same for every arm.
int passkey(std::uint64_t number);

/// eval/needle: by depth and length, whether every token of the answer is the likeliest given those before it, and its loss.
results::Group measure_needles(Exec const& exec, Work const& work, Arm const& arm, run::Progress& progress);

}  // namespace sextant::extend
