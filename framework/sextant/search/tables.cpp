#include <sextant/report/text.hpp>
#include <sextant/search/tables.hpp>

#include <cmath>

namespace sextant::search {
namespace {
using report::Align;
using report::cat;
using report::Table;
using results::Group;

std::size_t winner_of(Group const& course) {
  return static_cast<std::size_t>(course.attribute<std::int64_t>("winner")) - 1;
}

Table methods_table(Group const& search) {
  auto const budget = search.attribute<std::int64_t>("budget");
  Table out{.title = cat({"Search objective (", search.attribute<std::string>("objective"), " at ",
                          report::grouped(search.attribute<std::int64_t>("target_length")),
                          " tokens of the search documents), nat/token"})};
  out.columns = {{"point", Align::left},        {"objective", Align::right},   {"found at", Align::right},
                 {"evaluations", Align::right}, {"kept tokens", Align::right}, {"magnitude", Align::right}};
  auto const row = [&](std::string const& name, Group const& course, std::size_t at, std::string const& evaluations) {
    out.rows.push_back({{name},
                        {report::fixed(course.numbers("objective")[at], 4)},
                        {std::to_string(at + 1)},
                        {evaluations},
                        {std::to_string(course.integers("kept_tokens")[at])},
                        {report::fixed(course.numbers("magnitude")[at], 4)}});
  };
  auto const& first = search.group("evolution");
  for (std::size_t k = 0; k < first.texts("origin").size(); ++k) {
    auto const& origin = first.texts("origin")[k];
    if (origin != "mutation" && origin != "crossover") row(origin, first, k, "1");
  }
  for (auto const& [method, course] : search.groups) row(method, course, winner_of(course), std::to_string(budget));
  out.notes.emplace_back(
      "linear, ntk and yarn are points of the search space. Every method evaluated as many points; evolution and "
      "random "
      "begin with the three lists, yarn-tuned with the released parameters.");
  return out;
}

Table factors_table(Group const& search) {
  Table out{.title = "Divisors of frequencies by pair, the fastest first"};
  out.columns = {{"pair", Align::right}};
  std::vector<std::vector<double>> columns;
  auto const add = [&](std::string const& name, Group const& course, std::size_t at) {
    auto const all = course.numbers("factors");
    std::size_t const pairs = course.array("factors").shape[1];
    columns.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(at * pairs),
                         all.begin() + static_cast<std::ptrdiff_t>((at + 1) * pairs));
    out.columns.push_back({name, Align::right});
  };
  auto const& first = search.group("evolution");
  for (std::size_t k = 0; k < first.texts("origin").size(); ++k) {
    auto const& origin = first.texts("origin")[k];
    if (origin != "mutation" && origin != "crossover") add(origin, first, k);
  }
  for (auto const& [method, course] : search.groups) add(method, course, winner_of(course));
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
