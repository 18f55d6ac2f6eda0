// advise: which encoding or scaling reaches a length, and what that rests on.
#include <sextant/advise/advise.hpp>
#include <sextant/base/session.hpp>
#include <sextant/cli/command.hpp>
#include <sextant/spec/number.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::cli {
namespace {
struct AdviseArguments {
  std::string trained, target, budget = "0%", task = "any", memory, base;
  advise::Wish wish;
};

double number_from(std::string const& text, char const* option) {
  auto const found = spec::parse_number(text);
  expect(found.has_value(), "advise: ", option, " is ", text, ", expected a number");
  return spec::as_double(*found);
}

// 2% or 0.02.
double share(std::string const& text) {
  bool const percent = text.ends_with('%');
  return number_from(percent ? text.substr(0, text.size() - 1) : text, "--budget") / (percent ? 100 : 1);
}

double bytes_from(std::string const& text) {
  auto const amount = spec::parse_quantity(text);
  auto const unit = amount ? spec::bytes_in(amount->unit) : std::nullopt;
  expect(unit.has_value(), "advise: --memory is ", text, ", expected an amount such as 8GiB");
  return spec::as_double(amount->number) * *unit;
}

void run_advise(AdviseArguments& a, Context& context) {
  Session const kokkos(context.threads);
  expect(a.wish.head_width == 0 || !a.base.empty() || a.wish.cache.layers > 0,
         "advise: --head-width says nothing alone, expected it with --base or with --layers and --kv-heads");
  a.wish.trained = number_from(a.trained, "--trained");
  a.wish.target = number_from(a.target, "--to");
  a.wish.budget = share(a.budget);
  a.wish.task = advise::task_of(a.task);
  if (!a.memory.empty()) a.wish.memory = bytes_from(a.memory);
  if (!a.base.empty()) a.wish.base = number_from(a.base, "--base");
  a.wish.cache.head_width = a.wish.head_width;
  auto const advice = advise::advise(a.wish, context.registry());
  fmt::print("{}", context.json ? advise::advice_json(advice).dump(2) + "\n" : advise::advice_text(advice));
  context.code = advice.answers() ? done : faults;
}
}  // namespace

void add_advise(CLI::App& app, Context& context) {
  auto* const command = add_command(
      app, "advise",
      "Recommend an encoding or a scaling for a length, with reasons and sources, or say that it is not known",
      {"advise --trained 8192 --to 131072 --budget 2%",
       "advise --trained 4096 --to 32768 --task retrieval --base 10000 --head-width 128",
       "advise --trained 8192 --to 131072 --memory 8GiB --layers 32 --kv-heads 8 --head-width 128 --json",
       "advise --from-scratch --trained 512 --to 4096 --task algorithmic"});
  auto const a = std::make_shared<AdviseArguments>();
  command->add_option("--trained", a->trained, "tokens the model is trained at, or will be")
      ->type_name("N")
      ->required();
  command->add_option("--to", a->target, "tokens wanted")->type_name("N")->required();
  command->add_option("--budget", a->budget, "share of the training tokens that may go into tuning, as 2% or 0.02")
      ->type_name("SHARE");
  command->add_option("--task", a->task, "any, lm, retrieval, stream or algorithmic");
  command->add_option("--memory", a->memory, "for keys and values of one sequence, such as 8GiB")->type_name("AMOUNT");
  auto* const layers = command->add_option("--layers", a->wish.cache.layers, "layers of the model");
  auto* const kv_heads = command->add_option("--kv-heads", a->wish.cache.kv_heads, "key heads");
  auto* const head_width = command->add_option("--head-width", a->wish.head_width, "channels of a head");
  layers->check(CLI::Range(1, 4096))->needs(kv_heads)->needs(head_width);  // a cache has all three
  kv_heads->check(CLI::Range(1, 4096))->needs(layers);
  head_width->check(CLI::Range(2, 4096));
  command->add_option("--number-bytes", a->wish.cache.number_bytes, "bytes of a cached number")
      ->check(between(0.25, 8))
      ->needs(layers);
  command->add_option("--base", a->base, "theta of the model's rotation")->type_name("X");
  command->add_flag("--from-scratch", a->wish.from_scratch, "the model is yet to be trained, at --trained tokens");
  takes_json(command, context);
  command->callback([a, &context] { run_advise(*a, context); });
}

}  // namespace sextant::cli
