#include <sextant/report/figure.hpp>

namespace sextant::report {
namespace {
struct Csv {
  std::string operator()(Chart const& chart) const { return chart_csv(chart); }
  std::string operator()(Maps const& maps) const { return maps_csv(maps); }
};
}  // namespace

std::string const& id_of(Figure const& figure) {
  return std::visit(
      [](auto const& each) -> auto const& { return each.id; }, figure);
}
std::string const& title_of(Figure const& figure) {
  return std::visit(
      [](auto const& each) -> auto const& { return each.title; }, figure);
}
std::string const& caption_of(Figure const& figure) {
  return std::visit(
      [](auto const& each) -> auto const& { return each.caption; }, figure);
}
std::vector<std::string> const& notes_of(Figure const& figure) {
  return std::visit(
      [](auto const& each) -> auto const& { return each.notes; }, figure);
}
Figure with_id(Figure figure, std::string id) {
  std::visit([&](auto& each) { each.id = std::move(id); }, figure);
  return figure;
}

std::string svg_inline(Figure const& figure, Layout layout) {
  return std::visit([&](auto const& each) { return svg_inline(each, layout); }, figure);
}
std::string svg_file(Figure const& figure) {
  return std::visit([](auto const& each) { return svg_file(each); }, figure);
}
std::string csv_of(Figure const& figure) { return std::visit(Csv{}, figure); }

}  // namespace sextant::report
