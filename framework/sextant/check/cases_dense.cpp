#include <sextant/base/error.hpp>
#include <sextant/check/cases.hpp>

#include <algorithm>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Options;

/// The matrices [points][channels, channels] that a transform of one head multiplies query vectors by.
std::vector<double> matrices(encoding::Encoding const& encoding, encoding::Shape const& shape,
                             encoding::Tensors const& tensors, std::vector<double> const& points, int head) {
  auto const transform = encoding.transform_double(shape);
  int const count = static_cast<int>(points.size()), n = shape.head_dim;
  encoding::Transform<double>::Inputs in;
  in.batch = 1;
  in.count = count;
  in.heads = in.kv_heads = shape.heads;
  in.channels = n;
  in.first_head = {0, shape.heads};
  in.coordinates = View3<double>("points", 1, count, 1);
  std::copy(points.begin(), points.end(), in.coordinates.data());
  in.tensors = tensors;
  transform->prepare(Exec(), in);
  std::size_t const square = static_cast<std::size_t>(n) * n;
  std::vector<double> out(count * square), unit(static_cast<std::size_t>(count) * n), image(unit.size());
  for (int c = 0; c < n; ++c) {
    std::fill(unit.begin(), unit.end(), 0.0);
    for (int i = 0; i < count; ++i) unit[static_cast<std::size_t>(i) * n + c] = 1;
    transform->forward(encoding::Side::query, 0, head, unit.data(), n, image.data(), n);
    for (int i = 0; i < count; ++i)
      for (int r = 0; r < n; ++r) out[i * square + r * n + c] = image[static_cast<std::size_t>(i) * n + r];
  }
  return out;
}

encoding::Shape shape_of(CaseProbe const& probe) {
  return {.heads = probe.heads, .kv_heads = probe.heads, .head_dim = probe.head_dim};
}

EncodingCase rank2(Parameters const& from) {
  bool const tied = from.flag("b_is_Ja", false);
  auto out = alone({"grape_m_rank2", {{"b_is_Ja", tied}}, {}});
  out.learned = {{"a", "grape_m_rank2.a"}, {"omega", "grape_m_rank2.omega"}};
  if (!tied) out.learned.push_back({"b", "grape_m_rank2.b"});
  return out;
}

EncodingCase basis(Parameters const& from) {
  Options const options{
      {"base", from.number("base", 10000)}, {"orientation", sense_of(from)}, {"per_head", from.flag("per_head", true)}};
  auto out = alone({"grape_m_basis", options, {}});
  out.learned = {{"basis_upper", "grape_m_basis.basis_upper"}, {"log_freq", "grape_m_basis.log_freq"}};
  // exp(S) is what LieRE makes of the same triangle at the point 1.
  out.own = [](CaseProbe const& probe, Quantities& found) {
    if (!probe.group.has_array("out/basis")) return;
    auto const upper = probe.group.numbers("par/basis_upper");
    std::size_t const triangle = static_cast<std::size_t>(probe.head_dim) * (probe.head_dim - 1) / 2;
    encoding::Shape shape = shape_of(probe);
    shape.heads = shape.kv_heads = static_cast<int>(upper.size() / std::max<std::size_t>(1, triangle));
    auto const liere = encoding::Registry::global().make_encoding({"liere", {}, {}});
    for (int h = 0; h < shape.heads; ++h) {
      auto const e = matrices(*liere, shape, {upper}, {1.0}, h);
      found["out/basis"].insert(found["out/basis"].end(), e.begin(), e.end());
    }
  };
  return out;
}

EncodingCase noncommuting(Parameters const& from) {
  std::string const form = from.word("form", "thin");
  Options options{{"form", form}};
  from.allow({"rank", "planes"});  // each is for one form only
  std::vector<std::string> names{"basis_upper", "gen_upper"};
  if (form == "planes") {
    options["planes"] = count_option(from, "planes", 1);
    names = {"a", "b", "omega"};
  } else {
    options["rank"] = count_option(from, "rank", 2);
  }
  auto out = alone({"grape_m_noncommuting", options, {}});
  for (auto const& name : names) out.learned.push_back({name, "grape_m_noncommuting." + name});
  out.own = [names](CaseProbe const& probe, Quantities& found) {
    if (!probe.group.has_array("out/G")) return;
    encoding::Tensors tensors;
    for (auto const& name : names) tensors.push_back(probe.group.numbers("par/" + name));
    std::size_t const square = static_cast<std::size_t>(probe.head_dim) * probe.head_dim;
    std::vector<double> const points(probe.positions.begin(), probe.positions.begin() + probe.length);
    auto& g = found["out/G"];  // [length, heads, D, D]
    g.resize(points.size() * probe.heads * square);
    for (int h = 0; h < probe.heads; ++h) {
      auto const mine = matrices(*probe.position.terms().front().encoding, shape_of(probe), tensors, points, h);
      for (std::size_t i = 0; i < points.size(); ++i)
        std::copy_n(&mine[i * square], square, &g[(i * probe.heads + h) * square]);
    }
  };
  return out;
}

EncodingCase liere(Parameters const& from) {
  Options const options{{"axes", count_option(from, "axes", 1)},
                        {"block", count_option(from, "block", 0)},
                        {"per_head", from.flag("per_head", true)}};
  auto out = alone({"liere", options, {}});
  out.learned = {{"upper", "liere.upper", true}};
  return out;
}

EncodingCase rope2d(Parameters const& from, bool mixed) {
  Options const options{{"kind", std::string(mixed ? "mixed" : "axial")},
                        {"layout", from.word("layout", "interleaved")},
                        {"base", from.number("base", mixed ? 10 : 100)}};
  auto out = alone({"rope2d", options, {}});
  if (mixed) out.learned = {{"freqs", "rope2d.freqs", true}};
  return out;
}

/// Slices that pair up inside themselves: one rope3d an axis, side by side; what is left of the head stays plain.
Choice slices(Options const& options, std::vector<double> const& sections, int head_dim) {
  std::vector<double> shares;
  std::vector<Choice> parts;
  double rest = head_dim;
  for (std::size_t a = 0; a < sections.size(); ++a) {
    if (sections[a] == 0) continue;
    std::vector<double> alone(sections.size(), 0.0);
    alone[a] = sections[a];
    Options mine = options;
    mine["sections"] = alone;
    parts.push_back({"rope3d", mine, {}});
    shares.push_back(2 * sections[a]);
    rest -= 2 * sections[a];
  }
  expect(rest >= 0, "parameter sections takes ", head_dim - rest, " channels of ", head_dim);
  if (rest > 0) {
    parts.push_back({"nope", {}, {}});
    shares.push_back(rest);
  }
  return {"direct_sum", {{"over", std::string("channels")}, {"shares", shares}}, parts};
}

/// out/angles [length, pairs]: every rotary part's, side by side.
void add_angles(CaseProbe const& probe, Quantities& found) {
  if (!probe.group.has_array("out/angles")) return;
  auto const points = probe.group.numbers("in/positions");  // [length, axes]
  for (int i = 0; i < probe.length; ++i)
    for (auto const& term : probe.position.terms()) {
      if (!term.stages.rotate) continue;
      auto const form = term.encoding->rotary(term.shape);
      int const pairs = form.rotary_dim / 2;
      std::vector<double> inv_freq(static_cast<std::size_t>(form.axes) * pairs);
      term.encoding->inv_freq(term.shape, nullptr, inv_freq.data());
      for (int p = 0; p < pairs; ++p) {
        double angle = 0;
        for (int a = 0; a < form.axes; ++a) angle += points[i * form.axes + a] * inv_freq[a * pairs + p];
        found["out/angles"].push_back(angle);
      }
    }
}

EncodingCase rope3d(Parameters const& from, int head_dim) {
  std::string const ladder = from.word("ladder_kind", "per_axis"), layout = from.word("layout", "half");
  auto const sections = from.list("sections");
  Options const options{{"ladder", ladder},
                        {"sections", sections},
                        {"section_order", from.word("section_order", "contiguous")},
                        {"layout", layout},
                        {"base", from.number("base", 10000)}};
  bool const sliced = ladder == "per_axis" && layout == "half";
  auto out = alone(sliced ? slices(options, sections, head_dim) : Choice{"rope3d", options, {}});
  out.own = add_angles;
  return out;
}
}  // namespace

std::optional<EncodingCase> dense_case(CaseInput const& in) {
  auto const& method = in.method;
  if (method == "grape_m_rank2") return rank2(in.from);
  if (method == "grape_m_basis") return basis(in.from);
  if (method == "grape_m_noncommuting") return noncommuting(in.from);
  if (method == "liere") return liere(in.from);
  if (method == "rope2d_axial" || method == "rope2d_mixed") return rope2d(in.from, method == "rope2d_mixed");
  if (method == "rope3d") return rope3d(in.from, in.head_dim);
  return std::nullopt;
}

}  // namespace sextant::check
