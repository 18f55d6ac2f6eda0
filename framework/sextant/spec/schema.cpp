#include <sextant/base/error.hpp>
#include <sextant/spec/check.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using encoding::above;
using encoding::at_least;
using encoding::between;
using encoding::MayBeAuto;
using encoding::positive;
using encoding::required;
using encoding::Role;
using encoding::Unit;
using Doc = Document;

constexpr auto size = between(1, 1 << 20);  // of a shape
constexpr Unit tokens{"tokens"}, steps{"steps"}, seconds{"s"}, bytes{"B"};

// train.batch: an amount of tokens or of rows.
Field<Doc> batch_field() {
  Field<Doc> field;
  field.option.name = "train.batch";
  field.option.help = "what one step reads; tokens must fill whole rows of train.length";
  field.option.kind = encoding::Kind::integer;
  field.option.range = at_least(1);
  field.option.unit = "tokens or rows: the unit is part of the value, as in 4096 tokens";
  field.read = [option = field.option](Doc& doc, Node const& node, std::string const& path, Reading&) {
    auto const quantity = node.is_scalar() && !node.quoted ? parse_quantity(node.text) : std::nullopt;
    std::string const unit = quantity ? quantity->unit : "";
    bool const rows = unit == "rows" || unit == "row", in_tokens = unit == "tokens" || unit == "token";
    if (!rows && !in_tokens)
      fail(node.place.text(), ": ", path, " is ", found(node),
           ", expected an amount with its unit, as in 4096 tokens or 16 rows");
    encoding::Option count = option;
    count.unit = rows ? "rows" : "tokens";
    doc.setting.train.batch.count = std::get<std::int64_t>(read_value(node, count, path));
    doc.setting.train.batch.in_rows = rows;
  };
  field.write = [](Doc const& doc, std::string const&, Reading const&) {
    auto const& batch = doc.setting.train.batch;
    return Written{std::to_string(batch.count) + (batch.in_rows ? " rows" : " tokens"), {}};
  };
  return field;
}

Field<Doc> choices_field(std::string name, Role role, std::string help) {
  bool const encodings = role == Role::encoding;
  auto const get = [encodings](auto& doc) -> auto& {
    return encodings ? doc.setting.position.encodings : doc.setting.position.scalings;
  };
  Field<Doc> field;
  field.option.name = std::move(name);
  field.option.help = std::move(help);
  field.option.kind = encoding::Kind::text;
  field.option.unit =
      encodings ? "an encoding, {use: name, options} or a list to sum" : "a scaling, {use: name, options} or a list";
  if (!encodings) field.option.fallback = "none";
  field.read = [get, role](Doc& doc, Node const& node, std::string const& path, Reading& reading) {
    get(doc) = read_choices(node, role, path, reading);
  };
  field.write = [get, role](Doc const& doc, std::string const& path, Reading const& reading) {
    return write_choices(get(doc), role, path, reading);
  };
  return field;
}

template <class Get, class... Tag>
Field<Doc> key(std::string path, Get get, std::string help, Tag... tag) {
  return field<Doc>(std::move(path), get, std::move(help), std::move(tag)...);
}
Automatic<Doc> automatic(char const* meaning, void (*rule)(Setting&)) {
  return {meaning, [rule](Doc& doc) { rule(doc.setting); }};
}

// Keeps the node of a claim's key, and where in the document the claim is.
Field<ClaimItem> noting(Field<ClaimItem> field, Node ClaimItem::*node) {
  field.read = [read = field.read, node](ClaimItem& item, Node const& found, std::string const& path,
                                         Reading& reading) {
    read(item, found, path, reading);
    item.path = path.substr(0, path.rfind('.'));
    if (node) item.*node = found;
  };
  return field;
}

// Written as it stands: an amount, which quotes would make a text.
template <class Get>
Field<ClaimItem> margin_field(Get get) {
  auto field = noting(spec::field<ClaimItem>(
                          "margin", get, "how far apart the sides must be (`<`, `>`), or how near (`==`, `<=`, `>=`)",
                          Unit{"an amount such as 0.02 nat, or a share of the right side such as 2 %"}, MayBeAuto{"0"}),
                      &ClaimItem::margin_node);
  field.write = [get](ClaimItem const& item, std::string const&, Reading const&) { return Written{get(item), {}}; };
  return field;
}

// A member of the document, for reading and for writing.
#define AT(member) \
  [](auto& doc) -> auto& { return doc.member; }

std::vector<Field<Doc>> head_fields() {
  return {
      key("sextant", AT(version), "version of this format", required, between(schema_version, schema_version)),
      key("study", AT(head.study), "short name: letters, digits, - and _; names the results", required),
      key("title", AT(head.title), "a line for tables and the report",
          Automatic<Doc>{"the study's name", [](Doc& doc) { doc.head.title = doc.head.study; }}),
      key("question", AT(head.question), "what the study asks, for the report", MayBeAuto{"left open"}),
      key("source", AT(head.source), "papers or texts that the study follows"),
      key("tier", AT(head.tier), "the tier that holds unless --tier names another", OneOf{tier_names}),
      key("budget.wall", AT(head.budget.wall), "refused by `plan` when the estimate is longer", seconds, positive,
          MayBeAuto{"no limit"}),
      key("budget.memory", AT(head.budget.memory), "refused by `plan` when a stage needs more", bytes, positive,
          MayBeAuto{"what the machine has free"}),
  };
}

std::vector<Field<Doc>> model_fields() {
  return {
      key("model.family", AT(setting.model.family), "kind of network", Words<Family>{{{"decoder", Family::decoder}}}),
      key("model.layers", AT(setting.model.layers), "layers", required, size),
      key("model.width", AT(setting.model.width), "channels of the residual stream", required, size),
      key("model.heads", AT(setting.model.heads), "query heads", required, size),
      key("model.kv_heads", AT(setting.model.kv_heads), "key and value heads; divides heads", size,
          automatic("heads", [](Setting& s) { s.model.kv_heads = s.model.heads; })),
      key("model.head_width", AT(setting.model.head_width), "channels of a head", size,
          automatic("width / heads",
                    [](Setting& s) { s.model.head_width = s.model.width / std::max(s.model.heads, 1); })),
      key("model.mlp.kind", AT(setting.model.mlp.kind), "form of the feed-forward layer",
          Words<MlpKind>{{{"swiglu", MlpKind::swiglu}, {"gelu", MlpKind::gelu}}}),
      key("model.mlp.width", AT(setting.model.mlp.width), "hidden channels", size,
          automatic(
              "3 width for swiglu, 4 width for gelu",
              [](Setting& s) { s.model.mlp.width = s.model.width * (s.model.mlp.kind == MlpKind::swiglu ? 3 : 4); })),
      key("model.norm.kind", AT(setting.model.norm.kind), "normalisation before each layer",
          Words<NormKind>{{{"rmsnorm", NormKind::rmsnorm}, {"layernorm", NormKind::layernorm}}}),
      key("model.norm.eps", AT(setting.model.norm.eps), "added to the mean square", positive),
      key("model.qk_norm", AT(setting.model.qk_norm), "normalise queries and keys before they are turned"),
      key("model.kv_shift", AT(setting.model.kv_shift), "mix keys and values with those of the token before"),
      key("model.tie_embedding", AT(setting.model.tie_embedding), "the output layer is the token embedding"),
      key("model.init.std", AT(setting.model.init.std), "of the normal distribution that weights are drawn from",
          positive),
      key("model.init.residual", AT(setting.model.init.residual),
          "by_depth: weights that write to the residual stream start at std / sqrt(2 layers)",
          Words<Residual>{{{"by_depth", Residual::by_depth}, {"none", Residual::none}}}),
  };
}

std::vector<Field<Doc>> train_fields() {
  return {
      key("train.steps", AT(setting.train.steps), "optimiser steps", required, at_least(1), steps),
      key("train.length", AT(setting.train.length), "tokens a row", required, at_least(2), tokens),
      batch_field(),
      key("train.optimiser.use", AT(setting.train.optimiser.use), "update rule",
          Words<Optimiser>{{{"adamw", Optimiser::adamw}}}),
      key("train.optimiser.rate", AT(setting.train.optimiser.rate), "peak learning rate", required, positive),
      key("train.optimiser.betas", AT(setting.train.optimiser.betas), "decay of the two moments", between(0, 1)),
      key("train.optimiser.eps", AT(setting.train.optimiser.eps), "added to the root of the second moment", positive),
      key("train.optimiser.decay", AT(setting.train.optimiser.decay), "weight decay, decoupled", at_least(0)),
      key("train.optimiser.clip", AT(setting.train.optimiser.clip), "largest norm of the gradient; 0: not clipped",
          at_least(0)),
      key("train.schedule.use", AT(setting.train.schedule.use), "learning rate over the steps",
          Words<ScheduleKind>{{{"cosine", ScheduleKind::cosine}}}),
      key("train.schedule.warmup", AT(setting.train.schedule.warmup), "steps of linear rise from 0", at_least(0),
          steps),
      key("train.schedule.floor", AT(setting.train.schedule.floor),
          "share of the peak rate that is left at the last step", between(0, 1)),
      key("train.precision", AT(setting.train.precision), "numbers that weights and activations are held in",
          Words<Precision>{{{"fp32", Precision::fp32}}}),
      key("train.save.every", AT(setting.train.save.every), "steps between checkpoints that a killed run resumes from",
          at_least(1), steps, MayBeAuto{"only at the end"}),
      key("train.seeds", AT(setting.train.seeds), "one run each; 0 is a seed like any other", required, at_least(0)),
  };
}

std::vector<Field<Doc>> all_fields() {
  auto fields = head_fields();
  auto const append = [&](std::vector<Field<Doc>> more) { fields.insert(fields.end(), more.begin(), more.end()); };
  append(model_fields());
  append({
      choices_field(
          "position.encoding", Role::encoding,
          "how the model learns where a token stands; a list is summed; `layers` beside `use` limits one to layers"),
      choices_field("position.scaling", Role::scaling, "what stretches the rotary encodings, in this order"),
      key("position.trained_length", AT(setting.position.trained_length),
          "tokens that scalings take the model to be trained at", at_least(1), tokens,
          automatic("train.length", [](Setting& s) { s.position.trained_length = s.train.length; })),
      key("data.corpus", AT(setting.data.corpus),
          "a text that `sextant list corpora` knows, or the path of a file beside the spec", required),
      key("data.tokens", AT(setting.data.tokens), "what a token is", Words<Tokens>{{{"bytes", Tokens::bytes}}}),
      key("data.split.train", AT(setting.data.split.train), "share of the text to train on",
          encoding::Range{0, 1, true}),
      key("data.split.test", AT(setting.data.split.test), "share of the text to measure on",
          encoding::Range{0, 1, true}),
      key("data.split.cut", AT(setting.data.split.cut),
          "contiguous: the beginning trains, the end tests; documents: whole documents are held out, drawn by name",
          Words<Cut>{{{"contiguous", Cut::contiguous}, {"documents", Cut::documents}}}),
      key("data.order.seed", AT(setting.data.order.seed), "of the order of the batches, one for all runs", at_least(0),
          MayBeAuto{"each run's own seed"}),
  });
  append(train_fields());
  append({
      items_field<Doc>("evaluate", "the measurements, each {use: probe, ...}; its keys are listed below",
                       "a list of measurements", AT(setting.evaluate), &evaluation_fields,
                       "{use: lm_loss, lengths: [256, 1024], windows: 64}"),
      key("report.baseline", AT(head.report.baseline), "label of the arm that others are compared with",
          MayBeAuto{"the first arm"}),
  });
  return fields;
}
}  // namespace

std::vector<Field<Document>> const& document_fields() {
  static auto const fields = all_fields();
  return fields;
}

std::vector<Field<Evaluation>> const& evaluation_fields() {
  using E = Evaluation;
  static std::vector<Field<E>> const fields = {
      field<E>("use", AT(use), "what is measured; lm_loss: mean nats per token of windows of the test text",
               Words<Probe>{{{"lm_loss", Probe::lm_loss}}}),
      field<E>("name", AT(name), "as tables call it",
               Automatic<E>{"the probe's name", [](E& e) { e.name = "lm_loss"; }}),
      field<E>("lengths", AT(lengths), "tokens of a window", required, at_least(2), tokens),
      field<E>("windows", AT(windows), "windows of text a length; short windows are the ends of the long ones",
               required, at_least(1)),
      field<E>("keep", AT(keep), "mean over the window, over its last 64 tokens, each position",
               OneOf{{"mean", "tail64", "per_position"}}),
      field<E>("context", AT(context),
               "the window control: read and score only this many tokens at the end of each window", at_least(1),
               tokens, MayBeAuto{"the whole window"}),
  };
  return fields;
}

std::vector<Field<ClaimsBlock>> const& claims_fields() {
  using C = ClaimsBlock;
  static std::vector<Field<C>> const fields = {
      field<C>("family_error", AT(family_error),
               "chance that any false claim of the list is said to hold, and that any true one is said to fail",
               encoding::Range{0, 0.5, true}),
      items_field<C>("list", "the claims, each {id: name, test: expression, ...}; its keys are listed below",
                     "a list of claims", AT(items), &claim_fields,
                     "{id: far, test: lm_loss.mean @ 1024 {encoding=alibi} < lm_loss.mean @ 1024 {encoding=rope}}"),
  };
  return fields;
}

std::vector<Field<ClaimItem>> const& claim_fields() {
  using C = ClaimItem;
  static std::vector<Field<C>> const fields = {
      noting(field<C>("id", AT(id), "name of the claim: letters, digits, - and _", required), nullptr),
      field<C>("says", AT(says), "the claim in words", Automatic<C>{"its test", [](C& c) { c.says = c.test; }}),
      noting(field<C>(
                 "test", AT(test),
                 "what must be true, e.g. `lm_loss.mean @ 1024 {encoding=alibi} < lm_loss.mean @ 1024 {encoding=rope}`",
                 required),
             &C::test_node),
      margin_field(AT(margin)),
      field<C>(
          "by", AT(by), "over seeds and windows of text, or over seeds alone",
          Words<claims::By>{{{"paired_bootstrap", claims::By::paired_bootstrap}, {"paired_t", claims::By::paired_t}}}),
      field<C>("reach", AT(reach),
               "which tier has what the test names: the one that runs, or others of the study; auto: any of this spec",
               Words<Reach>{{{"auto", Reach::automatic}, {"here", Reach::here}, {"elsewhere", Reach::elsewhere}}}),
  };
  return fields;
}

#undef AT

std::vector<SpecialKey> const& special_keys() {
  static std::vector<SpecialKey> const keys = {
      {"tiers", "a block of smoke, small, article",
       "for each tier the keys it changes, as dotted paths: {train.steps: 20}; small is the spec as written"},
      {"vary", "a list", "the keys that the study varies; its items are listed below"},
      {"claims", "a block", "what the study is to show, with how it is tested; its keys are listed below"},
  };
  return keys;
}

std::vector<SpecialKey> const& vary_keys() {
  static std::vector<SpecialKey> const keys = {
      {"key", "a dotted path", "what varies, e.g. position.encoding or train.optimiser.rate"},
      {"name", "a word", "instead of key, when every value sets several keys: {label: name, set: {path: value}}"},
      {"stage", "train or evaluate", "whether each value is trained anew, or trained models are measured under it"},
      {"values", "a list", "the values; {value: v, label: name} gives a label, and so does `label` beside `use`"},
      {"combine", "product or zip, default product",
       "product: each value with all before; zip: the k-th value with the k-th of the entry before"},
      {"where", "a block of key: label or labels",
       "only where these earlier keys have these labels; the key `evaluate` picks measurements by name"},
  };
  return keys;
}

std::vector<std::string> const& coming_keys() {
  static std::vector<std::string> const keys = {"analyse"};
  return keys;
}

Document read_document(Node const& root, Reading& reading) {
  Document document;
  std::vector<std::string> apart;
  for (auto const& key : special_keys()) apart.push_back(key.name);
  read_table(document, root, "", document_fields(), apart, reading);
  check_document(document, root);
  document.setting.places = reading.given;
  return document;
}

}  // namespace sextant::spec
