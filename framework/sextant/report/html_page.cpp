#include <sextant/report/html_assets.hpp>
#include <sextant/report/html_page.hpp>
#include <sextant/report/text.hpp>

namespace sextant::report {
namespace {
// Nothing may be loaded from anywhere; the browser holds the page to it.
constexpr char const* policy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; img-src data:";
constexpr char const* icon = R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16">)"
                             R"(<path d="M2 13A12 12 0 0 1 14 13" fill="none" stroke="#0072b2" stroke-width="2.5"/>)"
                             R"(<path d="M8 2v10" stroke="#d55e00" stroke-width="2.5"/></svg>)";

void head(Xml& out, Frame const& frame) {
  auto const element = out.element("head");
  out.void_element("meta", {{"charset", "utf-8"}});
  out.void_element("meta", {{"name", "viewport"}, {"content", "width=device-width, initial-scale=1"}});
  out.void_element("meta", {{"http-equiv", "Content-Security-Policy"}, {"content", policy}});
  out.void_element("meta", {{"name", "generator"}, {"content", frame.generator}});
  out.text("title", {}, cat({frame.title, " – Sextant"}));
  out.void_element("link", {{"rel", "icon"}, {"href", cat({"data:image/svg+xml;base64,", base64(icon)})}});
  out.raw("<style>");
  out.raw(page_css());
  out.raw("</style>");
}

void bar(Xml& out, Frame const& frame) {
  out.text("a", {{"class", "skip"}, {"href", "#main"}}, "Skip to the report");
  auto const bar = out.element("div", {{"class", "bar"}});
  auto const inner = out.element("div", {{"class", "bar-in"}});
  out.text("span", {{"class", "brand"}}, "Sextant");
  {
    auto const nav = out.element("nav", {{"aria-label", "Sections"}});
    for (auto const& [id, title] : frame.headings) out.text("a", {{"href", cat({"#", id})}}, title);
  }
  out.text("button", {{"id", "theme"}, {"type", "button"}, {"hidden", ""}}, "Dark");
}
}  // namespace

std::string html_document(Frame const& frame, std::string const& body) {
  Xml out;
  out.raw("<!DOCTYPE html>\n");
  {
    auto const html = out.element("html", {{"lang", "en"}});
    head(out, frame);
    auto const element = out.element("body");
    bar(out, frame);
    out.raw(body);
    out.raw("<script>");
    out.raw(page_script());
    out.raw("</script>");
  }
  out.line();
  return std::move(out).str();
}

Page::Page(StudyView const& view) : study(view), arms(arms_of(view)), looks(arms) {
  if (study.rows.empty()) return;
  CompareOptions options;
  options.baseline = default_baseline(study);
  comparison = compare(study, options);
}

Xml::Scope Page::section(std::string const& id, std::string const& title, std::string const& lead) {
  headings.emplace_back(id, title);
  auto scope = out.element("section", {{"id", id}, {"aria-labelledby", id + "-h"}});
  out.text("h2", {{"id", id + "-h"}}, title);
  if (!lead.empty()) out.text("p", {{"class", "lead"}}, lead);
  return scope;
}

void Page::fold(std::string const& name, std::string const& side, std::function<void()> const& fill) {
  auto const details = out.element("details");
  {
    auto const summary = out.element("summary");
    out.text(name);
    if (!side.empty()) out.text("span", {{"class", "side"}}, side);
  }
  auto const div = out.element("div");
  fill();
}

void Page::facts(Facts const& list) {
  auto const dl = out.element("dl", {{"class", "facts"}});
  for (auto const& [name, value] : list) {
    if (value.empty()) continue;
    out.text("dt", {}, name);
    auto const dd = out.element("dd");
    if (value.size() > 240 || value.find('\n') != std::string::npos)
      code(value);
    else
      out.text(value);
  }
}

void Page::table(std::vector<std::string> const& head, std::vector<std::vector<std::string>> const& rows,
                 std::string const& label, bool words) {
  auto const scroll =
      out.element("div", {{"class", "scroll"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", label}});
  auto const element = out.element("table", {{words ? "class" : "", "words"}});
  {
    auto const thead = out.element("thead");
    auto const tr = out.element("tr");
    for (auto const& each : head) out.text("th", {{"scope", "col"}}, each);
  }
  auto const body = out.element("tbody");
  for (auto const& row : rows) {
    auto const tr = out.element("tr");
    for (std::size_t c = 0; c < row.size(); ++c)
      out.text(c == 0 ? "th" : "td", {{c == 0 ? "scope" : "", "row"}}, row[c]);
  }
}

void Page::table(Table const& made) {
  std::vector<std::string> head;
  for (auto const& column : made.columns) head.push_back(column.header);
  std::vector<std::vector<std::string>> rows;
  for (auto const& row : made.rows) {
    rows.emplace_back();
    for (auto const& cell : row) rows.back().push_back(cell.text);
  }
  table(head, rows, made.title);
}

void Page::code(std::string const& content) { out.text("pre", {{"tabindex", "0"}}, content); }

void Page::data(std::string const& name, std::string const& file, std::string const& csv) {
  fold(name, "CSV", [&] {
    out.text("a", {{"download", file}, {"href", cat({"data:text/csv;charset=utf-8;base64,", base64(csv)})}},
             cat({"Download ", file}));
    code(csv);
  });
}

}  // namespace sextant::report
