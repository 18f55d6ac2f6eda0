// Flags of llama.cpp's programs, over what the model file says itself.
//
// Theirs: frequencies times --rope-freq-scale (1 / --rope-scale) under linear; under yarn the released ramp, always truncated,
// mixed in by --yarn-ext-factor; cos and sin times --yarn-attn-factor, and under yarn also times 0.1 ln(scale) + 1.
// Source: common/arg.cpp, src/llama-context.cpp and ggml's rope of llama.cpp.
#include <sextant/base/error.hpp>
#include <sextant/dialect/dialect.hpp>
#include <sextant/dialect/fields.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/dialect/rope_block.hpp>

#include <algorithm>

namespace sextant::dialect {
namespace {
using spec::Node;

std::vector<std::string> const flags = {
    "--rope-scaling",    "--rope-scale",       "--rope-freq-base", "--rope-freq-scale", "--yarn-orig-ctx",
    "--yarn-ext-factor", "--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast",  "--ctx-size"};

Node flags_of(std::string const& text, std::string const& source) {
  Node map = Node::map({source, 1, 1});
  int line = 1;
  std::size_t begin_of_line = 0;
  std::optional<spec::Entry> open;
  for (std::size_t at = 0; at < text.size();) {
    if (text[at] == '\n') ++line, begin_of_line = at + 1;
    if (std::string_view(" \t\r\n\\").find(text[at]) != std::string_view::npos) {
      ++at;
      continue;
    }
    std::size_t const end = std::min(text.find_first_of(" \t\r\n", at), text.size());
    std::string word = text.substr(at, end - at);
    spec::Place const place{source, line, static_cast<int>(at - begin_of_line) + 1};
    at = end;
    if (open) {
      open->value = Node::scalar(word, place);
      map.entries.push_back(*open);
      open.reset();
      continue;
    }
    if (word == "-c") word = "--ctx-size";
    bool const known = std::find(flags.begin(), flags.end(), word) != flags.end();
    expect(known, place.text(), ": found ", word, ", expected a flag on positions", did_you_mean(word, flags));
    expect(!map.find(word), place.text(), ": ", word, " is given twice, expected once");
    open = spec::Entry{word, place, {}};
  }
  expect(!open, open ? open->place.text() : "", ": ", open ? open->key : "", " has no value");
  return map;
}

std::optional<double> scale_of(Fields const& given) {
  auto const scale = given.option("--rope-scale", {.name = "factor",
                                                   .help = "",
                                                   .unit = "",
                                                   .fallback = {},
                                                   .auto_meaning = "",
                                                   .choices = {},
                                                   .range = encoding::at_least(1)});
  auto const inverse = given.number("--rope-freq-scale", encoding::positive);
  expect(!inverse || *inverse <= 1, given.place(), ": --rope-freq-scale is ", inverse.value_or(0),
         ", expected a number from 0 to 1: it multiplies frequencies, 1 / factor; did you mean --rope-scale ",
         inverse.value_or(0), "?");
  double const factor = inverse ? rounded(1 / *inverse) : 1;
  if (!scale) return inverse ? std::optional(factor) : std::nullopt;
  double const said = spec::as_double(*scale);
  expect(!inverse || said == factor, given.place(), ": --rope-scale is ", said, " and --rope-freq-scale ",
         inverse.value_or(0), ", expected one of them, or reciprocals");
  return said;
}

void refuse_idle(Fields const& given, std::vector<std::string> const& idle, std::string const& type) {
  for (auto const& flag : idle)
    if (auto const* node = given.find(flag))
      fail(node->place.text(), ": ", flag, " is given under --rope-scaling ", type, ", expected it under yarn alone");
}

Choice yarn_of(Fields const& given, double factor, Form const& form, Kind const& kind, Registry const& registry,
               Given const& told, Remarks& remarks) {
  Choice yarn{"yarn", {{"factor", factor}}, {}};
  int original = given.whole("--yarn-orig-ctx", 0).value_or(0);
  if (original == 0) {
    original = told.trained_length;
    expect(original > 0, given.place(),
           ": --yarn-orig-ctx is missing: the model's own trained length holds, which flags "
           "do not show; give --trained");
    remarks.assume(text("--yarn-orig-ctx is not given: the trained length ", original, " holds"));
  }
  yarn.options["original_length"] = static_cast<std::int64_t>(original);
  for (auto const& [flag, option] : {std::pair{"--yarn-beta-fast", "beta_fast"}, {"--yarn-beta-slow", "beta_slow"}})
    if (auto const beta = given.number(flag, encoding::positive)) yarn.options[option] = *beta;
  multiply_magnitude(yarn, given.number("--yarn-attn-factor", encoding::positive).value_or(1), kind, form, registry);
  return yarn;
}
}  // namespace

Read read_llamacpp(std::string const& text, std::string const& source, Given const& told, Registry const& registry) {
  Node const node = flags_of(text, source);
  Fields const given(node, "");
  Read out;
  out.form = {.kinds = {{"", {"rope", {}, {}}, {}}},
              .trained_length = told.trained_length,
              .reach = given.whole("--ctx-size", 0).value_or(0),
              .head_width = told.head_width};
  Kind& kind = out.form.kinds.front();
  auto const base = given.number("--rope-freq-base", encoding::above(1));
  if (base || told.base > 0) kind.encoding.options["base"] = base ? *base : told.base;
  auto const factor = scale_of(given);
  auto const named = given.option("--rope-scaling", {.name = "",
                                                     .help = "",
                                                     .unit = "",
                                                     .kind = encoding::Kind::text,
                                                     .fallback = {},
                                                     .auto_meaning = "",
                                                     .choices = {"none", "linear", "yarn"},
                                                     .range = {}});
  std::string type = named ? std::get<std::string>(*named) : "linear";
  if (!named && factor) out.remarks.assume("--rope-scaling is not given: linear, unless the model file says otherwise");
  double const mix = given.number("--yarn-ext-factor").value_or(-1);
  if (type == "yarn") {
    expect(mix == -1 || mix == 0 || mix == 1, given.place(), ": --yarn-ext-factor is ", mix,
           ", expected 1 (or 0: full interpolation): yarn here mixes whole or not at all");
    if (!factor) given.missing("--rope-scale", "yarn needs a factor, and the model's own is not shown");
    if (mix == 0) {
      refuse_idle(given, {"--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast"},
                  "yarn with --yarn-ext-factor 0");
      out.remarks.assume("--yarn-ext-factor 0 is full interpolation: linear");
      type = "linear";
    }
  } else {
    refuse_idle(given,
                {"--yarn-orig-ctx", "--yarn-ext-factor", "--yarn-attn-factor", "--yarn-beta-slow", "--yarn-beta-fast"},
                type);
  }
  if (type == "none")
    expect(!factor, given.place(), ": --rope-scaling none with a scale of ", factor.value_or(1),
           ", which has no effect");
  else if (type == "yarn")
    kind.scalings.push_back(yarn_of(given, *factor, out.form, kind, registry, told, out.remarks));
  else if (factor && *factor != 1)
    kind.scalings.push_back({"linear", {{"factor", *factor}}, {}});
  if (type == "yarn")
    out.form.trained_length = static_cast<int>(*number_of(kind.scalings[0].options, "original_length"));
  return out;
}

std::string why_not_in_llamacpp(std::string const& scaling) {
  if (scaling == "llama3")
    return "llama.cpp takes llama3's factors from the tensor rope_freqs.weight that its converter writes; no key says "
           "them";
  if (scaling == "longrope")
    return "llama.cpp takes the lists from the tensors rope_factors_short.weight and rope_factors_long.weight; no key "
           "says "
           "them";
  if (scaling == "dynamic") return "llama.cpp has one table for every length";
  return "llama.cpp knows linear and yarn";
}

void expect_llamacpp_knows(Choice const& scaling) {
  bool const known = scaling.use == "linear" || scaling.use == "yarn";
  expect(known, scaling.use, " has no words in llama.cpp: ", known ? "" : why_not_in_llamacpp(scaling.use));
  expect(!has(scaling.options, "truncate"),
         "yarn.truncate is false, and llama.cpp always rounds the ramp's ends outwards");
}

Text write_llamacpp(Form const& form, Registry const& registry) {
  expect(form.kinds.size() == 1 && !form.kinds.front().encoding.layers,
         "layers turn by different bases, and flags of llama.cpp set one for all; --to gguf has keys for it");
  Text out;
  Kind const kind = with_plain_base(form.kinds.front(), form, registry, out.remarks);
  Choice const* const scaling = only_scaling(kind, "llama.cpp");
  auto const put = [&](char const* flag, double value) { out.text += text(" ", flag, " ", plain_number(value)); };
  out.text = "--rope-scaling " + (scaling ? scaling->use : "none");
  if (scaling) {
    expect_llamacpp_knows(*scaling);
    put("--rope-scale", *number_of(scaling->options, "factor"));
  }
  if (auto const base = number_of(kind.encoding.options, "base")) put("--rope-freq-base", *base);
  auto const original = scaling ? number_of(scaling->options, "original_length") : std::nullopt;
  if (scaling && scaling->use == "yarn") {
    expect(original.has_value(), "yarn needs --yarn-orig-ctx, and no trained length is said: give --trained");
    put("--yarn-orig-ctx", *original);
    if (auto const beta = number_of(scaling->options, "beta_fast")) put("--yarn-beta-fast", *beta);
    if (auto const beta = number_of(scaling->options, "beta_slow")) put("--yarn-beta-slow", *beta);
    if (double const r = relative_magnitude(*scaling, kind, form, registry, out.remarks); r != 1) {
      put("--yarn-attn-factor", r);
      out.remarks.lose(
          "builds since December 2025 overwrite --yarn-attn-factor under yarn: for them set "
          "ARCH.rope.scaling.attn_factor in the file (--to gguf)");
    }
  }
  if (form.trained_length > 0 && original != form.trained_length)
    out.remarks.lose(text("trained_length ", form.trained_length, ": the model file says it"));
  if (has(kind.encoding.options, "rotary_dim") || has(kind.encoding.options, "share"))
    out.remarks.lose("how many channels turn: the model file says it");
  if (has(kind.encoding.options, "layout"))
    out.remarks.lose("layout: the architecture decides which channels pair up in llama.cpp");
  out.text += "\n";
  return out;
}

}  // namespace sextant::dialect
