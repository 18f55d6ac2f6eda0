// Translations as tests ask for them.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/translate.hpp>
#include <sextant/spec/number.hpp>

#include <catch2/catch_all.hpp>
#include <sextant/base/json.hpp>

#include "support/complaint.hpp"
#include "support/data_file.hpp"
#include "support/holds.hpp"

namespace sextant::test {
using dialect::Form;
using dialect::Given;
using encoding::Registry;
using encoding::Role;
using nlohmann::json;

inline Registry const& plugins() { return Registry::global(); }

inline dialect::Translation translated(std::string const& from, std::string const& to, std::string const& text,
                                       Given const& given = {}) {
  return dialect::translate(dialect::dialect(from), dialect::dialect(to), text, "there", given, plugins());
}
inline std::string refused(std::string const& from, std::string const& to, std::string const& text,
                           Given const& given = {}) {
  return complaint([&] { translated(from, to, text, given); });
}
inline Form read_as(std::string const& from, std::string const& text, Given const& given = {}) {
  return dialect::canonical(dialect::dialect(from).read(text, "there", given, plugins()).form, plugins());
}
inline encoding::Position::Frequencies ladder_at(Form const& form, double length, int kind = 0) {
  return dialect::ladder(form.kinds.at(static_cast<std::size_t>(kind)), form, plugins(), length);
}

}  // namespace sextant::test
