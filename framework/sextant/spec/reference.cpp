#include <sextant/base/error.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/probes.hpp>
#include <sextant/spec/published.hpp>
#include <sextant/spec/reference.hpp>
#include <sextant/spec/schema.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using encoding::Option;

std::string fallback_text(Option const& option) {
  if (!option.fallback) return "**required**";
  if (!option.auto_meaning.empty()) return text("`auto`: ", option.auto_meaning);
  return text("`", encoding::to_text(*option.fallback), "`");
}

template <class S>
std::string value_text(Field<S> const& field) {
  Option option = field.option;
  if (field.words)
    return option.choices.empty() ? "a text or a list of texts" : text("a list of ", join(option.choices));
  if (option.unit.starts_with("a")) return option.unit;  // described in full
  if (option.unit.starts_with("tokens or")) return "an amount: `4096 tokens` or `16 rows`";
  return expectation(option);
}

std::string row(std::string const& key, std::string const& value, std::string const& fallback,
                std::string const& help) {
  return text("| `", key, "` | ", value, " | ", fallback, " | ", help, " |\n");
}

template <class S>
std::string rows(std::vector<Field<S>> const& fields, std::string const& prefix) {
  std::string out;
  for (auto const& field : fields)
    if (field.name().starts_with(prefix))
      out += row(field.name(), value_text(field), fallback_text(field.option), field.option.help);
  return out;
}

std::string const head = "| key | value | default | meaning |\n|---|---|---|---|\n";

// Fields whose first component is a block of its own.
std::vector<std::string> blocks() {
  std::vector<std::string> names;
  for (auto const& field : document_fields()) {
    auto const dot = field.name().find('.');
    if (dot == std::string::npos) continue;
    std::string const block = field.name().substr(0, dot);
    if (names.empty() || names.back() != block) names.push_back(block);
  }
  return names;
}

std::string probe_table() {
  std::string out = "| probe | reads | measure | units | is |\n|---|---|---|---|---|\n";
  for (auto const& probe : probes())
    for (auto const& measure : probe.measures) {
      bool const usual = std::find(probe.usual.begin(), probe.usual.end(), measure.name) != probe.usual.end();
      out += text("| `", probe.name, "` | ", probe.reads_task ? "task" : "text", " | `", measure.name, "`",
                  usual ? "" : " (when asked for)", " | ", measure.units, " | ", measure.about, " |\n");
    }
  return out;
}

std::string special(std::vector<SpecialKey> const& keys) {
  std::string out = "| key | value | meaning |\n|---|---|---|\n";
  for (auto const& key : keys) out += text("| `", key.name, "` | ", key.expectation, " | ", key.help, " |\n");
  return out;
}
}  // namespace

std::string spec_reference() {
  std::string out = "### At the top\n\n" + head;
  for (auto const& field : document_fields())
    if (field.name().find('.') == std::string::npos)
      out += row(field.name(), value_text(field), fallback_text(field.option), field.option.help);
  for (auto const& block : blocks()) out += text("\n### ", block, "\n\n", head, rows(document_fields(), block + "."));
  out += text("\n### An item of evaluate\n\n", head, rows(evaluation_fields(), ""));
  out += text("\n### Probes\n\n", probe_table());
  out += text("\n### claims\n\n", head, rows(claims_fields(), ""));
  out += text("\n### An item of claims.list\n\n", head, rows(claim_fields(), ""));
  out += text("\n### An item of reference\n\n", head, rows(published_fields(), ""));
  out += text("\n### An item of reference.values\n\n", head, rows(published_value_fields(), ""));
  out += text("\n### Keys apart\n\n", special(special_keys()));
  out += text("\n### An item of vary\n\n", special(vary_keys()));
  out += text("\nNot offered yet, and refused: ", join(coming_keys()), ".\n");
  return out;
}

}  // namespace sextant::spec
