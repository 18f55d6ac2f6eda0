#include <sextant/base/error.hpp>
#include <sextant/check/encoding_run.hpp>

#include <algorithm>
#include <cmath>
#include <map>

namespace sextant::check {
namespace {

/// Column `column` of [rows, n].
std::vector<double> column_of(std::vector<double> const& all, std::size_t rows, int column) {
  std::vector<double> out;
  for (std::size_t r = 0; r < rows; ++r) out.push_back(all[r * (all.size() / rows) + column]);
  return out;
}
/// [rows, columns, ...] to [columns, rows, ...].
std::vector<double> transposed(std::vector<double> const& in, std::size_t rows, std::size_t columns) {
  std::vector<double> out(in.size());
  std::size_t const rest = in.empty() ? 0 : in.size() / (rows * columns);
  for (std::size_t r = 0; r < rows; ++r)
    for (std::size_t c = 0; c < columns; ++c)
      std::copy_n(&in[(r * columns + c) * rest], rest, &out[(c * rows + r) * rest]);
  return out;
}

struct Places {
  std::vector<double> positions;    ///< [batch or 1, length]
  std::vector<double> coordinates;  ///< [length, axes] or empty
};
Places places_of(results::Group const& group, int batch, int length) {
  std::vector<double> running;
  for (int i = 0; i < length; ++i) running.push_back(group.attribute<double>("start", 0.0) + i);
  if (!group.has_array("in/positions")) return {running, {}};
  auto const& array = group.array("in/positions");
  auto const n = static_cast<std::size_t>(length), b = static_cast<std::size_t>(batch);
  auto const numbers = group.numbers("in/positions");
  if (array.shape == results::Shape{n} || array.shape == results::Shape{b, n} || array.shape == results::Shape{n, 1})
    return {numbers, {}};
  expect(array.shape.size() == 2 && array.shape[0] == n, "in/positions is ", array.describe(), ", expected [", length,
         "], [", batch, ", ", length, "] or [", length, ", axes]");
  return {running, numbers};
}

Allowed allowed_of(results::Group const& group, int length) {
  Allowed out;
  out.causal = group.attribute<int>("causal", 1) != 0;
  if (!group.has_array("in/mask")) return out;
  auto const n = static_cast<std::size_t>(length);
  auto const mask = group.numbers("in/mask");
  group.array("in/mask", {n, n});
  bool all = true, causal = true;
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      all &= mask[i * n + j] != 0;
      causal &= (mask[i * n + j] != 0) == (j <= i);
    }
  out.causal = causal;
  if (!all && !causal)
    for (double m : mask) out.pairs.push_back(m != 0);
  return out;
}

template <class T>
class Run {
 public:
  Run(results::Group const& group, EncodingCase const& what, encoding::Registry const& registry)
      : group_(group), what_(what), registry_(registry) {}

  Quantities all() {
    if (what_.attends)
      attend();
    else
      embed();
    gradients_of_parameters();
    return std::move(out_);
  }

 private:
  void make_layer(encoding::Shape const& shape, int batch, int length) {
    position_ = std::make_shared<encoding::Position const>(what_.choice, registry_, shape);
    auto const places = places_of(group_, batch, length);
    layer_ = std::make_unique<Layer<T>>(position_, batch, length, places.positions, places.coordinates);
    std::vector<bool> filled(layer_->slots().size(), false);
    if (auto const* learned = group_.find_group("par"))
      for (auto const& [name, array] : learned->arrays) {
        auto const slot = slot_of(name);
        auto values = learned->numbers(name);
        if (slot.transposed) values = transposed(values, array.shape.at(0), array.shape.at(1));
        if (slot.column >= 0) values = with_column(slot.index, slot.column, values);
        layer_->set(slot.index, values);
        filled[slot.index] = true;
      }
    for (auto const& picked : what_.picked) filled[index_of(picked.parameter)] = true;
    for (std::size_t n = 0; n < filled.size(); ++n)
      if (!what_.picked.empty() && !filled[n])  // a bias beside a picked projection: the values are whole without it
        layer_->set(n, std::vector<double>(layer_->slots()[n].parameter->info.size(), 0.0));
      else
        expect(filled[n], "the encoding trains ", layer_->slots()[n].name, ", and par/ has no numbers for it");
  }

  struct Slot {
    std::size_t index = 0;
    bool transposed = false;
    int column = -1;
  };
  /// The numbers set so far of a parameter that several arrays of the file fill, with this column among them.
  std::vector<double> const& with_column(std::size_t slot, int column, std::vector<double> const& values) {
    auto& all = parts_[slot];
    std::size_t const size = layer_->slots()[slot].parameter->info.size(), n = size / values.size();
    all.resize(size, 0.0);
    for (std::size_t r = 0; r < values.size(); ++r) all[r * n + column] = values[r];
    return all;
  }
  Slot slot_of(std::string const& name) const {
    for (auto const& learned : what_.learned)
      if (learned.theirs == name)
        for (std::size_t n = 0; n < layer_->slots().size(); ++n)
          if (layer_->slots()[n].name.ends_with("." + learned.ours)) return {n, learned.transposed, learned.column};
    fail("par/", name, " has no counterpart among the encoding's parameters");
  }

  void embed() {
    Tensor const x = tensor_of(group_, "in/x");
    expect(x.shape.size() == 3, "in/x is ", group_.array("in/x").describe(), ", expected [batch, length, width]");
    encoding::Shape const shape{.heads = group_.attribute<int>("H", 1),
                                .kv_heads = group_.attribute<int>("H", 1),
                                .head_dim = group_.attribute<int>("D", 2),
                                .model_dim = x.extent(2)};
    make_layer(shape, x.extent(0), x.extent(1));
    out_["out/y"] = out_["out/o"] = layer_->embed(x);
    if (group_.has_array("in/loss_w")) out_["grad/x"] = layer_->embed_backward(tensor_of(group_, "in/loss_w"));
    if (!group_.has_array("out/table")) return;
    Tensor zero = x;
    std::fill(zero.values.begin(), zero.values.end(), 0.0);
    auto rows = layer_->embed(zero);
    rows.resize(static_cast<std::size_t>(x.extent(1)) * x.extent(2));
    out_["out/table"] = std::move(rows);
  }

  /// One array of per-token values [batch, heads, length(, width)] as columns of a made-up token embedding.
  struct Column {
    EncodingCase::Picked const* what;
    Tensor values;
    int begin, width;  // of the columns, heads * width of them
  };
  std::vector<Column> columns_;

  /// The tokens: the file's own, or the picked values side by side.
  Tensor tokens() {
    if (what_.picked.empty()) return tensor_of(group_, "in/x");
    Tensor x;
    int begin = 0;
    for (auto const& picked : what_.picked) {
      Tensor values = tensor_of(group_, picked.theirs);
      expect(values.shape.size() == 3 || values.shape.size() == 4, picked.theirs,
             " must be [batch, heads, length] or [batch, heads, length, width]");
      int const width = values.shape.size() == 4 ? values.extent(3) : 1;
      columns_.push_back({&picked, std::move(values), begin, width});
      begin += columns_.back().values.extent(1) * width;
    }
    auto const& first = columns_.front().values;
    x.shape = {first.shape[0], first.shape[2], static_cast<std::size_t>(begin)};
    x.values.resize(first.shape[0] * first.shape[2] * begin);
    for (auto const& c : columns_)
      each_entry(
          c, x, [](double& here, double const& theirs) { here = theirs; }, c.values);
    return x;
  }
  template <class V, class F>
  static void each_entry(Column const& c, Tensor& x, F&& f, V& values) {
    std::size_t at = 0;
    int const heads = c.values.extent(1), length = c.values.extent(2), all = x.extent(2);
    for (int b = 0; b < c.values.extent(0); ++b)
      for (int h = 0; h < heads; ++h)
        for (int i = 0; i < length; ++i)
          for (int w = 0; w < c.width; ++w)
            f(x.values[(static_cast<std::size_t>(b) * length + i) * all + c.begin + h * c.width + w],
              values.values[at++]);
  }
  /// Projections that pick the columns out again, so that what is projected are the file's values.
  void set_picks(Tensor const& x) {
    for (auto const& c : columns_) {
      int const rows = c.values.extent(1) * c.width, all = x.extent(2);
      std::vector<double> pick(static_cast<std::size_t>(rows) * all, 0.0);
      for (int r = 0; r < rows; ++r) pick[static_cast<std::size_t>(r) * all + c.begin + r] = 1;
      layer_->set(index_of(c.what->parameter), pick);
    }
  }
  void gradients_of_picked(Tensor grad_x) {
    for (auto const& c : columns_) {
      Tensor out{c.values.shape, std::vector<double>(c.values.values.size())};
      each_entry(
          c, grad_x, [](double const& here, double& theirs) { theirs = here; }, out);
      out_["grad/" + c.what->theirs.substr(3)] = std::move(out.values);
    }
  }
  std::size_t index_of(std::string const& ours) const {
    for (std::size_t n = 0; n < layer_->slots().size(); ++n)
      if (layer_->slots()[n].name.ends_with("." + ours)) return n;
    fail("the encoding has no parameter ", ours);
  }

  CaseProbe probe(int batch, int heads, int length, int head_dim, double scale, Allowed const& allowed) {
    auto const places = places_of(group_, batch, length);
    CaseProbe out{group_, *position_, places.coordinates.empty() ? places.positions : places.coordinates};
    out.batch = batch, out.heads = heads, out.length = length, out.head_dim = head_dim;
    out.gate = [this](std::size_t g) { return layer_->gate(g); };
    out.feature = [this](std::size_t n) { return layer_->feature(n); };
    out.set = [this](std::string const& ours, std::vector<double> const& values) {
      layer_->set(index_of(ours), values);
    };
    out.bias = [this, scale, allowed] { return added(layer_->logits(scale, allowed)); };
    return out;
  }
  static std::vector<double> added(typename Layer<T>::Logits const& logits) {
    std::vector<double> out;
    for (std::size_t i = 0; i < logits.biased.size(); ++i)
      out.push_back(std::isinf(logits.biased[i]) && std::isinf(logits.scaled[i]) ? 0
                                                                                 : logits.biased[i] - logits.scaled[i]);
    return out;
  }

  void attend() {
    Tensor const q = tensor_of(group_, "in/q"), k = tensor_of(group_, "in/k"), v = tensor_of(group_, "in/v");
    Tensor const x = tokens();
    expect(q.shape.size() == 4 && k.shape.size() == 4 && v.shape.size() == 4,
           "in/q, in/k and in/v must be [batch, heads, length, channels]");
    int const batch = q.extent(0), heads = q.extent(1), length = q.extent(2);
    int const width = x.shape.size() == 3 ? x.extent(2) : group_.attribute<int>("Dm", heads * q.extent(3));
    encoding::Shape const shape{
        .heads = heads, .kv_heads = k.extent(1), .head_dim = q.extent(3), .value_dim = v.extent(3), .model_dim = width};
    make_layer(shape, batch, length);
    set_picks(x);
    layer_->encode(q, k, x);
    out_["out/q_rot"] = layer_->query();
    out_["out/k_rot"] = layer_->key();
    double const scale = group_.attribute<double>("scale", 0.0);
    Allowed const allowed = allowed_of(group_, length);
    auto const logits = layer_->logits(scale, allowed);
    out_["out/logits"] = logits.biased;
    out_["out/bias"] = added(logits);
    own_quantities(batch, heads, length);
    if (what_.own) what_.own(probe(batch, heads, length, q.extent(3), scale, allowed), out_);
    out_["out/o"] = layer_->attend(v, scale, allowed);
    if (!group_.has_array("in/loss_w")) return;
    auto grad = layer_->backward(tensor_of(group_, "in/loss_w"));
    out_["grad/q"] = std::move(grad.q);
    out_["grad/k"] = std::move(grad.k);
    out_["grad/v"] = std::move(grad.v);
    if (!what_.picked.empty()) gradients_of_picked({x.shape, grad.x});
    out_["grad/x"] = std::move(grad.x);
  }

  /// What only one method has: its gates, phase, temperature, buckets.
  void own_quantities(int batch, int heads, int length) {
    auto const& term = position_->terms().front();
    auto const& name = term.encoding->description().name;
    if (group_.has_array("out/log_f") && name == "fox") {  // the scan's steps
      auto sum = layer_->gate(0);
      for (std::size_t i = sum.size(); i-- > 0;)
        if (i % length != 0) sum[i] -= sum[i - 1];
      out_["out/log_f"] = std::move(sum);
    }
    if (group_.has_array("out/phase") && name == "segmented_theta")
      for (double p : places_of(group_, batch, length).positions) out_["out/phase"].push_back(term.encoding->phase(p));
    if (group_.has_array("out/mscale") && name == "rope")
      out_["out/mscale"] = {layer_->binding().frequencies(0, 0).attention_factor};
    if (group_.has_array("out/bucket") && name == "t5") {
      // A bias that equals its bucket's number says which bucket each pair reads.
      auto const kept = group_.numbers("par/rel_bias");
      std::size_t const buckets = kept.size() / heads;
      std::vector<double> number;
      for (int h = 0; h < heads; ++h)
        for (std::size_t n = 0; n < buckets; ++n) number.push_back(static_cast<double>(n));
      auto const slot = slot_of("rel_bias").index;
      layer_->set(slot, number);
      auto const logits = layer_->logits(1e-30, {});  // the product leaves no trace beside whole numbers
      for (int n = 0; n < length * length; ++n) out_["out/bucket"].push_back(std::round(logits.biased[n]));
      layer_->set(slot, transposed(kept, buckets, heads));
    }
  }

  void gradients_of_parameters() {
    auto const* learned = group_.find_group("par");
    if (!learned || !group_.has_array("in/loss_w")) return;
    for (auto const& [name, array] : learned->arrays) {
      auto const slot = slot_of(name);
      auto grad = layer_->gradient(slot.index);
      if (slot.transposed) grad = transposed(grad, array.shape.at(1), array.shape.at(0));
      if (slot.column >= 0) grad = column_of(grad, array.shape.at(0), slot.column);
      out_["grad/" + name] = std::move(grad);
    }
  }

  results::Group const& group_;
  EncodingCase const& what_;
  encoding::Registry const& registry_;
  std::shared_ptr<encoding::Position const> position_;
  std::unique_ptr<Layer<T>> layer_;
  std::map<std::size_t, std::vector<double>> parts_;  // by slot: what with_column() has of it
  Quantities out_;
};

std::shared_ptr<encoding::Position const> alone(encoding::Choice choice, int heads,
                                                encoding::Registry const& registry) {
  encoding::PositionChoice whole;
  whole.encodings = {std::move(choice)};
  return std::make_shared<encoding::Position const>(
      whole, registry, encoding::Shape{.heads = heads, .kv_heads = heads, .head_dim = 8, .model_dim = 8 * heads});
}
}  // namespace

Tensor tensor_of(results::Group const& group, std::string const& name) {
  if (!group.has_array(name)) return {};
  return {group.array(name).shape, group.numbers(name)};
}

template <class T>
Quantities run_encoding(results::Group const& group, EncodingCase const& what, encoding::Registry const& registry) {
  return Run<T>(group, what, registry).all();
}
template Quantities run_encoding<float>(results::Group const&, EncodingCase const&, encoding::Registry const&);
template Quantities run_encoding<double>(results::Group const&, EncodingCase const&, encoding::Registry const&);

Quantities run_table(results::Group const& group, std::string const& method, Parameters const& options,
                     encoding::Registry const& registry) {
  Quantities out;
  if (method == "alibi_slope_table") {
    double const exponent = options.number("slope_exponent", 8);
    options.allow({"max_heads"});
    options.expect_all_known();
    for (auto const& [name, array] : group.group("out").arrays) {
      std::string const order = name.substr(0, name.find('_'));
      expect(!array.shape.empty(), "out/", name, " is a single number, expected [heads]");
      encoding::Choice const choice{"alibi", {{"slope_exponent", exponent}, {"slope_order", order}}, {}};
      auto const position = alone(choice, static_cast<int>(array.shape[0]), registry);
      out["out/" + name] = position->initial_weights(position->terms().front());
    }
    return out;
  }
  auto const buckets = options.whole("num_buckets", 32);
  encoding::Choice const choice{"t5",
                                {{"num_buckets", static_cast<std::int64_t>(buckets)},
                                 {"max_distance", options.number("max_distance", 128)},
                                 {"bidirectional", options.flag("bidirectional", false)}},
                                {}};
  options.allow({"span"});
  options.expect_all_known();
  auto const position = alone(choice, 1, registry);
  auto const& term = position->terms().front();
  std::vector<double> number;
  for (int n = 0; n < buckets; ++n) number.push_back(n);
  for (double ahead : group.numbers("in/relative_position"))
    out["out/bucket"].push_back(term.encoding->bias_at(term.shape, number.data(), {0, 1}, 0, ahead, nullptr, nullptr));
  return out;
}

}  // namespace sextant::check
