// Query and key of every case, turned by a layer's own encode(), in float64 and in float32.
#include <sextant/base/error.hpp>
#include <sextant/check/formats.hpp>
#include <sextant/check/layer.hpp>
#include <sextant/check/rope_case.hpp>
#include <sextant/check/worst.hpp>

namespace sextant::check {
namespace {

Tensor tensor(results::Group const& group, std::string const& name) {
  auto const& array = group.array(name);
  expect(array.shape.size() == 4, name, " is ", array.describe(), ", expected [batch, heads, length, head_dim]");
  return {array.shape, group.numbers(name)};
}

std::vector<double> positions(results::Group const& group, int batch, int length) {
  if (group.has_array("positions")) {
    auto const& array = group.array("positions");
    bool const fits = array.shape.back() == static_cast<std::size_t>(length) &&
                      (array.shape.size() == 1 ||
                       (array.shape.size() == 2 && (array.shape[0] == 1 || array.shape[0] == std::size_t(batch))));
    expect(fits, "positions is ", array.describe(), ", expected [", length, "] or [", batch, ", ", length, "]");
    return group.numbers("positions");
  }
  std::vector<double> out;
  for (int i = 0; i < length; ++i) out.push_back(group.attribute<double>("start_pos", 0.0) + i);
  return out;
}

template <class T>
void turn(char const* precision, RopeCase const& made, encoding::Registry const& registry, results::Group const& group,
          double tolerance, Worst& worst) {
  Tensor const q = tensor(group, "q"), k = tensor(group, "k");
  encoding::Shape const shape{
      .heads = q.extent(1), .kv_heads = k.extent(1), .head_dim = q.extent(3), .model_dim = q.extent(1) * q.extent(3)};
  expect(k.shape[0] == q.shape[0] && k.shape[2] == q.shape[2] && k.shape[3] == q.shape[3], "q is ",
         group.array("q").describe(), " and k ", group.array("k").describe());
  auto const position = std::make_shared<encoding::Position const>(made.choice, registry, shape);
  Layer<T> layer(position, q.extent(0), q.extent(2), positions(group, q.extent(0), q.extent(2)));
  layer.encode(q, k, {});
  worst.compare(text(precision, " q_rot"), layer.query(), tensor(group, "q_rot").values, {.absolute = tolerance});
  worst.compare(text(precision, " k_rot"), layer.key(), tensor(group, "k_rot").values, {.absolute = tolerance});
  if (!std::is_same_v<T, double>) return;
  auto const found = layer.binding().frequencies(0, 0, made.length);
  if (group.has_array("inv_freq"))
    worst.compare("float64 inv_freq", found.inv_freq, group.numbers("inv_freq"), {.relative = 1e-12});
  if (group.has_attribute("attention_factor"))
    worst.compare("float64 attention_factor", {found.attention_factor}, {group.attribute<double>("attention_factor")},
                  {.relative = 1e-12});
  if (group.has_attribute("rotary_dim"))
    expect(found.form.rotary_dim == group.attribute<int>("rotary_dim"), "the rotary dim is ", found.form.rotary_dim,
           ", the file has ", group.attribute<int>("rotary_dim"));
}

void check_rotation(results::Group const& group, encoding::Registry const& registry, VerifyCase& out) {
  Parameters const params(nlohmann::json::parse(group.attribute<std::string>("params", std::string("{}"))));
  auto const made =
      rope_case(out.method, params, group.attribute<std::string>("layout", std::string("half")), registry);
  if (!made) return mark_missing(out, out.method);
  if (auto const absent = absent_plugin(made->choice, registry); !absent.empty()) return mark_missing(out, absent);
  expect(made->head_dim == int(group.array("q").shape.back()), "params give head_dim ", made->head_dim, ", q is ",
         group.array("q").describe());
  Worst worst;
  turn<double>("float64", *made, registry, group, group.attribute<double>("atol_float64", 1e-6), worst);
  turn<float>("float32", *made, registry, group, group.attribute<double>("atol_float32", 2e-6), worst);
  worst.write(out);
}

}  // namespace

void verify_rotation(results::Group const& file, encoding::Registry const& registry, VerifyReport& report) {
  add_group_cases(file, report,
                  [&](results::Group const& group, VerifyCase& out) { check_rotation(group, registry, out); });
}

}  // namespace sextant::check
