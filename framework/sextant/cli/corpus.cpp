// corpus: texts made from installed packages, and what is in them.
#include <sextant/cli/command.hpp>
#include <sextant/tasks/corpus.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <memory>

namespace sextant::cli {
namespace {
using nlohmann::ordered_json;

/// Of a record or a corpus: both have these members.
template <class Text>
ordered_json facts(Text const& text, std::int64_t bytes) {
  return {{"name", text.name},     {"bytes", bytes},        {"documents", text.documents.size()},
          {"sha256", text.sha256}, {"source", text.source}, {"licence", text.licence}};
}

void print_facts(ordered_json const& facts) {
  fmt::print("{}: {} bytes in {} document{}, sha256 {}\n  {}\n  licence: {}\n", facts["name"].get<std::string>(),
             facts["bytes"].get<std::int64_t>(), facts["documents"].get<int>(), facts["documents"] == 1 ? "" : "s",
             facts["sha256"].get<std::string>(), facts["source"].get<std::string>(),
             facts["licence"].get<std::string>());
}

void show(std::string const& name, double test_share, bool json) {
  tasks::Corpus const corpus = tasks::load_corpus(name, tasks::default_cache());
  auto const held = corpus.documents.size() < 2 ? std::vector<tasks::Document>()
                                                : tasks::divide(corpus.documents, 1 - test_share, test_share).test;
  auto out = facts(corpus, static_cast<std::int64_t>(corpus.bytes.size()));
  if (!json) print_facts(out);
  if (!json) fmt::print("{:>12} {:>10}  held out  document\n", "offset", "bytes");
  out["documents"] = ordered_json::array();
  auto next = held.begin();
  for (auto const& document : corpus.documents) {
    bool const out_of_training = next != held.end() && *next == document;
    if (out_of_training) ++next;
    if (json)
      out["documents"].push_back({{"name", document.name},
                                  {"offset", document.offset},
                                  {"bytes", document.length},
                                  {"held_out", out_of_training}});
    else
      fmt::print("{:>12} {:>10}  {:<8}  {}\n", document.offset, document.length, out_of_training ? "yes" : "",
                 document.name);
  }
  if (json) fmt::print("{}\n", out.dump(2));
}

void list(bool json) {
  auto all = ordered_json::array();
  for (auto const& recipe : tasks::corpus_recipes())
    if (json)
      all.push_back(
          {{"name", recipe.name}, {"about", recipe.about}, {"licence", recipe.licence}, {"packages", recipe.packages}});
    else
      fmt::print("{:<12} {}  [{}]\n", recipe.name, recipe.about, join(recipe.packages, " "));
  if (json) fmt::print("{}\n", all.dump(2));
}

}  // namespace

void add_corpus(CLI::App& app, Context& context) {
  auto* const command = add_command(app, "corpus", "Build a text corpus from an installed package, show or list them",
                                    {"corpus add kjv", "corpus show faq", "corpus list"});
  command->require_subcommand(1);
  auto const name = std::make_shared<std::string>();
  auto* const adding = command->add_subcommand("add", "build a corpus in the cache");
  adding->add_option("name", *name, "see `sextant corpus list`")->required();
  takes_json(adding, context);
  adding->callback([name, &context] {
    auto const record = tasks::add_corpus(*name, tasks::default_cache());
    auto const out = facts(record, record.bytes);
    if (context.json)
      fmt::print("{}\n", out.dump(2));
    else
      print_facts(out);
  });
  auto const test_share = std::make_shared<double>(0.06);
  auto* const showing = command->add_subcommand("show", "the documents of a corpus, and which are held out whole");
  showing->add_option("name", *name, "a known corpus, or your own file or folder")->required();
  showing->add_option("--test", *test_share, "share of the bytes to hold out: data.split.test of a spec")
      ->check(between(0.0001, 0.9999))
      ->capture_default_str();
  takes_json(showing, context);
  showing->callback([name, test_share, &context] { show(*name, *test_share, context.json); });
  auto* const listing = command->add_subcommand("list", "corpora that Sextant can build");
  takes_json(listing, context);
  listing->callback([&context] { list(context.json); });
}

}  // namespace sextant::cli
