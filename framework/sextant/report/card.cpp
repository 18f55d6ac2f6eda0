#include <sextant/report/card.hpp>
#include <sextant/report/chart_ink.hpp>
#include <sextant/report/text.hpp>

namespace sextant::report {

void card(Xml& out, std::string const& title, double width, double height) {
  std::string dark;
  for (auto const& part : parts) dark += cat({".sx-", part.name, "{color:", part.dark, "}"});
  for (std::size_t i = 0; i < inks.size(); ++i) dark += cat({".sx-i", std::to_string(i), "{color:", inks[i].dark, "}"});
  out.raw(
      cat({"<style>@media (prefers-color-scheme: dark){", dark, ".sx-hollow{fill:", parts.back().dark, "}}</style>"}));
  {
    auto const page = out.element("g", part_group("page"));
    out.leaf("rect", {{"width", num(width)}, {"height", num(height)}, {"rx", "8"}, {"fill", "currentColor"}});
  }
  auto const ink = out.element("g", part_group("ink"));
  out.text("text", {{"x", "24"}, {"y", "34"}, {"font-size", "18"}, {"font-weight", "600"}, {"fill", "currentColor"}},
           ellipsize(title, 84));
}

std::string card_svg(std::string const& title, std::string const& description, double width, double height,
                     std::function<void(Xml&)> const& draw) {
  Xml out;
  out.raw("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n");
  {
    auto const svg = out.element("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
                                         {"width", num(width)},
                                         {"height", num(height)},
                                         {"viewBox", cat({"0 0 ", num(width), " ", num(height)})},
                                         {"role", "img"},
                                         {"aria-labelledby", "card-title card-desc"},
                                         {"font-family", chart_fonts},
                                         {"font-size", "13"}});
    out.text("title", {{"id", "card-title"}}, title);
    out.text("desc", {{"id", "card-desc"}}, description);
    card(out, title, width, height);
    draw(out);
  }
  out.line();
  return std::move(out).str();
}

}  // namespace sextant::report
