// The texts that Sextant knows how to make, all from packages of Debian.
#include <sextant/tasks/corpus.hpp>

namespace sextant::tasks {
namespace {

/// Files, compressed or not, each a document called by its path below `root`; in the order of the C locale.
std::string files(std::string const& root, std::string const& select) {
  return "LC_ALL=C; export LC_ALL; cd " + root + " && find . -type f " + select +
         " | sed 's|^\\./||' | sort | while IFS= read -r f; do printf '\\036%s\\n' \"$f\"; zcat -f \"$f\" | tr -d "
         "'\\036'"
         "; done";
}

}  // namespace

std::vector<CorpusRecipe> const& corpus_recipes() {
  static std::vector<CorpusRecipe> const recipes = {
      {"kjv",
       "King James Bible as its reader prints it: chapter headings, verse numbers, lines of 80 columns",
       {"bible-kjv", "bible-kjv-text"},
       "text: public domain (copyright expired); packing program: GPL-2+",
       "bible -l80 gen1:1-rev22:21"},
      {"kjv-plain",
       "King James Bible, a verse a line, without headings and verse numbers",
       {"bible-kjv", "bible-kjv-text"},
       "text: public domain (copyright expired); packing program: GPL-2+",
       "bible -l100000 gen1:1-rev22:21 | LC_ALL=C sed -n 's/^  [0-9][0-9]* //p'"},
      {"faq",
       "An Anarchist FAQ, Markdown: long prose in English",
       {"anarchism"},
       "GPL-2",
       files("/usr/share/doc/anarchism/markdown", "-name '*.md.gz'")},
      {"perl",
       "Perl's manual, POD: long technical documents",
       {"perl-doc"},
       "Artistic or GPL-1+",
       "LC_ALL=C; export LC_ALL; dpkg -L perl-doc | grep '\\.pod$' | sort | while IFS= read -r f; do "
       "printf '\\036%s\\n' \"${f#/usr/share/perl/}\"; tr -d '\\036' <\"$f\"; done"},
      {"python",
       "Python's documentation, reStructuredText: technical prose with code",
       {"python3.11-doc"},
       "PSF-2",
       files("/usr/share/doc/python3.11/html/_sources", "-name '*.rst.txt'")},
      {"kernel",
       "the Linux kernel's documentation, reStructuredText: technical prose in English",
       {"linux-doc-6.1"},
       "GPL-2 (mostly)",
       files("/usr/share/doc/linux-doc-6.1/Documentation", "-name '*.rst.gz' ! -path './translations/*'")},
      {"zh",
       "manual pages in Chinese (simplified), with their roff marks: characters of several bytes",
       {"manpages-zh"},
       "GFDL-1.2+ (mostly)",
       files("/usr/share/man/zh_CN", "-name '*.gz'")},
  };
  return recipes;
}

}  // namespace sextant::tasks
