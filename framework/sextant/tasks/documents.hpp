// A corpus is a row of documents: books, chapters, pages of a manual. Here they are told apart, and some held out whole.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace sextant::tasks {

/// Where a document lies in a text, in bytes.
struct Document {
  std::string name;
  std::int64_t offset = 0, length = 0;
  bool operator==(Document const&) const = default;
};

/// A text and the documents it consists of, in order, without gaps.
struct DocumentText {
  std::string text;
  std::vector<Document> documents;
};

/// Takes a stream apart in which every document follows a line that names it and begins with the control character RS
/// (0x1E). A stream without RS is one document, called `name`. Throws Error for text before the first line and for two
/// documents of one name; documents without text are left out.
DocumentText parse_documents(std::string const& stream, std::string const& name);

/// Which documents train and which test, in the order of the text. A document's place in the draw is the SHA-256 of its
/// name: it depends on no other document. The first of the draw are tested on, until their share of the bytes is reached;
/// the last are trained on, until theirs is. Shares as in split(). Throws Error with fewer than two documents.
struct Division {
  std::vector<Document> train, test;
};
Division divide(std::vector<Document> const& documents, double train_share, double test_share);

}  // namespace sextant::tasks
