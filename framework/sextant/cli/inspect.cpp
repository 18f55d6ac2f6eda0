// inspect: what an encoding does, known without training anything.
#include <sextant/base/file.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/cli/inspection.hpp>
#include <sextant/cli/specs.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::cli {
namespace {
using encoding::Role;

struct InspectArguments {
  std::string encoding, scaling, length, trained, plots;
  int heads = 8, kv_heads = 0, head_width = 64, width = 0, head = 0, layer = 0;
  std::uint64_t seed = 1;
};

void run_inspect(InspectArguments const& a, Context& context) {
  Session const kokkos(context.threads);
  auto const& registry = context.registry();
  encoding::PositionChoice choice{choices_of(a.encoding, Role::encoding, "encoding", registry), {}, 0};
  if (!a.scaling.empty()) choice.scalings = choices_of(a.scaling, Role::scaling, "scaling", registry);
  double const length = token_count(a.length, "inspect: --length");
  if (!a.trained.empty()) choice.trained_length = token_count(a.trained, "inspect: --trained");
  expect(a.head >= 0 && a.head < a.heads, "inspect: --head is ", a.head, ", expected 0 to ", a.heads - 1);
  encoding::Shape const shape{.heads = a.heads,
                              .kv_heads = a.kv_heads > 0 ? a.kv_heads : a.heads,
                              .head_dim = a.head_width,
                              .model_dim = a.width > 0 ? a.width : a.heads * a.head_width};
  inspect::Subject const subject(choice, registry, {shape, length, a.seed, a.layer});
  Inspection const found{.encoding = a.encoding,
                         .scaling = a.scaling == "none" ? "" : a.scaling,
                         .subject = subject,
                         .wavelengths = inspect::wavelengths(subject),
                         .expected_logit = inspect::expected_logit(subject),
                         .bias = inspect::bias_profile(subject),
                         .spectrum = inspect::spectrum(subject, a.head),
                         .tables = inspect::tables(subject),
                         .rank = inspect::rotary_rank(subject),
                         .precision = inspect::precision(subject),
                         .cost = inspect::cost(subject)};
  if (!a.plots.empty()) make_folder(a.plots);
  fmt::print("{}", context.json ? inspection_json(found).dump(2) + "\n" : inspection_text(found));
  if (a.plots.empty()) return;
  for (auto const& [name, svg] : inspection_plots(found)) {
    auto const file = fs::path(a.plots) / (name + ".svg");
    write_file_atomically(file, svg);
    fmt::print(stderr, "{}\n", fs::absolute(file).lexically_normal().string());
  }
}
}  // namespace

void add_inspect(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "inspect", "What an encoding does by itself: wavelengths, decay, spectrum, precision, cost; no training",
      {"inspect rope --length 32768 --trained 8192",
       "inspect '{use: rope, base: 500000}' '{use: yarn, factor: 4}' --length 32768 --trained 8192",
       "inspect '[rope, alibi]' --length 4096 --plots pictures", "inspect learned --length 512 --seed 2 --json"});
  auto const a = std::make_shared<InspectArguments>();
  command->add_option("encoding", a->encoding, "what a spec says under position.encoding: a name, {use: ...} or a list")
      ->required();
  command->add_option("scaling", a->scaling, "what a spec says under position.scaling");
  command->add_option("--length", a->length, "tokens to look at")->type_name("N")->required();
  command->add_option("--trained", a->trained, "tokens the model is trained at")->type_name("M");
  command->add_option("--heads", a->heads, "query heads")->check(CLI::Range(1, 1024));
  command->add_option("--kv-heads", a->kv_heads, "key heads (default: as many)")->check(CLI::Range(1, 1024));
  command->add_option("--head-width", a->head_width, "channels of a head")->check(CLI::Range(1, 512));
  command->add_option("--width", a->width, "channels of the model (default: heads times head width)")
      ->check(CLI::Range(1, 65536));
  command->add_option("--head", a->head, "head whose spectrum is shown");
  command->add_option("--layer", a->layer, "layer that is looked at, where encodings act in some layers only")
      ->check(CLI::Range(0, 1023));
  command->add_option("--seed", a->seed, "of trained tensors, which are shown at their starting values")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 40));
  command->add_option("--plots", a->plots, "write a picture of each analysis into this folder")->type_name("FOLDER");
  takes_json(command, context);
  command->callback([a, &context] { run_inspect(*a, context); });
}

}  // namespace sextant::cli
