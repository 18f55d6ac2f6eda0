#include <sextant/base/error.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/translate.hpp>

#include <algorithm>

namespace sextant::dialect {
namespace {
// What the source says and a dialect that rests on a model does not repeat.
Given known_of(Form const& form, Given given) {
  if (form.trained_length > 0) given.trained_length = form.trained_length;
  if (form.head_width > 0) given.head_width = form.head_width;
  if (!form.architecture.empty()) given.architecture = form.architecture;
  if (auto const base = number_of(form.kinds.front().encoding.options, "base")) given.base = *base;
  return given;
}

void append(std::vector<std::string>& all, std::vector<std::string> const& more) {
  for (auto const& sentence : more)
    if (std::find(all.begin(), all.end(), sentence) == all.end()) all.push_back(sentence);
}
}  // namespace

Translation translate(Dialect const& from, Dialect const& to, std::string const& text, std::string const& source,
                      Given const& given, Registry const& registry) {
  Translation out;
  auto read = from.read(text, source, given, registry);
  expect_heeded(given, read.form, source);
  if (read.form.architecture.empty()) read.form.architecture = given.architecture;
  out.form = canonical(std::move(read.form), registry);
  out.remarks = std::move(read.remarks);
  auto written = to.write(out.form, registry);
  append(out.remarks.assumed, written.remarks.assumed);
  append(out.remarks.lost, written.remarks.lost);
  out.text = std::move(written.text);
  auto const again = canonical(
      to.read(out.text, std::string("what is written for ") + to.name, known_of(out.form, given), registry).form,
      registry);
  expect(again.kinds.size() == out.form.kinds.size(), from.name, " to ", to.name, ": ", out.form.kinds.size(),
         " kinds of layers were read, and ", again.kinds.size(), " written");
  for (std::size_t k = 0; k < out.form.kinds.size(); ++k)
    for (double const length : lengths_of(out.form)) {
      Comparison side{out.form.kinds[k].name, length, ladder(out.form.kinds[k], out.form, registry, length),
                      ladder(again.kinds[k], again, registry, length)};
      out.largest_difference = std::max(out.largest_difference, largest_difference(side.read, side.written));
      out.sides.push_back(std::move(side));
    }
  expect(out.largest_difference < 1e-9, from.name, " to ", to.name, " would turn differently: by a relative ",
         out.largest_difference, " somewhere, where 1e-9 is allowed");
  return out;
}

}  // namespace sextant::dialect
