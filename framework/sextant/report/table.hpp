// Tables of text and their renderings; the two tables of a comparison are made here.
#pragma once
#include <sextant/report/compare.hpp>

#include <string>
#include <vector>

namespace sextant::report {

enum class Align { left, right };

struct Column {
  std::string header;
  Align align = Align::right;
  bool trained = false;  ///< the length that the arms were trained at
};

struct TableCell {
  std::string text;
  Mark mark = Mark::none;
  bool muted = false;  ///< nothing was measured here
};

/// A table as text: every row has one cell a column. Notes are sentences that belong under it.
struct Table {
  std::string title;
  std::vector<Column> columns;
  std::vector<std::vector<TableCell>> rows;
  std::vector<std::string> notes;
};

/// Places that suit all means of the comparison.
int decimals_of(Comparison const& comparison);
/// "1.234 ± 0.005": a mean and half of its interval, the mean alone where there is none; `missing` without a mean.
std::string mean_text(Summary const& found, int decimals);

/// Rows: arms. Columns: lengths. Cells: mean +- half width of the interval over seeds; best and tied are marked.
Table results_table(Comparison const& comparison);

/// One row for each arm and length that shares a seed with its baseline: difference, interval, p, p after Holm, effect size, pairs.
Table differences_table(Comparison const& comparison);

struct TerminalLook {
  bool colour = false;
  int columns = 0;  ///< width of the terminal; 0: never split a wide table
};
/// Colour when `fd` is a terminal that has it and NO_COLOR is unset or empty; width of that terminal.
TerminalLook terminal_look(int fd);

std::string to_terminal(Table const& table, TerminalLook const& look = {});
std::string to_markdown(Table const& table);
std::string to_latex(Table const& table);  ///< needs the booktabs package
std::string to_csv(Table const& table);    ///< the same text as seen; comparison_csv has the full numbers

/// One line a cell, every number in full: study, encoding, scaling, probe, region, metric, length, trained, n,
/// not_finite, mean, sd, low, high, mark, baseline, difference, difference_low, difference_high, p, p_holm, effect,
/// units, rivals (an index into Comparison::rivals: whom the mark is among), rivals_name. What does not exist is an empty field.
std::string comparison_csv(Comparison const& comparison);

/// The same as one JSON object, with the values of each seed and the rows of each group of rivals; what does not exist is null.
std::string comparison_json(Comparison const& comparison);

enum class Format { terminal, markdown, csv, latex, json };
Format format_from(std::string const& name);  ///< throws Error naming the known ones

/// The table alone, as text: terminal, Markdown or LaTeX. Throws Error for the formats of full numbers.
std::string render(Table const& table, Format format, TerminalLook const& look = {});

/// What `sextant compare` and the end of `sextant run` print: the result table and, with a baseline, the differences.
std::string render(Comparison const& comparison, Format format, TerminalLook const& look = {});

}  // namespace sextant::report
