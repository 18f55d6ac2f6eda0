// convert: a rotary encoding and its scaling, from one dialect into another.
#include <sextant/base/file.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/dialect/translate.hpp>
#include <sextant/spec/spec.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <iostream>
#include <iterator>
#include <memory>
#include <numbers>

namespace sextant::cli {
namespace {
using dialect::Comparison;
using dialect::Translation;
using nlohmann::json;

struct ConvertArguments {
  std::string from, to, file;
  dialect::Given given;
  bool explain = false;
};

double wavelength(double inv_freq) { return 2 * std::numbers::pi / inv_freq; }

void print_side(Comparison const& side, ConvertArguments const& a) {
  std::size_t const n = side.read.inv_freq.size(), shown = std::min<std::size_t>(n, 16);
  fmt::print("\n{}in rows of {:.0f} tokens; cos and sin times {:.7g} | {:.7g}\n",
             side.kind.empty() ? "" : side.kind + ", ", side.length, side.read.attention_factor,
             side.written.attention_factor);
  fmt::print("{:>5}  {:>13} {:>13}  {:>13} {:>13}\n", "", a.from, a.to, a.from, a.to);
  fmt::print("{:>5}  {:>13} {:>13}  {:>13} {:>13}\n", "pair", "rad/token", "rad/token", "tokens/turn", "tokens/turn");
  for (std::size_t k = 0; k < shown; ++k) {
    std::size_t const p = n == shown ? k : k * (n - 1) / (shown - 1);
    double const x = side.read.inv_freq[p], y = side.written.inv_freq[p];
    fmt::print("{:>5}  {:>13.7g} {:>13.7g}  {:>13.7g} {:>13.7g}\n", p, x, y, wavelength(x), wavelength(y));
  }
}

// Rows of other lengths are shown where they turn by other frequencies.
std::vector<Comparison const*> telling(Translation const& done) {
  std::vector<Comparison const*> out;
  for (auto const& side : done.sides)
    if (out.empty() || out.back()->kind != side.kind || out.back()->read.inv_freq != side.read.inv_freq ||
        out.back()->read.attention_factor != side.read.attention_factor)
      out.push_back(&side);
  return out;
}

json json_of(dialect::Form const& form) {
  json out = {{"trained_length", form.trained_length}, {"reach", form.reach}, {"head_width", form.head_width}};
  for (auto const& kind : form.kinds) {
    json options = json::object();
    for (auto const& [name, value] : kind.encoding.options) options[name] = encoding::to_text(value);
    out["kinds"].push_back({{"layers", kind.name},
                            {"encoding", kind.encoding.use},
                            {"options", options},
                            {"scaling", spec::label_of(kind.scalings)}});
  }
  return out;
}

json json_of(Comparison const& side) {
  auto const one = [](encoding::Position::Frequencies const& f) {
    return json{{"inv_freq", f.inv_freq}, {"attention_factor", f.attention_factor}};
  };
  return {{"layers", side.kind}, {"length", side.length}, {"read", one(side.read)}, {"written", one(side.written)}};
}

void run_convert(ConvertArguments const& a, Context& context) {
  expect(a.given.architecture.empty() || a.to == "gguf" || a.from == "gguf",
         "convert: --arch goes with keys of GGUF, and neither --from nor --to is gguf");
  std::string const text =
      a.file == "-" ? std::string(std::istreambuf_iterator<char>(std::cin), {}) : read_file(a.file);
  std::string const source = a.file == "-" ? "standard input" : a.file;
  auto const done =
      dialect::translate(dialect::dialect(a.from), dialect::dialect(a.to), text, source, a.given, context.registry());
  if (context.json) {
    json out = {{"from", a.from},
                {"to", a.to},
                {"output", done.text},
                {"assumed", done.remarks.assumed},
                {"lost", done.remarks.lost},
                {"form", json_of(done.form)},
                {"largest_difference", done.largest_difference}};
    for (auto const& side : done.sides)
      if (a.explain) out["sides"].push_back(json_of(side));
    fmt::print("{}\n", out.dump(2));
    return;
  }
  fmt::print("{}", done.text);
  std::fflush(stdout);
  for (auto const& sentence : done.remarks.assumed) fmt::print(stderr, "assumed: {}\n", sentence);
  for (auto const& sentence : done.remarks.lost) fmt::print(stderr, "lost: {}\n", sentence);
  if (!a.explain) return;
  for (auto const* side : telling(done)) print_side(*side, a);
  fmt::print("\nlargest relative difference of the two sides: {:.1e}\n", done.largest_difference);
}
}  // namespace

void add_convert(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "convert", "Translate a rotary encoding and its scaling between the words of several programs",
      {"convert --from hf config.json --to llamacpp", "convert --from hf config.json --to sextant --explain",
       "convert --from llamacpp flags.txt --to vllm --base 1000000 --trained 32768",
       "convert --from sextant spec.yaml --to gguf --head-width 64 --arch qwen2 --json"});
  auto const a = std::make_shared<ConvertArguments>();
  std::string names;
  for (auto const& one : dialect::dialects()) names += fmt::format("\n{:>38}{:<9} {}", "", one.name, one.what);
  command->add_option("--from", a->from, "dialect of FILE, one of" + names)->type_name("DIALECT")->required();
  command->add_option("--to", a->to, "dialect to write")->type_name("DIALECT")->required();
  command->add_option("file", a->file, "what to translate; - reads standard input")->required();
  command->add_option("--trained", a->given.trained_length, "trained length, where FILE does not say it")
      ->type_name("N")
      ->check(CLI::Range(2, 1 << 30));
  command->add_option("--head-width", a->given.head_width, "channels of a head, where FILE does not say it")
      ->type_name("N")
      ->check(CLI::Range(2, 4096));
  command->add_option("--base", a->given.base, "theta, where FILE leaves it to a model")
      ->type_name("X")
      ->check(above(1));
  command->add_option("--arch", a->given.architecture, "architecture that GGUF keys begin with")->type_name("NAME");
  command->add_flag("--explain", a->explain, "show frequencies, wavelengths and magnitudes of both sides");
  takes_json(command, context);
  command->callback([a, &context] { run_convert(*a, context); });
}

}  // namespace sextant::cli
