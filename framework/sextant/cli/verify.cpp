// verify: the plugins against reference numbers.
#include <sextant/base/session.hpp>
#include <sextant/check/verify.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>

#include <memory>

namespace sextant::cli {

void add_verify(CLI::App& app, Context& context) {
  struct Arguments {
    std::vector<std::string> files;
    bool failures = false;
    check::VerifyOptions options;
  };
  auto* const command =
      add_command(app, "verify", "Hold the plugins to reference numbers: exit 0 only if every case passes",
                  {"verify encodings.h5", "verify scaling.json rotation.h5 --failures",
                   "verify smollm2.json --model SmolLM2-135M-Instruct.Q4_1.gguf"});
  auto const a = std::make_shared<Arguments>();
  command->add_option("file", a->files, "reference files: scaling or smollm2 (JSON), rotation or encodings (HDF5)")
      ->required();
  command
      ->add_option("--model", a->options.model,
                   "the model whose logits a file holds (default: found in the model cache)")
      ->type_name("FILE");
  command->add_flag("--exact", a->options.exact, "compute a model's logits in float64 too");
  command->add_flag("--bf16", a->options.bf16, "compute a model's logits and losses in bf16 too, to wider bounds");
  command->add_flag("--failures", a->failures, "print only the cases that did not pass");
  takes_json(command, context);
  command->callback([a, &context] {
    expect(!a->failures || !context.json, "verify: --failures is of the table, and --json has every case: give one");
    Session const kokkos(context.threads);
    a->options.cache = tasks::default_cache();
    std::vector<std::string> objects;
    int models = 0;
    for (auto const& file : a->files) {
      auto const report = check::verify(file, context.registry(), a->options);
      if (context.json)
        objects.push_back(report.json());
      else
        fmt::print("{}", report.table(a->failures));
      if (!report.passed()) context.code = failed;
      models += report.format == "sextant-smollm2";
    }
    auto const& o = a->options;
    expect(models > 0 || (o.model.empty() && !o.exact && !o.bf16),
           "verify: --model, --exact and --bf16 are of a model's logits, and no file holds those");
    if (objects.size() == 1)
      fmt::print("{}\n", objects.front());
    else if (context.json)
      fmt::print("[{}]\n", join(objects, ",\n"));
  });
}

}  // namespace sextant::cli
