#include <sextant/base/error.hpp>
#include <sextant/spec/check.hpp>
#include <sextant/spec/choices.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/pretrained.hpp>
#include <sextant/spec/probes.hpp>
#include <sextant/spec/published.hpp>
#include <sextant/spec/schema.hpp>
#include <sextant/spec/table.hpp>

#include <algorithm>
#include <cmath>

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

// An amount of tokens or of rows.
template <class Get>
Field<Doc> batch_field(std::string name, Get get) {
  Field<Doc> field;
  field.option.help =
      "what one step reads; tokens must fill whole rows of " + name.substr(0, name.find('.')) + ".length";
  field.option.name = std::move(name);
  field.option.kind = encoding::Kind::integer;
  field.option.range = at_least(1);
  field.option.unit = "tokens or rows: the unit is part of the value, as in 4096 tokens";
  field.read = [get, option = field.option](Doc& doc, Node const& node, std::string const& path, Reading&) {
    auto const quantity = node.is_scalar() && !node.quoted ? parse_quantity(node.text) : std::nullopt;
    std::string const unit = quantity ? quantity->unit : "";
    bool const rows = unit == "rows" || unit == "row", in_tokens = unit == "tokens" || unit == "token";
    if (!rows && !in_tokens)
      fail(node.place.text(), ": ", path, " is ", found(node),
           ", expected an amount with its unit, as in 4096 tokens or 16 rows");
    encoding::Option count = option;
    count.unit = rows ? "rows" : "tokens";
    get(doc).count = std::get<std::int64_t>(read_value(node, count, path));
    get(doc).in_rows = rows;
  };
  field.write = [get](Doc const& doc, std::string const&, Reading const&) {
    auto const& batch = get(doc);
    return Written{std::to_string(batch.count) + (batch.in_rows ? " rows" : " tokens"), {}};
  };
  return field;
}

// tune.amount: steps, tokens, a share of training's tokens, or none.
Field<Doc> amount_field() {
  Field<Doc> field;
  field.option.name = "tune.amount";
  field.option.help =
      "how long a trained model is trained on: 50 steps, 100000 tokens, or 2 % of the tokens of training";
  field.option.kind = encoding::Kind::text;
  field.option.unit = "an amount of steps or tokens, a share in %, or none";
  field.option.fallback = "none";
  field.read = [](Doc& doc, Node const& node, std::string const& path, Reading&) {
    Amount& amount = doc.setting.tune.amount;
    amount = {};
    if (node.is_plain("none")) return;
    auto const quantity = node.is_scalar() && !node.quoted ? parse_quantity(node.text) : std::nullopt;
    std::string const unit = quantity ? quantity->unit : "";
    double const count = quantity ? as_double(quantity->number) : 0;
    using Of = Amount::Of;
    amount.of = unit == "step" || unit == "steps"     ? Of::steps
                : unit == "token" || unit == "tokens" ? Of::tokens
                : unit == "%"                         ? Of::share
                                                      : Of::none;
    amount.count = amount.of == Of::share ? count / 100 : count;
    bool const whole = amount.of == Of::share || count == std::floor(count);
    if (amount.of == Of::none || !(count > 0) || count > 1e15 || !whole)
      fail(node.place.text(), ": ", path, " is ", found(node),
           ", expected an amount > 0 with its unit, as in 50 steps, 100000 tokens or 2 %, or none");
  };
  field.write = [](Doc const& doc, std::string const&, Reading const&) {
    Amount const& amount = doc.setting.tune.amount;
    switch (amount.of) {
      case Amount::Of::steps:
        return Written{number_text(amount.count) + " steps", {}};
      case Amount::Of::tokens:
        return Written{number_text(amount.count) + " tokens", {}};
      case Amount::Of::share:
        return Written{number_text(100 * amount.count) + " %", {}};
      default:
        return Written{"none", {}};
    }
  };
  return field;
}

// Encodings or scalings, by plugin.
template <class Get>
Field<Doc> choices_field(std::string name, Role role, std::string help, Get get) {
  bool const encodings = role == Role::encoding;
  Field<Doc> field;
  field.option.name = std::move(name);
  field.option.help = std::move(help);
  field.option.kind = encoding::Kind::text;
  field.option.unit = encodings            ? "an encoding, {use: name, options} or a list to sum"
                      : role == Role::task ? "a task, {use: name, options}"
                                           : "a scaling, {use: name, options} or a list";
  if (!encodings) field.option.fallback = "none";
  field.read = [get, role](Doc& doc, Node const& node, std::string const& path, Reading& reading) {
    get(doc) = read_choices(node, role, path, reading);
  };
  field.write = [get, role](Doc const& doc, std::string const& path, Reading const& reading) {
    return write_choices(get(doc), role, path, reading);
  };
  return field;
}

// Absent or auto: what `rule` says.
Field<Doc> settled(Field<Doc> field, char const* meaning, void (*rule)(Setting&)) {
  field.option.auto_meaning = meaning;
  field.option.fallback = encoding::Value(encoding::Auto{});
  field.settle = [rule](Doc& doc) { rule(doc.setting); };
  return field;
}

template <class Get, class... Tag>
Field<Doc> key(std::string_view path, Get get, std::string_view help, Tag... tag) {
  return field<Doc>(path, get, help, std::move(tag)...);
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
      key("model.from", AT(setting.model.from),
          "weights to go on from: a model of the cache, a GGUF file, a folder or a checkpoint of `sextant import`; the "
          "other "
          "keys of model, position.encoding, position.trained_length and data.tokens are the model's",
          MayBeAuto{"weights are drawn"}),
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
          Words<MlpKind>{{{"swiglu", MlpKind::swiglu}, {"gelu", MlpKind::gelu}, {"geglu", MlpKind::geglu}}}),
      key("model.mlp.width", AT(setting.model.mlp.width), "hidden channels", size,
          automatic(
              "3 width for swiglu and geglu, 4 width for gelu",
              [](Setting& s) { s.model.mlp.width = s.model.width * (s.model.mlp.kind == MlpKind::gelu ? 4 : 3); })),
      key("model.norm.kind", AT(setting.model.norm.kind), "normalisation before each layer",
          Words<NormKind>{{{"rmsnorm", NormKind::rmsnorm}, {"layernorm", NormKind::layernorm}}}),
      key("model.norm.eps", AT(setting.model.norm.eps), "added to the mean square", positive),
      key("model.qk_norm", AT(setting.model.qk_norm), "normalise queries and keys before they are turned"),
      key("model.kv_shift", AT(setting.model.kv_shift), "mix keys and values with those of the token before"),
      key("model.qkv_bias", AT(setting.model.qkv_bias), "the projections to query, key and value add a bias"),
      key("model.tie_embedding", AT(setting.model.tie_embedding), "the output layer is the token embedding"),
      key("model.init.std", AT(setting.model.init.std), "of the normal distribution that weights are drawn from",
          positive),
      key("model.init.residual", AT(setting.model.init.residual),
          "by_depth: weights that write to the residual stream start at std / sqrt(2 layers)",
          Words<Residual>{{{"by_depth", Residual::by_depth}, {"none", Residual::none}}}),
  };
}

// What training and tuning have in common: update rule, schedule, checkpoints. `get` finds the Steps in a document.
template <class Get>
std::vector<Field<Doc>> step_fields(std::string const& block, Get get) {
#define OF(member) \
  [get](auto& doc) -> auto& { return get(doc).member; }
  std::vector<Field<Doc>> fields = {
      key(block + ".at_once", OF(at_once),
          "tokens whose activations are held at once: rows go through in groups, and their gradients add up",
          at_least(1), tokens, MayBeAuto{"the whole batch"}),
      key(block + ".optimiser.use", OF(optimiser.use), "update rule", Words<Optimiser>{{{"adamw", Optimiser::adamw}}}),
      key(block + ".optimiser.rate", OF(optimiser.rate), "peak learning rate", required, positive),
      key(block + ".optimiser.betas", OF(optimiser.betas), "decay of the two moments", between(0, 1)),
      key(block + ".optimiser.eps", OF(optimiser.eps), "added to the root of the second moment", positive),
      key(block + ".optimiser.decay", OF(optimiser.decay), "weight decay, decoupled", at_least(0)),
      key(block + ".optimiser.clip", OF(optimiser.clip), "largest norm of the gradient; 0: not clipped", at_least(0)),
      key(block + ".schedule.use", OF(schedule.use), "learning rate over the steps",
          Words<ScheduleKind>{{{"cosine", ScheduleKind::cosine}}}),
      key(block + ".schedule.warmup", OF(schedule.warmup), "steps of linear rise from 0", at_least(0), steps),
      key(block + ".schedule.floor", OF(schedule.floor), "share of the peak rate that is left at the last step",
          between(0, 1)),
      key(block + ".save.every", OF(save.every), "steps between checkpoints that a killed run resumes from",
          at_least(1), steps, MayBeAuto{"only at the end"}),
  };
#undef OF
  return fields;
}

std::vector<Field<Doc>> train_fields() {
  std::vector<Field<Doc>> fields = {
      key("train.steps", AT(setting.train.steps),
          "optimiser steps; 0 leaves the weights as they are: those of model.from, or freshly drawn ones", required,
          at_least(0), steps),
      key("train.length", AT(setting.train.length), "tokens a row", required, at_least(2), tokens),
      batch_field("train.batch", AT(setting.train.batch)),
  };
  for (auto& field : step_fields("train", AT(setting.train))) fields.push_back(std::move(field));
  fields.push_back(key("train.precision", AT(setting.train.precision),
                       "numbers that matrix products and attention take; sums, norms, softmax, loss and what the "
                       "optimiser moves stay fp32",
                       Words<Precision>{{{"fp32", Precision::fp32}, {"bf16", Precision::bf16}}}));
  fields.push_back(
      key("train.seeds", AT(setting.train.seeds), "one run each; 0 is a seed like any other", required, at_least(0)));
  return fields;
}

std::vector<Field<Doc>> tune_fields() {
  std::vector<Field<Doc>> fields = {
      amount_field(),
      key("tune.length", AT(setting.tune.length), "tokens a row", at_least(2), tokens,
          automatic("train.length", [](Setting& s) { s.tune.length = s.train.length; })),
      settled(batch_field("tune.batch", AT(setting.tune.batch)), "as many tokens as train.batch has",
              [](Setting& s) {
                auto const& batch = s.train.batch;
                s.tune.batch = {batch.in_rows ? batch.count * s.train.length : batch.count, false};
              }),
      settled(choices_field("tune.encoding", Role::encoding,
                            "what the model is tuned with; it trains the parameters of position.encoding and no others",
                            AT(setting.tune.encodings)),
              "position.encoding", [](Setting& s) { s.tune.encodings = s.position.encodings; }),
      settled(choices_field("tune.scaling", Role::scaling,
                            "what stretches the rotary encodings while tuning, and when the tuned model is measured",
                            AT(setting.tune.scalings)),
              "position.scaling", [](Setting& s) { s.tune.scalings = s.position.scalings; }),
  };
  for (auto& field : step_fields("tune", AT(setting.tune)))
    fields.push_back(
        field.name() == "tune.optimiser.rate"
            ? settled(std::move(field), "what training ends with: train.optimiser.rate x train.schedule.floor",
                      [](Setting& s) { s.tune.optimiser.rate = s.train.optimiser.rate * s.train.schedule.floor; })
            : std::move(field));
  return fields;
}

std::vector<Field<Doc>> all_fields() {
  auto fields = head_fields();
  auto const append = [&](std::vector<Field<Doc>> more) { fields.insert(fields.end(), more.begin(), more.end()); };
  append(model_fields());
  append({
      choices_field(
          "position.encoding", Role::encoding,
          "how the model learns where a token stands; a list is summed; `layers` beside `use` limits one to layers",
          AT(setting.position.encodings)),
      choices_field("position.scaling", Role::scaling, "what stretches the rotary encodings, in this order",
                    AT(setting.position.scalings)),
      key("position.trained_length", AT(setting.position.trained_length),
          "tokens that scalings take the model to be trained at", at_least(1), tokens,
          automatic("train.length", [](Setting& s) { s.position.trained_length = s.train.length; })),
      key("data.corpus", AT(setting.data.corpus),
          "a text that `sextant list corpora` knows, or the path of a file beside the spec",
          MayBeAuto{"none: there is a data.task"}),
      choices_field("data.task", Role::task,
                    "examples with a known answer in place of a text; the loss is over the answers alone",
                    AT(setting.data.task)),
      key("data.tokens", AT(setting.data.tokens),
          "what a token is: bytes, or the model, GGUF file, tokenizer.json or folder whose tokenizer makes them"),
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
  append(tune_fields());
  append({
      items_field<Doc>("evaluate", "the measurements, each {use: probe, ...}; its keys are listed below",
                       "a list of measurements", AT(setting.evaluate), &evaluation_fields,
                       "{use: lm_loss, lengths: [256, 1024], windows: 64}"),
      key("report.baseline", AT(head.report.baseline), "label of the arm that others are compared with",
          MayBeAuto{"the first arm"}),
  });
  return fields;
}
Words<Probe> probe_words() {
  Words<Probe> words;
  for (auto const& probe : probes()) words.list.emplace_back(probe.name, probe.probe);
  return words;
}
}  // namespace

std::vector<Field<Document>> const& document_fields() {
  static auto const fields = all_fields();
  return fields;
}

std::vector<Field<Evaluation>> const& evaluation_fields() {
  using E = Evaluation;
  static std::vector<Field<E>> const fields = {
      field<E>("use", AT(use), "what is measured: the probes are listed below", probe_words()),
      field<E>("name", AT(name), "as tables call it",
               Automatic<E>{"the probe's name", [](E& e) { e.name = facts_of(e.use).name; }}),
      field<E>("lengths", AT(lengths), "tokens of a window, or of a task what its lengths count", required, at_least(2),
               tokens),
      field<E>("windows", AT(windows),
               "windows of text a length (short ones are the ends of the long ones), or examples of a task", required,
               at_least(1)),
      field<E>("keep", AT(keep), "measures of the probe", OneOf{all_measures()},
               Automatic<E>{"the probe's usual ones", [](E& e) { e.keep = facts_of(e.use).usual; }}),
      field<E>("context", AT(context),
               "the window control: read and score only this many tokens at the end of each window", at_least(1),
               tokens, MayBeAuto{"the whole window"}),
      field<E>("origin", AT(origin), "accuracy: where position 0 of an example lies; all others lie as far on",
               at_least(0), tokens),
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
      field<C>("source", AT(source), "where the statement stands, for the gallery: article and number, or a paper",
               Automatic<C>{"not said", [](C& c) { c.source.clear(); }}),
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

namespace {
// Written in one line, inside the braces of the table.
Field<PublishedBlock> values_field() {
  using P = PublishedBlock;
  auto field = items_field<P>(
      "values", "the numbers, each {name: as published, value: number, ours: quantity}; its keys are listed below",
      "a list of numbers", AT(values), &published_value_fields, "{name: RoPE, value: 51.7}");
  field.write = [](P const& block, std::string const& path, Reading const& reading) {
    Written out;
    for (std::size_t i = 0; i < block.values.size(); ++i) {
      char const* before = i ? ", {" : "[{";
      for (auto const& key : published_value_fields()) {
        std::string const at = below(below(path, std::to_string(i)), key.name());
        if (!reading.given.contains(at)) continue;
        out.text += text(before, key.name(), ": ", key.write(block.values[i], at, reading).text);
        before = ", ";
      }
      out.text += "}";
    }
    out.text += "]";
    return out;
  };
  return field;
}
}  // namespace

std::vector<Field<PublishedBlock>> const& published_fields() {
  using P = PublishedBlock;
  static std::vector<Field<P>> const fields = {
      field<P>("title", AT(title), "what the numbers are, for the heading", required),
      field<P>("source", AT(source), "where they are published: paper and table", required),
      field<P>("units", AT(units), "units of the numbers", required),
      values_field(),
  };
  return fields;
}

std::vector<Field<PublishedItem>> const& published_value_fields() {
  using P = PublishedItem;
  static std::vector<Field<P>> const fields = [] {
    auto ours = field<P>("ours", AT(ours),
                         "the quantity of this study that stands beside it, e.g. `lm_loss.mean @ 256 {encoding=rope}`",
                         Automatic<P>{"none", [](P& p) { p.ours.clear(); }});
    ours.read = [read = ours.read](P& item, Node const& node, std::string const& path, Reading& reading) {
      read(item, node, path, reading);
      item.ours_node = node;
    };
    return std::vector<Field<P>>{field<P>("name", AT(name), "what the number is published as", required),
                                 field<P>("value", AT(value), "the number", required), ours};
  }();
  return fields;
}

#undef AT

std::vector<SpecialKey> const& special_keys() {
  static std::vector<SpecialKey> const keys = {
      {"tiers", "a block of smoke, small, article",
       "for each tier the keys it changes, as dotted paths: {train.steps: 20}; small is the spec as written"},
      {"vary", "a list", "the keys that the study varies; its items are listed below"},
      {"claims", "a block", "what the study is to show, with how it is tested; its keys are listed below"},
      {"reference", "a list",
       "tables of published numbers that the report shows beside what the study measures; its items are listed below"},
  };
  return keys;
}

std::vector<SpecialKey> const& vary_keys() {
  static std::vector<SpecialKey> const keys = {
      {"key", "a dotted path", "what varies, e.g. position.encoding, train.optimiser.rate or tune.amount"},
      {"name", "a word", "instead of key, when every value sets several keys: {label: name, set: {path: value}}"},
      {"stage", "train, tune or evaluate",
       "whether each value is trained anew, trained models are tuned with it, or models are measured under it"},
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
  std::optional<Pretrained> const start = pretrained_of(root, reading.catalogue);
  Node const whole = start ? with_pretrained(root, *start, reading) : root;
  read_table(document, whole, "", document_fields(), apart, reading);
  if (start) take_pretrained(document, whole, *start, reading);
  check_document(document, whole);
  document.setting.places = reading.given;
  return document;
}

}  // namespace sextant::spec
