// From one dialect to another, checked: what was written is read again, and both sides must turn alike.
#pragma once
#include <sextant/dialect/dialect.hpp>

namespace sextant::dialect {

/// One kind of layers in rows of one length, on both sides.
struct Comparison {
  std::string kind;
  double length = 0;  ///< tokens
  encoding::Position::Frequencies read, written;
};

struct Translation {
  std::string text;
  Remarks remarks;  ///< of reading and of writing
  Form form;        ///< as read
  std::vector<Comparison> sides;
  double largest_difference = 0;  ///< of frequencies and magnitudes over all sides, relative
};

/// Throws Error for what cannot be read, cannot be written, or would turn differently on the other side.
Translation translate(Dialect const& from, Dialect const& to, std::string const& text, std::string const& source,
                      Given const& given, Registry const& registry);

}  // namespace sextant::dialect
