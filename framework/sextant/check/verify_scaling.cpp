// inv_freq and attention factor of every case, from the position block that a spec would give.
#include <sextant/base/error.hpp>
#include <sextant/check/formats.hpp>
#include <sextant/check/rope_case.hpp>
#include <sextant/check/worst.hpp>
#include <sextant/encoding/binding.hpp>

namespace sextant::check {
namespace {

std::vector<double> numbers_at(nlohmann::json const& item, char const* key) {
  expect(item.contains(key) && item[key].is_array(), key, " is absent or not a list of numbers");
  std::vector<double> out;
  for (auto const& x : item[key]) {
    expect(x.is_number(), key, " holds ", x.dump(), ", expected numbers");
    out.push_back(x.get<double>());
  }
  return out;
}

double number_at(nlohmann::json const& item, char const* key) {
  expect(item.contains(key) && item[key].is_number(), key, " is absent or not a number");
  return item[key].get<double>();
}

std::string words(nlohmann::json const& item, char const* key) {
  return item.contains(key) && item[key].is_string() ? item[key].get<std::string>() : "";
}

void check_scaling(nlohmann::json const& item, double rtol, encoding::Registry const& registry, VerifyCase& out) {
  expect(item.contains("params"), "params is absent");
  Parameters const params(item["params"]);
  auto const made = rope_case(out.method, params, "half", registry);
  if (!made) return mark_missing(out, out.method);
  if (auto const absent = absent_plugin(made->choice, registry); !absent.empty()) return mark_missing(out, absent);

  auto const expected = numbers_at(item, "inv_freq");
  int const rotary_dim = static_cast<int>(number_at(item, "rotary_dim"));
  encoding::Shape const shape{.heads = 1, .kv_heads = 1, .head_dim = made->head_dim, .model_dim = made->head_dim};
  auto const position = std::make_shared<encoding::Position const>(made->choice, registry, shape);
  encoding::Binding<double> const binding(position, 1);
  auto const found = binding.frequencies(0, 0, made->length);
  expect(found.form.rotary_dim == rotary_dim, "the rotary dim is ", found.form.rotary_dim, ", the file has ",
         rotary_dim);
  Worst worst;
  worst.compare("float64 inv_freq", found.inv_freq, expected, {.relative = rtol});
  worst.compare("float64 attention_factor", {found.attention_factor}, {number_at(item, "attention_factor")},
                {.relative = rtol});
  // What a layer's tables hold in float32 starts from the same numbers, rounded once.
  double const coarse = item.contains("rtol") ? number_at(item, "rtol") : 2e-6;
  std::vector<double> single;
  for (double f : found.inv_freq) single.push_back(static_cast<float>(f));
  worst.compare("float32 inv_freq", single, expected, {.relative = coarse});
  worst.write(out);
}

}  // namespace

void verify_scaling(nlohmann::json const& file, encoding::Registry const& registry, VerifyReport& report) {
  expect(file.contains("cases") && file["cases"].is_array() && !file["cases"].empty(), report.file,
         ": cases is absent, empty or not a list");
  double const rtol = file.contains("float64_rtol") ? number_at(file, "float64_rtol") : 1e-12;
  int index = 0;
  for (auto const& item : file["cases"]) {
    ++index;
    std::string const name = item.is_object() ? words(item, "name") : "";
    add_case(report, name.empty() ? text("case ", index) : name, item.is_object() ? words(item, "method") : "",
             [&](VerifyCase& out) {
               expect(item.is_object(), "is not an object");
               expect(!out.method.empty(), "method is absent or not a word");
               check_scaling(item, rtol, registry, out);
             });
  }
}

}  // namespace sextant::check
