// Each way to write a Table: aligned for a terminal, Markdown, LaTeX, CSV; and the full numbers as CSV and JSON.
#include <sextant/report/json.hpp>
#include <sextant/report/table.hpp>
#include <sextant/report/text.hpp>

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace sextant::report {
namespace {
std::string one_line(std::string const& text) {
  std::string out = clean_utf8(text);
  std::replace(out.begin(), out.end(), '\n', ' ');
  std::replace(out.begin(), out.end(), '\t', ' ');
  return out;
}

std::string_view mark_text(Mark mark) { return mark == Mark::best ? " ●" : mark == Mark::tied ? " ○" : ""; }

std::string padded(std::string const& text, int width, Align align) {
  std::string const space(static_cast<std::size_t>(std::max(0, width - display_width(text))), ' ');
  return align == Align::left ? text + space : space + text;
}

bool has_marks(Table const& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(),
                     [column](auto const& row) { return row[column].mark != Mark::none; });
}

// Widths in terminal columns. A marked column keeps two more for the mark, so that the numbers stay in line.
std::vector<int> widths_of(Table const& table, int widest_label) {
  std::vector<int> widths;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    int width = display_width(one_line(table.columns[c].header));
    for (auto const& row : table.rows) width = std::max(width, display_width(one_line(row[c].text)));
    if (c == 0) width = std::min(width, widest_label);
    widths.push_back(width + (has_marks(table, c) ? 2 : 0));
  }
  return widths;
}

std::string terminal_cell(Table const& table, TableCell const& cell, std::size_t column, int width, bool colour) {
  bool const marks = has_marks(table, column);
  std::string const mark = marks ? (cell.mark == Mark::none ? "  " : std::string(mark_text(cell.mark))) : "";
  std::string const text = ellipsize(one_line(cell.text), width);
  std::string out = padded(text, width - (marks ? 2 : 0), table.columns[column].align) + mark;
  if (!colour) return out;
  char const* const on = cell.mark == Mark::best   ? "\x1b[1;32m"
                         : cell.mark == Mark::tied ? "\x1b[32m"
                         : cell.muted              ? "\x1b[2m"
                                                   : "";
  return *on ? cat({on, out, "\x1b[0m"}) : out;
}

void terminal_panel(std::string& out, Table const& table, std::vector<int> const& widths,
                    std::vector<std::size_t> const& columns, bool colour) {
  std::string const bold = colour ? "\x1b[1m" : "", off = colour ? "\x1b[0m" : "";
  std::string head, rule;
  for (std::size_t const c : columns) {
    bool const marks = has_marks(table, c);
    std::string const text = padded(ellipsize(one_line(table.columns[c].header), widths[c]),
                                    widths[c] - (marks ? 2 : 0), table.columns[c].align);
    head += cat({c == columns.front() ? "" : "  ", text, marks ? "  " : ""});
    rule += c == columns.front() ? "" : "  ";
    for (int i = 0; i < widths[c]; ++i) rule += "─";
  }
  head.erase(head.find_last_not_of(' ') + 1);
  out += cat({bold, head, off, "\n", rule, "\n"});
  for (auto const& row : table.rows) {
    std::string line;
    for (std::size_t const c : columns)
      line += cat({c == columns.front() ? "" : "  ", terminal_cell(table, row[c], c, widths[c], colour)});
    line.erase(line.find_last_not_of(' ') + 1);
    out += cat({line, "\n"});
  }
}

char const* mark_name(Mark mark) { return mark == Mark::best ? "best" : mark == Mark::tied ? "tied" : ""; }
}  // namespace

TerminalLook terminal_look(int fd) {
  TerminalLook look;
  if (!::isatty(fd)) return look;
  char const* const no_color = std::getenv("NO_COLOR");
  char const* const term = std::getenv("TERM");
  look.colour = !(no_color && *no_color) && !(term && std::string_view(term) == "dumb");
  winsize size{};
  if (::ioctl(fd, TIOCGWINSZ, &size) == 0) look.columns = size.ws_col;
  return look;
}

std::string to_terminal(Table const& table, TerminalLook const& look) {
  int const widest_label = look.columns > 0 ? std::max(12, look.columns / 3) : 60;
  auto const widths = widths_of(table, widest_label);
  std::string out = cat({one_line(table.title), "\n\n"});
  for (std::size_t next = 1; next < table.columns.size() || next == 1;) {
    std::vector<std::size_t> columns{0};
    int used = widths[0];
    while (next < table.columns.size()) {
      bool const fits = look.columns == 0 || used + 2 + widths[next] <= look.columns || columns.size() == 1;
      if (!fits) break;
      used += 2 + widths[next];
      columns.push_back(next++);
    }
    terminal_panel(out, table, widths, columns, look.colour);
    if (columns.size() == 1) break;
    if (next < table.columns.size()) out += "\n";
  }
  if (!table.notes.empty()) out += "\n";
  for (auto const& note : table.notes) out += cat({one_line(note), "\n"});
  return out;
}

std::string to_markdown(Table const& table) {
  std::string out = cat({"**", escape_markdown(one_line(table.title)), "**\n\n|"});
  for (auto const& column : table.columns) out += cat({" ", escape_markdown(one_line(column.header)), " |"});
  out += "\n|";
  for (auto const& column : table.columns) out += column.align == Align::left ? "---|" : "--:|";
  out += "\n";
  for (auto const& row : table.rows) {
    out += "|";
    for (auto const& cell : row) {
      std::string const text = escape_markdown(one_line(cell.text));
      char const* const bold = cell.mark == Mark::best ? "**" : "";
      out += cat({" ", bold, text, bold, mark_text(cell.mark), " |"});
    }
    out += "\n";
  }
  for (auto const& note : table.notes) out += cat({"\n", escape_markdown(one_line(note)), "\n"});
  return out;
}

std::string to_latex(Table const& table) {
  std::string spec;
  for (auto const& column : table.columns) spec += column.align == Align::left ? 'l' : 'r';
  auto const plain = [](std::string const& text) {
    std::string out = escape_latex(one_line(text));
    for (auto const& [from, to] : {std::pair<std::string_view, std::string_view>{"±", "$\\pm$"},
                                   {"·", "$\\cdot$"},
                                   {"●", "$\\bullet$"},
                                   {"○", "$\\circ$"},
                                   {"…", "\\ldots{}"}})
      for (std::size_t at = 0; (at = out.find(from, at)) != std::string::npos; at += to.size())
        out.replace(at, from.size(), to);
    return out;
  };
  std::string out = cat({"% needs \\usepackage{booktabs}\n\\begin{table}\n  \\caption{", plain(table.title),
                         "}\n  \\begin{tabular}{", spec, "}\n    \\toprule\n    "});
  for (std::size_t c = 0; c < table.columns.size(); ++c) out += cat({c ? " & " : "", plain(table.columns[c].header)});
  out += " \\\\\n    \\midrule\n";
  for (auto const& row : table.rows) {
    out += "    ";
    for (std::size_t c = 0; c < row.size(); ++c) {
      std::string const text = plain(row[c].text);
      Mark const mark = row[c].mark;
      char const* const open = mark == Mark::best ? "\\textbf{" : mark == Mark::tied ? "\\underline{" : "";
      out += cat({c ? " & " : "", open, text, *open ? "}" : ""});
    }
    out += " \\\\\n";
  }
  out += "    \\bottomrule\n  \\end{tabular}\n";
  for (auto const& note : table.notes) {
    std::string said = note;
    if (said.starts_with("●")) said.replace(0, std::string_view("●").size(), "Bold:");
    if (said.starts_with("○")) said.replace(0, std::string_view("○").size(), "Underlined:");
    out += cat({"  \\par\\smallskip\\footnotesize ", plain(said), "\n"});
  }
  out += "\\end{table}\n";
  return out;
}

std::string to_csv(Table const& table) {
  std::string out;
  auto const line = [&out](auto const& cells, auto const& text_of) {
    bool first = true;
    for (auto const& cell : cells) {
      out += cat({first ? "" : ",", csv_field(text_of(cell))});
      first = false;
    }
    out += "\n";
  };
  line(table.columns, [](Column const& column) { return column.header; });
  for (auto const& row : table.rows) line(row, [](TableCell const& cell) { return cell.text; });
  return out;
}

std::string comparison_csv(Comparison const& comparison) {
  std::string out =
      "study,encoding,scaling,probe,region,metric,length,trained,n,not_finite,mean,sd,low,high,mark,"
      "baseline,difference,difference_low,difference_high,p,p_holm,effect,units,rivals,rivals_name\n";
  for (auto const& row : comparison.rows)
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      Cell const& cell = row.cells[i];
      auto const& s = cell.summary;
      auto const& v = cell.versus;
      std::vector<std::string> const fields{comparison.studies[row.study],
                                            row.arm.encoding,
                                            row.arm.scaled() ? row.arm.scaling : "none",
                                            comparison.quantity.probe,
                                            comparison.quantity.region,
                                            comparison.quantity.metric,
                                            std::to_string(comparison.lengths[i]),
                                            comparison.trained_length == comparison.lengths[i] ? "1" : "0",
                                            std::to_string(s.n),
                                            std::to_string(s.not_finite),
                                            exact(s.mean),
                                            exact(s.sd),
                                            exact(low_of(s.interval)),
                                            exact(high_of(s.interval)),
                                            mark_name(cell.mark),
                                            row.baseline,
                                            exact(v.difference),
                                            exact(low_of(v.interval)),
                                            exact(high_of(v.interval)),
                                            exact(v.p),
                                            exact(cell.p_adjusted),
                                            exact(v.effect),
                                            comparison.units,
                                            std::to_string(row.rivals),
                                            comparison.rivals[row.rivals].name};
      for (std::size_t f = 0; f < fields.size(); ++f) out += cat({f ? "," : "", csv_field(clean_utf8(fields[f]))});
      out += "\n";
    }
  return out;
}

std::string comparison_json(Comparison const& comparison) {
  using nlohmann::json;
  json rows = json::array();
  for (auto const& row : comparison.rows) {
    json cells = json::array();
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      Cell const& cell = row.cells[i];
      auto const& s = cell.summary;
      auto const& v = cell.versus;
      json values = json::array();
      for (double const each : cell.values) values.push_back(number_or_null(each));
      json const versus = row.baseline.empty() ? json(nullptr) : json{{"difference", number_or_null(v.difference)},
                                                                      {"interval", interval_or_null(v.interval)},
                                                                      {"p", number_or_null(v.p)},
                                                                      {"p_holm", number_or_null(cell.p_adjusted)},
                                                                      {"effect", number_or_null(v.effect)},
                                                                      {"n", v.n}};
      cells.push_back({{"length", comparison.lengths[i]},
                       {"n", s.n},
                       {"not_finite", s.not_finite},
                       {"mean", number_or_null(s.mean)},
                       {"sd", number_or_null(s.sd)},
                       {"interval", interval_or_null(s.interval)},
                       {"seeds", cell.seeds},
                       {"values", values},
                       {"mark", mark_name(cell.mark)},
                       {"versus_baseline", versus}});
    }
    rows.push_back({{"label", clean_utf8(row.label)},
                    {"study", clean_utf8(comparison.studies[row.study])},
                    {"encoding", clean_utf8(row.arm.encoding)},
                    {"scaling", row.arm.scaled() ? clean_utf8(row.arm.scaling) : "none"},
                    {"baseline", row.baseline.empty() ? json(nullptr) : json(clean_utf8(row.baseline))},
                    {"failed", row.failed.size()},
                    {"rivals", row.rivals},
                    {"cells", cells}});
  }
  json rivals = json::array();
  for (auto const& each : comparison.rivals) rivals.push_back({{"name", clean_utf8(each.name)}, {"rows", each.rows}});
  json const out{{"probe", comparison.quantity.probe},
                 {"region", comparison.quantity.region},
                 {"metric", comparison.quantity.metric},
                 {"units", comparison.units},
                 {"lower_is_better", comparison.lower_is_better},
                 {"confidence", comparison.confidence},
                 {"interval", comparison.method == Method::student_t ? "student_t" : "bootstrap"},
                 {"trained_length", comparison.trained_length ? json(*comparison.trained_length) : json(nullptr)},
                 {"lengths", comparison.lengths},
                 {"seeds", comparison.seeds},
                 {"tests", comparison.tests},
                 {"rivals", rivals},
                 {"rows", rows}};
  return cat({out.dump(2, ' ', false, json::error_handler_t::replace), "\n"});
}

}  // namespace sextant::report
