#include <sextant/report/text.hpp>
#include <sextant/search/tables.hpp>

#include <cmath>

namespace sextant::search {
namespace {
using report::Align;
using report::cat;
using report::Table;
using results::Group;

/// A point that the tables show.
struct Shown {
  std::string name;
  Group const* course;
  std::size_t at;  ///< which of the evaluations
  std::int64_t evaluations;
};

/// The published lists that evolution began with, then the winner of each method.
std::vector<Shown> shown_of(Group const& search) {
  std::vector<Shown> out;
  auto const& first = search.group("evolution");
  auto const& origins = first.texts("origin");
  for (std::size_t k = 0; k < origins.size(); ++k)
    if (origins[k] != "mutation" && origins[k] != "crossover") out.push_back({origins[k], &first, k, 1});
  auto const budget = search.attribute<std::int64_t>("budget");
  for (auto const& [method, course] : search.groups)
    out.push_back({method, &course, static_cast<std::size_t>(course.attribute<std::int64_t>("winner")) - 1, budget});
  return out;
}

Table methods_table(Group const& search) {
  Table out{.title = cat({"Search objective (", search.attribute<std::string>("objective"), " at ",
                          report::grouped(search.attribute<std::int64_t>("target_length")),
                          " tokens of the search documents), nat/token"})};
  out.columns = {{"point", Align::left},        {"objective", Align::right},   {"found at", Align::right},
                 {"evaluations", Align::right}, {"kept tokens", Align::right}, {"magnitude", Align::right}};
  for (auto const& [name, course, at, evaluations] : shown_of(search))
    out.rows.push_back({{name},
                        {report::fixed(course->numbers("objective")[at], 4)},
                        {std::to_string(at + 1)},
                        {std::to_string(evaluations)},
                        {std::to_string(course->integers("kept_tokens")[at])},
                        {report::fixed(course->numbers("magnitude")[at], 4)}});
  out.notes.emplace_back(
      "linear, ntk and yarn are points of the search space. Every method evaluated as many points; evolution and "
      "random begin with the three lists, yarn-tuned with the released parameters.");
  return out;
}

Table factors_table(Group const& search) {
  Table out{.title = "Divisors of frequencies by pair, the fastest first"};
  out.columns = {{"pair", Align::right}};
  std::vector<std::vector<double>> columns;
  for (auto const& [name, course, at, evaluations] : shown_of(search)) {
    auto const all = course->numbers("factors");
    std::size_t const pairs = course->array("factors").shape[1];
    columns.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at * pairs),
                         all.begin() + static_cast<std::ptrdiff_t>((at + 1) * pairs));
    out.columns.push_back({name, Align::right});
  }
  for (std::size_t pair = 0; pair < columns.front().size(); ++pair) {
    std::vector<report::TableCell> row{{std::to_string(pair)}};
    for (auto const& column : columns) row.push_back({report::fixed(column[pair], 3)});
    out.rows.push_back(std::move(row));
  }
  return out;
}
}  // namespace

std::vector<Table> tables_of(Group const& study) {
  auto const& search = study.group("search");
  return {methods_table(search), factors_table(search)};
}

}  // namespace sextant::search
