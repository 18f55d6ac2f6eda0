#include <sextant/report/claims.hpp>
#include <sextant/report/gallery.hpp>
#include <sextant/report/html.hpp>
#include <sextant/report/plots.hpp>
#include <sextant/report/published.hpp>
#include <sextant/report/text.hpp>

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>

namespace sextant::report {
namespace {
using claims::Outcome;

struct Entry {
  Exhibit const* exhibit;
  std::optional<Figure> figure;  ///< the first plot that the study has data for
};

/// A claim of some study.
struct Tested {
  Outcome const* outcome;
  StudyView const* study;
};

std::string word_of(StudyView const& study) { return file_word(study.name); }

std::optional<Figure> first_figure(StudyView const& study) {
  Looks const looks(arms_of(study));
  for (auto const& plot : plots())
    if (auto drawn = plot.make(study, looks)) return drawn;
  return std::nullopt;
}

/// Digits count as the number that they write: 000-6 before 000-16.
bool numbers_in_order(std::string_view a, std::string_view b) {
  auto const digit = [](char c) { return c >= '0' && c <= '9'; };
  auto const number = [&](std::string_view& text) {  // without its leading zeros, taken off the text
    std::size_t end = 0;
    while (end < text.size() && digit(text[end])) ++end;
    auto out = text.substr(0, end);
    text.remove_prefix(end);
    while (out.size() > 1 && out.front() == '0') out.remove_prefix(1);
    return out;
  };
  while (!a.empty() && !b.empty()) {
    if (digit(a.front()) && digit(b.front())) {
      auto const x = number(a), y = number(b);
      if (x != y) return x.size() != y.size() ? x.size() < y.size() : x < y;
      continue;
    }
    if (a.front() != b.front()) return a.front() < b.front();
    a.remove_prefix(1), b.remove_prefix(1);
  }
  return a.size() < b.size();
}

/// Claims by the statement that they test; those that name none come last.
std::vector<Tested> claims_of(std::vector<Entry> const& entries) {
  std::vector<Tested> out;
  for (auto const& entry : entries)
    if (auto const& judgement = entry.exhibit->study.claims)
      for (auto const& outcome : judgement->outcomes) out.push_back({&outcome, &entry.exhibit->study});
  std::stable_sort(out.begin(), out.end(), [](Tested const& a, Tested const& b) {
    std::string const &x = a.outcome->claim.source, &y = b.outcome->claim.source;
    return x.empty() != y.empty() ? y.empty() : numbers_in_order(x, y);
  });
  return out;
}

/// Neighbours of one source together.
std::vector<std::vector<Tested>> by_source(std::vector<Tested> const& tested) {
  std::vector<std::vector<Tested>> out;
  for (auto const& each : tested) {
    if (out.empty() || out.back().front().outcome->claim.source != each.outcome->claim.source) out.emplace_back();
    out.back().push_back(each);
  }
  return out;
}
std::string heading_of(std::vector<Tested> const& group) {
  std::string const& source = group.front().outcome->claim.source;
  return source.empty() ? "Of the studies themselves" : source;
}

claims::Judgement all_of(std::vector<Tested> const& tested) {
  claims::Judgement out;
  for (auto const& each : tested) out.outcomes.push_back(*each.outcome);
  return out;
}

/// "small tier, 6 arms, seeds 11, 23, 47"
std::string size_of(StudyView const& study) {
  std::vector<std::string> parts;
  if (!study.tier.empty()) parts.push_back(cat({study.tier, " tier"}));
  parts.push_back(cat({std::to_string(arms_of(study).size()), " arms"}));
  std::vector<std::string> seeds;
  for (auto const seed : seeds_of(study)) seeds.push_back(std::to_string(seed));
  if (!seeds.empty()) parts.push_back(cat({seeds.size() == 1 ? "seed " : "seeds ", join(seeds)}));
  return join(parts);
}

std::string verdicts_of(StudyView const& study) {
  return study.claims ? cat({"Claims: ", verdict_count(*study.claims), "."}) : std::string("It makes no claims.");
}

// ---- the page

void claims_board(Xml& out, std::vector<Tested> const& tested) {
  auto const section = out.element("section", {{"id", "claims"}, {"aria-labelledby", "claims-h"}});
  out.text("h2", {{"id", "claims-h"}}, "Claims");
  out.text("p", {{"class", "lead"}},
           cat({"Every claim that a study here has tested: ", verdict_count(all_of(tested)),
                ". They are in the order of what states them. Verdicts are corrected over the list of each study "
                "(Holm)."}));
  auto const groups = by_source(tested);
  if (groups.size() > 1) {
    auto const jumps = out.element("ul", {{"class", "jumps"}});
    for (std::size_t n = 0; n < groups.size(); ++n) {
      auto const item = out.element("li");
      out.text("a", {{"href", cat({"#source-", std::to_string(n + 1)})}}, heading_of(groups[n]));
      out.text("span", {{"class", "side"}}, verdict_count(all_of(groups[n])));
    }
  }
  for (std::size_t n = 0; n < groups.size(); ++n) {
    out.text("h3", {{"id", cat({"source-", std::to_string(n + 1)})}}, heading_of(groups[n]));
    auto const list = out.element("ul", {{"class", "claims"}});
    for (auto const& [outcome, study] : groups[n]) {
      Outcome below = *outcome;
      below.claim.source.clear();  // it stands above
      claim_item(out, below, cat({word_of(*study), "-", outcome->claim.id}), cat({word_of(*study), ".html"}),
                 title_of(*study));
    }
  }
}

void studies_section(Xml& out, std::vector<Entry> const& entries) {
  auto const section = out.element("section", {{"id", "studies"}, {"aria-labelledby", "studies-h"}});
  out.text("h2", {{"id", "studies-h"}}, "Studies");
  for (auto const& entry : entries) {
    StudyView const& study = entry.exhibit->study;
    auto const figure = out.element("figure", {{"id", cat({"study-", word_of(study)})}});
    {
      auto const heading = out.element("h3");
      out.text("a", {{"href", cat({word_of(study), ".html"})}}, title_of(study));
    }
    if (!study.question.empty()) out.text("p", {}, study.question);
    out.text("p", {{"class", "lead"}}, cat({verdicts_of(study), " ", size_of(study), "."}));
    if (!entry.figure) continue;
    Figure const drawn = with_id(*entry.figure, cat({word_of(study), "-", id_of(*entry.figure)}));
    {
      auto const plot = out.element("div", {{"class", "plot"}});
      out.raw(svg_inline(drawn, Layout::wide));
      out.raw(svg_inline(drawn, Layout::narrow));
    }
    out.text("figcaption", {}, caption_of(drawn));
  }
}

/// The study's own page, which names its file as the gallery finds it: wherever the program ran, the bytes are the same.
std::string page_of(Exhibit const& exhibit) {
  StudyView study = exhibit.study;
  study.file = (fs::path(exhibit.folder) / fs::path(study.file).filename()).generic_string();
  return html_report(study);
}

std::string index_page(std::vector<Entry> const& entries, std::vector<Tested> const& tested) {
  Frame frame{"Gallery", entries.front().exhibit->study.creator, {}};
  Xml body;
  {
    auto const main = body.element("main", {{"id", "main"}});
    {
      auto const header = body.element("header");
      body.text("p", {{"class", "kicker"}}, "Gallery");
      body.text("h1", {}, "What was claimed, and what came out");
      body.text("p", {{"class", "question"}},
                cat({std::to_string(entries.size()), entries.size() == 1 ? " study" : " studies",
                     ", each with its spec, its numbers and a page of its own."}));
    }
    if (!tested.empty()) {
      frame.headings.emplace_back("claims", "Claims");
      claims_board(body, tested);
    }
    frame.headings.emplace_back("studies", "Studies");
    studies_section(body, entries);
    body.text("footer", {}, "This page needs no network: save the folder, mail it, print it.");
  }
  return html_document(frame, body.str());
}

// ---- README.md

std::string claims_markdown(std::vector<Tested> const& tested) {
  Table table;
  table.title = "Claims";
  table.columns = {
      {"stated in", Align::left}, {"claim", Align::left}, {"verdict", Align::left}, {"effect"}, {"interval"},
      {"study", Align::left}};
  for (auto const& [outcome, study] : tested)
    table.rows.push_back({{outcome->claim.source.empty() ? std::string(missing) : outcome->claim.source},
                          {outcome->claim.says},
                          {claims::name_of(outcome->verdict)},
                          {effect_text(*outcome)},
                          {interval_text(*outcome)},
                          {study->name}});
  return to_markdown(table);
}

std::string readme(std::vector<Entry> const& entries, std::vector<Tested> const& tested) {
  std::string out = "# Gallery: what was claimed, and what came out\n\n";
  if (!tested.empty())
    out += cat({"Of all claims below: ", verdict_count(all_of(tested)),
                ". Effect: left side minus right side of the claim's test.\n\n", claims_markdown(tested), "\n"});
  for (auto const& entry : entries) {
    StudyView const& study = entry.exhibit->study;
    out += cat({"## ", escape_markdown(title_of(study)), "\n\n"});
    if (!study.question.empty()) out += cat({escape_markdown(study.question), "\n\n"});
    out += cat({verdicts_of(study), " ", size_of(study), ".\n\n"});
    if (entry.figure) out += cat({"![", escape_markdown(title_of(*entry.figure)), "](", word_of(study), ".svg)\n\n"});
    if (!study.rows.empty()) out += cat({to_markdown(results_table(compare(study))), "\n"});
    if (!study.published.empty()) out += cat({render_published(study, Format::markdown), "\n"});
    std::string const& folder = entry.exhibit->folder;
    if (!folder.empty()) out += cat({"Spec and study file: [", folder, "](", folder, ")\n\n"});
  }
  return out;
}

}  // namespace

std::map<std::string, std::string> gallery(std::vector<Exhibit> const& exhibits) {
  expect(!exhibits.empty(), "a gallery needs one study at least");
  std::vector<Entry> entries;
  for (auto const& exhibit : exhibits) entries.push_back({&exhibit, first_figure(exhibit.study)});
  std::sort(entries.begin(), entries.end(),
            [](Entry const& a, Entry const& b) { return a.exhibit->study.name < b.exhibit->study.name; });
  auto const tested = claims_of(entries);
  std::map<std::string, std::string> out;
  for (auto const& entry : entries) {
    StudyView const& study = entry.exhibit->study;
    expect(out.emplace(word_of(study) + ".html", page_of(*entry.exhibit)).second, study.file, ": is called ",
           study.name, ", as another study of the gallery; expected a name of its own");
    if (entry.figure) out[word_of(study) + ".svg"] = svg_file(*entry.figure);
  }
  out["index.html"] = index_page(entries, tested);
  out["README.md"] = readme(entries, tested);
  return out;
}

}  // namespace sextant::report
