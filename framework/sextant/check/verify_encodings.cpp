// Outputs and gradients of every case: a layer around the encoding, in float64 and in float32.
#include <sextant/base/error.hpp>
#include <sextant/check/encoding_run.hpp>
#include <sextant/check/formats.hpp>
#include <sextant/check/rope_case.hpp>
#include <sextant/check/worst.hpp>

namespace sextant::check {
namespace {

/// 1 where attention may look, repeated over the leading axes of a [.., length, length] array.
std::vector<char> weight_of(results::Group const& group, results::Array const& array) {
  std::vector<char> out(array.size(), 1);
  if (!group.has_array("in/mask")) return out;
  auto const mask = group.numbers("in/mask");
  if (mask.empty() || array.shape.size() < 2 || array.size() % mask.size() != 0) return out;
  for (std::size_t i = 0; i < out.size(); ++i) out[i] = mask[i % mask.size()] != 0;
  return out;
}

/// Our bias is always [batch, heads, length, length]; a file's may be [heads, length, length].
std::vector<double> shaped(std::vector<double> found, std::size_t wanted) {
  if (wanted == 0 || found.size() <= wanted || found.size() % wanted != 0) return found;
  for (std::size_t i = wanted; i < found.size(); ++i)
    expect(std::abs(found[i] - found[i % wanted]) < 1e-4, "the bias differs between rows of the batch");
  found.resize(wanted);
  return found;
}

void compare(char const* precision, results::Group const& group, Quantities const& found, Tolerance const& out_bound,
             Tolerance const& grad_bound, Worst& worst) {
  for (char const* part : {"out", "grad"}) {
    auto const* arrays = group.find_group(part);
    if (!arrays) continue;
    for (auto const& [name, array] : arrays->arrays) {
      std::string const path = std::string(part) + "/" + name;
      auto const at = found.find(path);
      expect(at != found.end(), path, " is not something that verify computes for this method");
      auto expected = arrays->numbers(name);
      auto values = at->second;
      std::vector<char> weight;
      if (path == "out/logits" || path == "out/bias") {
        weight = weight_of(group, array);
        if (path == "out/bias") values = shaped(std::move(values), expected.size());
        // A hidden pair is 0 in these files; a bias written out for it all the same must be right.
        for (std::size_t i = 0; i < weight.size(); ++i)
          if (path == "out/bias" && expected[i] != 0) weight[i] = 1;
      }
      bool const whole = name == "bucket";
      worst.compare(text(precision, " ", path), values, expected,
                    whole            ? Tolerance{}
                    : part[0] == 'o' ? out_bound
                                     : grad_bound,
                    weight);
    }
  }
}

void check_encoding(results::Group const& group, encoding::Registry const& registry, VerifyCase& out) {
  Parameters const options = options_of(group);
  Worst worst;
  if (out.method == "alibi_slope_table" || out.method == "t5_bucket_table") {
    std::string const plugin = out.method == "t5_bucket_table" ? "t5" : "alibi";
    if (!registry.has(encoding::Role::encoding, plugin)) return mark_missing(out, plugin);
    compare("float64", group, run_table(group, out.method, options, registry), {.absolute = 1e-10}, {}, worst);
    return worst.write(out);
  }
  if (out.method == "mask_table") {
    for (char const* plugin : {"sliding_window", "streaming_sinks"})
      if (!registry.has(encoding::Role::encoding, plugin)) return mark_missing(out, plugin);
    compare("float64", group, run_mask_table(group, options, registry), {}, {}, worst);
    return worst.write(out);
  }
  int const heads = group.has_array("in/q") ? static_cast<int>(group.array("in/q").shape.at(1)) : 1;
  int const head_dim = group.has_array("in/q") ? static_cast<int>(group.array("in/q").shape.back()) : 1;
  auto const made = encoding_case(out.method, options, heads, head_dim,
                                  [&](std::string const& name) { return group.has_array("par/" + name); });
  if (!made) return mark_missing(out, out.method);
  if (auto const absent = absent_plugin(made->choice, registry); !absent.empty()) return mark_missing(out, absent);
  compare("float64", group, run_encoding<double>(group, *made, registry), {.absolute = 1e-10},
          {.absolute = 1e-9, .by_largest = 1e-9}, worst);
  compare("float32", group, run_encoding<float>(group, *made, registry), {.absolute = 2e-5},
          {.absolute = 1e-5, .by_largest = 1e-5}, worst);
  worst.write(out);
}

}  // namespace

void verify_encodings(results::Group const& file, encoding::Registry const& registry, VerifyReport& report) {
  add_group_cases(file, report,
                  [&](results::Group const& group, VerifyCase& out) { check_encoding(group, registry, out); });
}

}  // namespace sextant::check
