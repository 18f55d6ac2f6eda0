// What a page shows of a study in one place: a line plot or maps, with one name for what both can do.
#pragma once
#include <sextant/report/maps.hpp>

#include <variant>

namespace sextant::report {

using Figure = std::variant<Chart, Maps>;

std::string const& id_of(Figure const& figure);
std::string const& title_of(Figure const& figure);
std::string const& caption_of(Figure const& figure);
std::vector<std::string> const& notes_of(Figure const& figure);
/// The same under another word, so that several may stand on one page.
Figure with_id(Figure figure, std::string id);

std::string svg_inline(Figure const& figure, Layout layout);
std::string svg_file(Figure const& figure);
/// The data behind it as CSV.
std::string csv_of(Figure const& figure);

}  // namespace sextant::report
