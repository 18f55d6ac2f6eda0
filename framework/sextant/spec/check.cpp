#include <sextant/base/error.hpp>
#include <sextant/spec/check.hpp>
#include <sextant/spec/probes.hpp>
#include <sextant/spec/table.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::spec {
namespace {

// Says where a value stands, or the block it would stand in.
class Check {
 public:
  explicit Check(Node const& root) : root_(root) {}
  template <class... Parts>
  void operator()(bool holds, std::string const& path, Parts const&... parts) const {
    expect(holds, nearest_node(root_, path).place.text(), ": ", path, parts...);
  }

 private:
  Node const& root_;
};

template <class T>
std::optional<T> repeated(std::vector<T> const& list) {
  std::set<T> seen;
  for (auto const& item : list)
    if (!seen.insert(item).second) return item;
  return {};
}

std::vector<int> divisors(int n) {
  std::vector<int> list;
  for (int d = 1; d <= n; ++d)
    if (n % d == 0) list.push_back(d);
  return list;
}

void check_model(Model const& model, Node const& root, Check const& check) {
  bool const chosen = find_node(root, "model.head_width") && !find_node(root, "model.head_width")->is_plain("auto");
  check(chosen || model.width % model.heads == 0, "model.heads", " is ", model.heads,
        ", which does not divide model.width ", model.width, "; expected one of ", divisors(model.width),
        ", or a model.head_width of its own");
  check(model.heads % model.kv_heads == 0, "model.kv_heads", " is ", model.kv_heads,
        ", which does not divide model.heads ", model.heads, "; expected one of ", divisors(model.heads));
}

// Settles rows.
void check_steps(Steps& steps, std::string const& block, Check const& check) {
  auto const& batch = steps.batch;
  bool const whole = batch.in_rows || batch.count % steps.length == 0;
  std::int64_t const rows = batch.in_rows ? batch.count : batch.count / steps.length;
  check(whole, block + ".batch", " is ", batch.count, " tokens, which is no whole number of rows of ", block,
        ".length ", steps.length, "; expected a multiple of it, such as ",
        std::max<std::int64_t>(rows, 1) * steps.length, " or ", std::max<std::int64_t>(rows + 1, 2) * steps.length,
        " tokens");
  check(rows <= 1 << 20, block + ".batch", " is ", rows, " rows, expected at most ", 1 << 20);
  steps.rows = static_cast<int>(rows);
  auto const& betas = steps.optimiser.betas;
  check(betas.size() == 2 && std::max(betas[0], betas[1]) < 1, block + ".optimiser.betas", " is ", betas,
        ", expected two numbers from 0 to below 1");
}

void check_warmup(Steps const& steps, std::string const& block, char const* whence, Check const& check) {
  check(steps.schedule.warmup < std::max(steps.steps, 1), block + ".schedule.warmup", " is ", steps.schedule.warmup,
        " steps, expected fewer than ", whence, steps.steps);
}

void check_train(Setting& setting, Check const& check) {
  Train& train = setting.train;
  check_steps(train, "train", check);
  check_warmup(train, "train", "train.steps ", check);
  check(!train.seeds.empty(), "train.seeds", " is an empty list, expected at least one seed");
  if (auto const seed = repeated(train.seeds))
    check(false, "train.seeds", " has ", *seed, " twice, expected distinct seeds");
}

// Settles steps and rows.
void check_tune(Setting& setting, Check const& check) {
  Tune& tune = setting.tune;
  if (!tune) return;
  check_steps(tune, "tune", check);
  tune.precision = setting.train.precision;
  check(tune.optimiser.rate > 0, "tune.optimiser.rate", " is ", tune.optimiser.rate, ", expected a number > 0");
  double const row_tokens = static_cast<double>(tune.rows) * tune.length;
  double const trained = static_cast<double>(setting.train.rows) * setting.train.length * setting.train.steps;
  bool const share = tune.amount.of == Amount::Of::share;
  check(!share || trained > 0, "tune.amount",
        " is a share of the tokens of training, and train.steps is 0; expected an ", "amount of steps or tokens");
  double const steps =
      tune.amount.of == Amount::Of::steps ? tune.amount.count : tune.amount.count * (share ? trained : 1) / row_tokens;
  check(steps < 1 << 30, "tune.amount", " makes ", steps, " steps, expected fewer than ", 1 << 30);
  tune.steps = std::max(1, static_cast<int>(std::lround(steps)));
  check_warmup(tune, "tune", "the steps that tune.amount makes, ", check);
}

void check_layers(Setting const& setting, Node const& root, Check const& check) {
  std::string const key = "position.encoding";
  Node const* const written = find_node(root, key);
  for (std::size_t n = 0; n < setting.position.encodings.size(); ++n) {
    auto const& layers = setting.position.encodings[n].layers;
    if (!layers) continue;
    int const last = layers->list.empty() ? layers->from : layers->list.back(), most = setting.model.layers - 1;
    std::string const path = written && written->is_list() ? below(key, std::to_string(n)) : key;
    check(last <= most, below(path, "layers"), " names layer ", last, ", expected layers from 0 to ", most,
          " of model.layers ", setting.model.layers);
  }
}

void check_data(Data const& data, Check const& check) {
  bool const reads_text = !data.corpus.empty();
  check(reads_text || !data.task.empty(), "data", " names neither a corpus nor a task, expected one of them");
  check(!reads_text || data.task.empty(), "data.task", " stands beside data.corpus, expected one of them");
  check(data.task.empty() || data.tokens == "bytes", "data.tokens", " is ", data.tokens,
        ", but a task has tokens of its own; expected none");
  Data const usual;
  bool const whole =
      data.split.train == usual.split.train && data.split.test == usual.split.test && data.split.cut == usual.split.cut;
  check(data.task.empty() || whole, "data.split", " divides a text, but a task draws its examples; expected none");
}

// What the probe reads is there, and it measures what is kept.
void check_probe(Evaluation const& evaluation, Data const& data, std::string const& path, Check const& check) {
  auto const& probe = facts_of(evaluation.use);
  check(probe.reads_task != data.task.empty(), path + ".use", " is ", probe.name, ", which reads ",
        probe.reads_task ? "examples of a task" : "windows of text", ", and data has a ",
        data.task.empty() ? "corpus" : "task", "; expected ", data.task.empty() ? "lm_loss" : "accuracy",
        ", or the other kind of data");
  check(!probe.in_bytes || data.tokens == "bytes", path + ".use", " is ", probe.name,
        ", which writes its question in bytes, and data.tokens is ", data.tokens, "; expected bytes");
  std::vector<std::string> measures;
  for (auto const& measure : probe.measures) measures.push_back(measure.name);
  check(!evaluation.keep.empty(), path + ".keep", " is an empty list, expected of ", join(measures));
  for (auto const& kept : evaluation.keep)
    check(!units_of(probe, kept).empty(), path + ".keep", " has ", kept, ", which ", probe.name,
          " does not measure; expected of ", join(measures));
  check(!evaluation.context || evaluation.use == Probe::lm_loss, path + ".context",
        " cuts windows of lm_loss, and this is ", probe.name, "; expected none");
  check(evaluation.origin == 0 || evaluation.use == Probe::accuracy, path + ".origin",
        " moves examples of accuracy, and this is ", probe.name, "; expected none, or the probe shift");
}

void check_evaluation(Evaluation const& evaluation, std::string const& path, Check const& check) {
  auto const& lengths = evaluation.lengths;
  check(!lengths.empty(), path + ".lengths", " is an empty list, expected at least one length");
  if (auto const length = repeated(lengths))
    check(false, path + ".lengths", " has ", *length, " twice, expected distinct lengths");
  auto const [least, most] = std::minmax_element(lengths.begin(), lengths.end());
  check(evaluation.use != Probe::lm_loss || !evaluation.keeps("tail64") || *least >= 64, path + ".keep",
        " has tail64, but ", path, ".lengths has ", *least, "; expected lengths >= 64");
  for (auto const& kept : evaluation.use == Probe::streaming ? evaluation.keep : std::vector<std::string>{})
    check(number_of(kept) < *least, path + ".keep", " has ", kept, ", but ", path, ".lengths has ", *least,
          "; expected lengths above ", number_of(kept), ", that there is something to cut");
  int const written = *least - prompt_of(*least);
  for (auto const& kept : evaluation.use == Probe::repetition ? evaluation.keep : std::vector<std::string>{})
    check(number_of(kept) < written, path + ".keep", " has ", kept, ", but ", path, ".lengths has ", *least,
          ", of which the model writes ", written, " tokens; expected lengths above ", 2 * number_of(kept),
          ", that there are several runs of ", number_of(kept));
  check(!evaluation.context || *evaluation.context < *most, path + ".context", " is ", evaluation.context.value_or(0),
        " tokens, which cuts nothing from windows of ", *most, "; expected less, or no context");
}
}  // namespace

bool is_slug(std::string const& text) {
  auto const fits = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_';
  };
  return !text.empty() && text.size() <= 64 && std::all_of(text.begin(), text.end(), fits);
}

void check_document(Document& document, Node const& root) {
  Check const check(root);
  Setting& setting = document.setting;
  check(is_slug(document.head.study), "study", " is ", document.head.study,
        ", expected 1 to 64 letters, digits, - and _: it names files");
  check_model(setting.model, root, check);
  check_train(setting, check);
  check_tune(setting, check);
  check_layers(setting, root, check);
  check_data(setting.data, check);
  auto const& split = setting.data.split;
  check(split.train + split.test <= 1 + 1e-9, "data.split.test", " is ", split.test, " beside data.split.train ",
        split.train, "; expected at most 1 together");
  std::vector<std::string> names;
  for (std::size_t i = 0; i < setting.evaluate.size(); ++i) {
    auto const& evaluation = setting.evaluate[i];
    std::string const path = below("evaluate", std::to_string(i));
    check_evaluation(evaluation, path, check);
    check_probe(evaluation, setting.data, path, check);
    bool const known = std::find(names.begin(), names.end(), evaluation.name) != names.end();
    check(!known, path + ".name", " is ", evaluation.name,
          ", as an earlier measurement is called; expected a name of its own");
    names.push_back(evaluation.name);
  }
}

bool Evaluation::keeps(std::string const& what) const {
  return std::find(keep.begin(), keep.end(), what) != keep.end();
}

std::string place_of(Places const& places, std::string const& key, std::string const& otherwise) {
  for (std::string at = key;; at = at.substr(0, at.rfind('.'))) {
    auto const it = places.lower_bound(at);
    if (it != places.end() && (it->first == at || it->first.starts_with(at + "."))) return it->second;
    if (at.find('.') == std::string::npos) return otherwise;
  }
}

int Evaluation::span() const { return *std::max_element(lengths.begin(), lengths.end()); }

}  // namespace sextant::spec
