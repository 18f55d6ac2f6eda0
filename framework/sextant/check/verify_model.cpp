// A pretrained model against the logits, losses and inner values that others computed of it in float64: ours in float32, and
// on request the logits in float64 or bf16 too.
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/check/formats.hpp>
#include <sextant/check/rope_case.hpp>
#include <sextant/check/worst.hpp>
#include <sextant/pretrained/source.hpp>
#include <sextant/pretrained/store.hpp>

#include <algorithm>
#include <numeric>

namespace sextant::check {
namespace {
using nlohmann::json;

// What a computation in T may be off by: the digits that the file has, or rounding in float32 through all layers.
template <class T>
struct Bounds {
  static constexpr bool exact = std::is_same_v<T, double>;
  double logits(json const& file) const { return exact ? 2e-6 : std::min(2e-4, file.value("logit_atol", 2e-4)); }
  Tolerance nll(json const& file, double expected) const {
    return {.absolute = std::min(1e-5 * expected, file.value("nll_total_atol", 1.0))};
  }
  Tolerance probe() const { return {.absolute = 2e-5, .by_largest = 1e-5}; }
  char const* name() const { return exact ? "float64 " : "float32 "; }
};

// bf16 keeps 8 bits: 30 layers of rounded operands move logits of size 20 by a few tenths, and a mean loss by some 1e-3.
constexpr double bf16_logits = 0.6, bf16_nll = 5e-3;

std::vector<double> numbers(json const& list) { return list.get<std::vector<double>>(); }

model::Batch batch_of(json const& file, double start) {
  auto const ids = file.at("tokens").get<std::vector<int>>();
  View2<int> const tokens("tokens", 1, ids.size()), targets("targets", 1, ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) {
    tokens(0, i) = ids[i];
    targets(0, i) = i + 1 < ids.size() ? ids[i + 1] : -1;
  }
  return {tokens, targets, model::running_positions(Exec(), static_cast<int>(ids.size()), start), {}};
}

template <class T>
void compare_logits(model::Model<T>& network, model::Batch const& batch, json const& file, json const& run,
                    Worst& worst) {
  Bounds<T> const bounds;
  network.each_logits(Exec(), batch, [&](std::int64_t first, View2<T> const& logits) {
    for (auto const& at : run.at("top5")) {
      std::int64_t const row = at.at("position").get<std::int64_t>() - first;
      if (row < 0 || row >= logits.extent_int(0)) continue;
      std::vector<int> order(logits.extent(1));
      std::iota(order.begin(), order.end(), 0);
      std::partial_sort(order.begin(), order.begin() + 5, order.end(),
                        [&](int a, int b) { return logits(row, a) > logits(row, b); });
      std::vector<double> found;
      auto const ids = at.at("ids").get<std::vector<int>>();
      for (int const id : ids) found.push_back(static_cast<double>(logits(row, id)));
      worst.compare(text(bounds.name(), "logits"), found, numbers(at.at("logits")), {.absolute = bounds.logits(file)});
      worst.compare(text(bounds.name(), "ids"), {order.begin(), order.begin() + 5}, {ids.begin(), ids.end()}, {});
    }
  });
}

template <class T>
void compare_loss(model::Model<T>& network, model::Batch const& batch, json const& file, json const& run,
                  Worst& worst) {
  View2<double> const nll("nll", 1, batch.tokens.extent(1));
  network.loss_per_token(Exec(), batch, nll);
  double const total = std::accumulate(nll.data(), nll.data() + nll.size(), 0.0), expected = run.at("nll_total");
  worst.compare(text(Bounds<T>().name(), "nll_total"), {total}, {expected}, Bounds<T>().nll(file, expected));
}

template <class T>
void compare_probes(model::Model<T>& network, model::Batch const& batch, json const& run, Worst& worst) {
  json const& probes = run.at("probes_last_position");
  int const last = batch.seq_len() - 1;
  auto const compare = [&](char const* name, auto const& value) {
    auto const expected = numbers(probes.at(name));
    std::vector<double> found;
    for (std::size_t c = 0; c < expected.size(); ++c) found.push_back(static_cast<double>(value(static_cast<int>(c))));
    worst.compare(text(Bounds<T>().name(), name), found, expected, Bounds<T>().probe());
  };
  network.each_layer(Exec(), batch, [&](typename model::Model<T>::LayerView const& view) {
    if (view.layer == 0) {
      compare("layer0_head0_q_rotated", [&](int c) { return view.attention.query(0, 0, last, c); });
      compare("layer0_head0_k_rotated", [&](int c) { return view.attention.key(0, 0, last, c); });
      compare("layer0_output", [&](int c) { return view.output(last, c); });
    }
    if (view.normed.size()) compare("final_norm_output", [&](int c) { return view.normed(last, c); });
  });
}

/// In bf16 the order of near logits and inner values may differ; logits and the loss are held to what rounding explains.
void compare_bf16(model::Model<float>& network, model::Batch const& batch, json const& run, Worst& worst) {
  network.each_logits(Exec(), batch, [&](std::int64_t first, View2<float> const& logits) {
    for (auto const& at : run.at("top5")) {
      std::int64_t const row = at.at("position").get<std::int64_t>() - first;
      if (row < 0 || row >= logits.extent_int(0)) continue;
      std::vector<double> found;
      for (int const id : at.at("ids").get<std::vector<int>>()) found.push_back(static_cast<double>(logits(row, id)));
      worst.compare("bf16 logits", found, numbers(at.at("logits")), {.absolute = bf16_logits});
    }
  });
  View2<double> const nll("nll", 1, batch.tokens.extent(1));
  network.loss_per_token(Exec(), batch, nll);
  double const total = std::accumulate(nll.data(), nll.data() + nll.size(), 0.0), expected = run.at("nll_total");
  worst.compare("bf16 nll_total", {total}, {expected}, {.relative = bf16_nll});
}

void check_file(json const& expected, pretrained::Source const& source, VerifyCase& out) {
  Worst worst;
  worst.compare("bytes", {double(pretrained::bytes_of(source.path))}, {expected.at("bytes").get<double>()}, {});
  std::string const digest = pretrained::sha256_of_model(source.path), wanted = expected.at("sha256");
  expect(digest == wanted, source.path, " has sha256 ", digest, ", expected ", wanted);
  worst.write(out);
}

void check_config(json const& expected, pretrained::Source const& source, VerifyCase& out) {
  auto const& d = source.description;
  auto const& c = d.config;
  json const& file = expected.at("config");
  Worst worst;
  auto const same = [&](char const* name, double found) {
    worst.compare(name, {found}, {file.at(name).get<double>()}, {});
  };
  same("layers", c.layers);
  same("context_length", d.context_length);
  same("hidden_size", c.width);
  same("intermediate_size", c.mlp_width);
  same("heads", c.heads);
  same("kv_heads", c.kv_heads);
  same("head_dim", c.head_dim);
  same("rms_norm_eps", c.norm_eps);
  same("vocab_size", c.vocabulary);
  worst.compare("tied_embeddings", {double(c.tie_embedding)}, {double(expected.at("tied_embeddings").get<bool>())}, {});
  worst.write(out);
}

void check_tensor(json const& expected, pretrained::Source const& source, VerifyCase& out) {
  auto const& tensor = source.weights->find(expected.at("tensor"));
  Worst worst;
  worst.compare("shape", {tensor.shape.begin(), tensor.shape.end()}, numbers(expected.at("shape")), {});
  auto const values = pretrained::values_of(*source.weights, tensor);
  auto const last = numbers(expected.at("last_row_first_8"));
  auto const row = values.end() - static_cast<std::ptrdiff_t>(tensor.shape.back());
  worst.compare("last_row_first_8", {row, row + static_cast<std::ptrdiff_t>(last.size())}, last, {});
  double sum = 0, squares = 0;
  for (double const value : values) sum += value, squares += value * value;
  worst.compare("sum", {sum}, {expected.at("sum").get<double>()},
                {.absolute = 1e-9 * std::sqrt(squares * double(values.size()))});
  worst.compare("sum_of_squares", {squares}, {expected.at("sum_of_squares").get<double>()}, {.relative = 1e-9});
  worst.write(out);
}

/// The model in one precision; runs see the same weights under their own position blocks.
template <class T>
class Runs {
 public:
  Runs(json const& file, pretrained::Source const& source, encoding::Registry const& registry)
      : file_(file),
        source_(source),
        registry_(registry),
        model_(pretrained::load<T>(source, pretrained::position_of(source.description, registry))) {}

  void compare(json const& run, encoding::PositionChoice const& choice, Worst& worst) const {
    auto const batch = batch_of(file_, run.value("start_pos", 0.0));
    auto network = model_.with_position(pretrained::position_of(source_.description, registry_, choice));
    if constexpr (!Bounds<T>::exact)
      if (network.config().precision == model::Precision::bf16) return compare_bf16(network, batch, run, worst);
    compare_logits(network, batch, file_, run, worst);
    if constexpr (!Bounds<T>::exact) {  // in float64 the logits say it all, at a tenth of the speed
      compare_loss(network, batch, file_, run, worst);
      compare_probes(network, batch, run, worst);
    }
  }

 private:
  json const& file_;
  pretrained::Source const& source_;
  encoding::Registry const& registry_;
  model::Model<T> model_;
};

fs::path model_file(json const& model, VerifyOptions const& options) {
  if (!options.model.empty()) return options.model;
  std::string const file = model.value("file", ""), digest = model.value("sha256", "");
  auto const found = pretrained::find_by_digest(options.cache, digest);
  expect(found.has_value(), "these numbers are of the model ", file,
         ", which is not in the model cache; give it as --model FILE",
         " or, if `sextant model list` shows it, add it with `sextant model add NAME`");
  return *found;
}
}  // namespace

void verify_model(json const& file, VerifyOptions const& options, encoding::Registry const& registry,
                  VerifyReport& report) {
  json const& model = file.at("model");
  auto const source = pretrained::open_source(model_file(model, options), registry);
  add_case(report, "model file", "import", [&](VerifyCase& out) { check_file(model, source, out); });
  add_case(report, "model config", "import", [&](VerifyCase& out) { check_config(model, source, out); });
  for (auto const& tensor : file.at("weights_check"))
    add_case(report, tensor.at("tensor"), "import", [&](VerifyCase& out) { check_tensor(tensor, source, out); });
  Runs<float> const runs(file, source, registry);
  std::optional<Runs<double>> exact;
  if (options.exact) exact.emplace(file, source, registry);
  std::optional<pretrained::Source> rounded_source;  // outlives the runs that refer to it
  std::optional<Runs<float>> rounded;
  if (options.bf16) {
    rounded_source = source;
    rounded_source->description.config.precision = model::Precision::bf16;
    rounded.emplace(file, *rounded_source, registry);
  }
  for (auto const& run : file.at("runs")) {
    std::string const method = run.at("method");
    add_case(report, run.at("name"), method, [&](VerifyCase& out) {
      auto const made = rope_case(method, Parameters(run.at("params")), "half", registry);
      if (!made) return mark_missing(out, method);
      if (auto const absent = absent_plugin(made->choice, registry); !absent.empty()) return mark_missing(out, absent);
      Worst worst;
      runs.compare(run, made->choice, worst);
      if (exact) exact->compare(run, made->choice, worst);
      if (rounded) rounded->compare(run, made->choice, worst);
      worst.write(out);
    });
  }
}

}  // namespace sextant::check
