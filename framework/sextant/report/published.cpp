#include <sextant/base/error.hpp>
#include <sextant/claims/expression.hpp>
#include <sextant/report/published.hpp>
#include <sextant/report/text.hpp>
#include <sextant/statistics/sample.hpp>

#include <sextant/base/json.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::report {
namespace {
using claims::PublishedTable;

/// A quantity of the study over its seeds.
struct Ours {
  Arm arm;
  std::string what, units;  ///< what: lm_loss.mean @ 256
  statistics::Summary found;
};

Ours ours_of(StudyView const& study, std::string const& settled) {
  Ours out;
  if (settled.empty()) return out;
  auto quantity = claims::parse_measured(settled);
  for (auto const& where : quantity.where)
    (where.dimension.text == "encoding" ? out.arm.encoding : out.arm.scaling) = where.label.text;
  std::vector<double> values;
  for (auto const& row : study.rows) {
    bool const wanted = row.probe == quantity.probe.text && row.length == quantity.length &&
                        claims::measure_name(row.region, row.metric) == quantity.measure.text &&
                        row.encoding == out.arm.encoding && row.scaling == out.arm.scaling;
    if (!wanted) continue;
    values.push_back(row.value);
    out.units = row.units;
  }
  quantity.where.clear();
  out.what = claims::write(quantity);
  out.found = statistics::summarize(values);
  return out;
}

TableCell our_cell(Ours const& ours) {
  bool const none = !ours.found.mean;
  int const decimals = none ? 0 : std::max(3, decimals_for(*ours.found.mean));
  return {mean_text(ours.found, decimals), Mark::none, none};
}

/// As many places as the most exact number of the table has.
int decimals_in(PublishedTable const& published) {
  std::size_t out = 0;
  for (auto const& row : published.rows) {
    std::string const written = exact(row.value);
    auto const point = written.find('.');
    if (point != std::string::npos && written.find('e') == std::string::npos)
      out = std::max(out, written.size() - point - 1);
  }
  return static_cast<int>(std::min<std::size_t>(out, 12));
}
}  // namespace

Table published_table(StudyView const& study, PublishedTable const& published) {
  Table out;
  out.title = published.title;
  out.columns = {
      {"as published", Align::left}, {cat({"published, ", published.units})}, {"our arm", Align::left}, {"ours"}};
  std::vector<std::string> whats;
  for (auto const& row : published.rows) {
    Ours const ours = ours_of(study, row.ours);
    bool const none = row.ours.empty();
    out.rows.push_back({{row.name},
                        {fixed(row.value, decimals_in(published))},
                        {none ? std::string(missing) : ours.arm.label(), Mark::none, none},
                        our_cell(ours)});
    if (none) continue;
    std::string const what = ours.units.empty() ? ours.what : cat({ours.what, ", ", ours.units});
    if (std::find(whats.begin(), whats.end(), what) == whats.end()) whats.push_back(what);
  }
  out.notes.push_back(cat({"Published: ", published.source, "."}));
  if (!whats.empty())
    out.notes.push_back(cat({"Ours: ", join(whats, "; "), "; mean over seeds ± half of its 95 % interval."}));
  return out;
}

std::string published_csv(StudyView const& study) {
  std::string out = "title,source,name,published,units,arm,quantity,ours,low,high,n,ours_units\n";
  for (auto const& table : study.published)
    for (auto const& row : table.rows) {
      Ours const ours = ours_of(study, row.ours);
      auto const& [n, not_finite, mean, sd, interval] = ours.found;
      std::vector<std::string> const cells{csv_field(table.title),  csv_field(table.source),
                                           csv_field(row.name),     exact(row.value),
                                           csv_field(table.units),  csv_field(row.ours.empty() ? "" : ours.arm.label()),
                                           csv_field(ours.what),    exact(mean),
                                           exact(low_of(interval)), exact(high_of(interval)),
                                           std::to_string(n),       ours.units};
      out += join(cells, ",") + "\n";
    }
  return out;
}

std::string render_published(StudyView const& study, Format format, TerminalLook const& look) {
  expect(!study.published.empty(), study.file,
         ": keeps no published numbers; expected a study of a spec with `reference:`");
  if (format == Format::csv) return published_csv(study);
  expect(format != Format::json,
         "published numbers are not written as JSON, expected terminal, markdown, csv or latex");
  std::string out;
  for (auto const& each : study.published) {
    Table const table = published_table(study, each);
    if (!out.empty()) out += "\n";
    out += format == Format::markdown ? to_markdown(table)
           : format == Format::latex  ? to_latex(table)
                                      : to_terminal(table, look);
  }
  return out;
}

void published_section(Page& page) {
  if (page.study.published.empty()) return;
  auto const scope = page.section("reference", "Published numbers",
                                  "What others report, beside what this study measures. Other models, other data and "
                                  "often other measures: compare orders, not sizes.");
  for (auto const& published : page.study.published) {
    Table const table = published_table(page.study, published);
    page.out.text("h3", {}, table.title);
    page.table(table);
    for (auto const& note : table.notes) page.out.text("p", {{"class", "why"}}, note);
  }
  page.data("Every published number with ours", cat({page.study.name, "-reference.csv"}), published_csv(page.study));
}

}  // namespace sextant::report
