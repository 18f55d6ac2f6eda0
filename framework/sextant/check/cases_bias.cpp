// Biases of the distance, hidden keys, and scales of the logits.
#include <sextant/base/error.hpp>
#include <sextant/check/cases.hpp>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Options;

EncodingCase kerple(std::string const& form) {
  EncodingCase out = alone({"kerple", {{"form", form}}, {}});
  out.learned = {{"r1", "kerple.kernel", false, 0}, {"r2", "kerple.kernel", false, 1}};
  return out;
}

EncodingCase sandwich(Parameters const& from) {
  int const first = from.whole("freq_first", 1);
  expect(first == 0 || first == 1, "parameter freq_first is ", first, ", expected 0 or 1");
  return alone({"sandwich",
                {{"width", count_option(from, "bar_d", 128)},
                 {"base", from.number("base", 10000)},
                 {"from_zero", first == 0},
                 {"centered", from.flag("centered", true)}},
                {}});
}

EncodingCase fire(Parameters const& from) {
  EncodingCase out = alone({"fire",
                            {{"width", count_option(from, "width", 32)},
                             {"threshold", from.number("L0", 512)},
                             {"eps", from.number("eps", 1e-6)}},
                            {}});
  for (std::string const name : {"c", "L_mult", "w1", "b1", "w2", "b2"}) out.learned.push_back({name, "fire." + name});
  return out;
}

/// The scale beside the encoding it scales; out/factor is what it gives at each position.
EncodingCase logn(Parameters const& from) {
  EncodingCase out;
  from.allow({"layout", "base"});
  if (from.flag("rope", false)) out.choice.encodings.push_back(rope_choice(from));
  if (from.flag("alibi", false)) out.choice.encodings.push_back({"alibi", {}, {}});
  out.choice.encodings.push_back(
      {"logn", {{"trained_length", from.needed("train_len")}, {"clip", from.flag("clip", true)}}, {}});
  out.own = [](CaseProbe const& at, Quantities& quantities) {
    auto const& scale = *at.position.terms().back().encoding;
    for (double p : at.positions) quantities["out/factor"].push_back(scale.query_scale(p));
  };
  return out;
}
}  // namespace

std::optional<EncodingCase> bias_case(CaseInput const& in) {
  if (in.method == "kerple_log") return kerple("log");
  if (in.method == "kerple_power") return kerple("power");
  if (in.method == "sandwich") return sandwich(in.from);
  if (in.method == "fire") return fire(in.from);
  if (in.method == "logn") return logn(in.from);
  return std::nullopt;
}

}  // namespace sextant::check
