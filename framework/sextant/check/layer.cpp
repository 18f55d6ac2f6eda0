#include <sextant/base/error.hpp>
#include <sextant/check/layer.hpp>
#include <sextant/check/record.hpp>

#include <limits>

namespace sextant::check {
namespace {

/// Hides the pairs that a pattern [length, length] does not allow: before links over whole rows, which must not count
/// them, or else from tiles.
template <class T>
class Hide final : public kernels::TileModifier<T>, public kernels::RowLink<T> {
 public:
  Hide(std::vector<char> pairs, int length) : pairs_(std::move(pairs)), length_(length) {}
  void forward(kernels::Tile<T> const& tile) const override {
    hide(tile.row, tile.rows, tile.col, tile.cols, tile.logit, tile.stride);
  }
  void backward(kernels::Tile<T> const&, T const*, int) override {}
  void forward(kernels::Strip<T> const& strip, kernels::Operands<T> const&) const override {
    hide(strip.row, strip.rows, 0, strip.cols, strip.logit, strip.stride);
  }
  using kernels::RowLink<T>::backward;

 private:
  void hide(int row, int rows, int col, int cols, T* logit, std::ptrdiff_t stride) const {
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < cols; ++c)
        if (!pairs_[static_cast<std::size_t>(row + r) * length_ + col + c])
          logit[r * stride + c] = -std::numeric_limits<T>::infinity();
  }
  std::vector<char> pairs_;
  int length_;
};

}  // namespace

template <class T>
Layer<T>::Layer(std::shared_ptr<encoding::Position const> position, int batch, int length,
                std::vector<double> const& positions, std::vector<double> const& coordinates)
    : binding_(std::move(position), 1), batch_(batch), length_(length) {
  for (auto const& slot : binding_.slots()) {
    std::size_t const n = slot.parameter->info.size();
    weights_.emplace_back("weights", n);
    gradients_.emplace_back("gradients", n);
  }
  binding_.attach(weights_, gradients_);
  expect(length > 0, "there are no tokens: the length is ", length);
  std::size_t const rows = positions.size() / length;
  expect(length > 0 && (rows == 1 || rows == static_cast<std::size_t>(batch)) && rows * length == positions.size(),
         "positions hold ", positions.size(), " numbers, expected ", length, " or ", batch * length);
  View2<double> ids("positions", rows, length);
  std::copy(positions.begin(), positions.end(), ids.data());
  encoding::Tokens tokens;
  tokens.batch = batch;
  tokens.count = length;
  tokens.position = ids;
  if (!coordinates.empty()) {
    expect(coordinates.size() % static_cast<std::size_t>(length) == 0, "coordinates hold ", coordinates.size(),
           " numbers, expected a multiple of ", length);
    tokens.coordinates = View3<double>("coordinates", 1, length, coordinates.size() / length);
    std::copy(coordinates.begin(), coordinates.end(), tokens.coordinates.data());
  }
  binding_.begin(Exec(), tokens);
}

template <class T>
View4<T> Layer<T>::upload(Tensor const& t) {
  expect(t.shape.size() == 4, "a query, key, value or output has ", t.shape.size(), " axes, expected 4");
  View4<T> out("tensor", t.shape[0], t.shape[1], t.shape[2], t.shape[3]);
  for (std::size_t i = 0; i < t.values.size(); ++i) out.data()[i] = static_cast<T>(t.values[i]);
  return out;
}

template <class T>
Heads<T> Layer<T>::heads(View4<T> const& v) {
  return Heads<T>(v);
}

template <class T>
std::vector<double> Layer<T>::numbers(View4<T> const& v) {
  return {v.data(), v.data() + v.size()};
}

template <class T>
void Layer<T>::set(std::size_t slot, std::vector<double> const& values) {
  auto const& name = slots().at(slot).name;
  expect(values.size() == weights_[slot].size(), name, ": given ", values.size(), " numbers, expected ",
         weights_[slot].size());
  for (std::size_t i = 0; i < values.size(); ++i) weights_[slot](i) = static_cast<T>(values[i]);
}

template <class T>
std::vector<double> Layer<T>::gradient(std::size_t slot) const {
  auto const& g = gradients_.at(slot);
  return {g.data(), g.data() + g.size()};
}

template <class T>
std::vector<double> Layer<T>::embed(Tensor const& x) {
  int const width = x.extent(2);
  View2<T> rows("x", static_cast<std::size_t>(batch_) * length_, width);
  for (std::size_t i = 0; i < x.values.size(); ++i) rows.data()[i] = static_cast<T>(x.values[i]);
  binding_.embed(Exec(), rows);
  return {rows.data(), rows.data() + rows.size()};
}

template <class T>
std::vector<double> Layer<T>::embed_backward(Tensor const& grad) {
  int const width = grad.extent(2);
  View2<T> rows("grad", static_cast<std::size_t>(batch_) * length_, width);
  for (std::size_t i = 0; i < grad.values.size(); ++i) rows.data()[i] = static_cast<T>(grad.values[i]);
  binding_.embed_backward(Exec(), rows);
  return {rows.data(), rows.data() + rows.size()};
}

template <class T>
void Layer<T>::encode(Tensor const& q, Tensor const& k, Tensor const& x) {
  q_ = upload(q);
  k_ = upload(k);
  if (!x.values.empty()) {
    x_ = View2<T>("x", static_cast<std::size_t>(batch_) * length_, x.extent(2));
    for (std::size_t i = 0; i < x.values.size(); ++i) x_.data()[i] = static_cast<T>(x.values[i]);
  }
  expect(!binding_.reads_tokens() || x_.size() > 0, "the encoding reads tokens, and there is no in/x");
  encoded_ = binding_.encode(Exec(), 0, View2<T const>(x_), heads(q_), heads(k_), state_);
}

template <class T>
std::vector<double> Layer<T>::gate(std::size_t g) const {
  expect(g < state_.gates.size(), "there is no gate ", g);
  auto const& value = state_.gates[g].value;
  std::vector<double> out;
  for (std::size_t b = 0; b < value.extent(0); ++b)
    for (std::size_t h = 0; h < value.extent(1); ++h)
      for (int i = 0; i < length_; ++i) out.push_back(value(b, h, i));
  return out;
}

template <class T>
std::vector<double> Layer<T>::feature(std::size_t n) const {
  expect(n < state_.features.size(), "there is no feature ", n);
  auto const& value = state_.features[n].value;
  std::vector<double> out;
  for (std::size_t b = 0; b < value.extent(0); ++b)
    for (std::size_t h = 0; h < value.extent(1); ++h)
      for (int i = 0; i < length_; ++i)
        for (std::size_t c = 0; c < value.extent(3); ++c) out.push_back(value(b, h, i, c));
  return out;
}

template <class T>
std::vector<double> Layer<T>::packed(Heads<T> const& v) {
  View4<T> to("packed", v.extent(0), v.extent(1), v.extent(2), v.extent(3));
  Kokkos::deep_copy(to, v);
  return numbers(to);
}

template <class T>
kernels::AttentionInput<T> Layer<T>::input(View4<T> const& v, double scale, bool gradient) {
  kernels::AttentionInput<T> in;
  in.scale = scale;
  binding_.connect(Exec(), 0, encoded_.query, {encoded_.key.begin(), encoded_.key.end()}, state_, gradient, in);
  in.value = Heads<T const>(heads(v));
  return in;
}

template <class T>
auto Layer<T>::logits(double scale, Allowed const& allowed) -> Logits {
  std::size_t const heads_n = q_.extent(1);
  View4<T> before("logits before", batch_, heads_n, length_, length_),
      after("logits", batch_, heads_n, length_, length_);
  View4<T> v("value", batch_, k_.extent(1), length_, 1), out("out", batch_, heads_n, length_, 1);
  auto in = input(v, scale, false);
  bool const every_pair = in.rows.empty() && !in.branch_rule;
  in.mask.causal = every_pair ? false : allowed.causal;
  in.mask.window = every_pair ? 0 : allowed.window;
  T const unvisited = every_pair ? std::numeric_limits<T>::quiet_NaN() : -std::numeric_limits<T>::infinity();
  Kokkos::deep_copy(before, unvisited);  // a tile that nobody visits shows
  Kokkos::deep_copy(after, unvisited);
  RecordLogits<T> first(before), last(after);
  if (in.rows.empty())
    in.modifiers.insert(in.modifiers.begin(), &first);
  else
    in.rows.insert(in.rows.begin(), &first);
  Hide<T> hide(allowed.pairs, length_);
  if (!in.rows.empty() && !allowed.pairs.empty()) in.rows.insert(in.rows.begin(), &hide);
  in.modifiers.push_back(&last);
  kernels::attention_forward<T>(Exec(), in, heads(out), View3<T>("lse", batch_, heads_n, length_), workspace_);
  return {numbers(before), numbers(after)};
}

template <class T>
std::vector<double> Layer<T>::attend(Tensor const& v, double scale, Allowed const& allowed) {
  v_ = upload(v);
  used_ = input(v_, scale, true);
  used_.mask.causal = allowed.causal;
  used_.mask.window = allowed.window;
  if (!allowed.pairs.empty()) {
    auto hide = std::make_unique<Hide<T>>(allowed.pairs, length_);
    if (used_.rows.empty())
      used_.modifiers.push_back(hide.get());
    else
      used_.rows.insert(used_.rows.begin(), hide.get());
    hide_ = std::move(hide);
  }
  out_ = View4<T>("out", batch_, q_.extent(1), length_, v_.extent(3));
  log_sum_exp_ = View3<T>("lse", batch_, q_.extent(1), length_);
  kernels::attention_forward<T>(Exec(), used_, heads(out_), log_sum_exp_, workspace_);
  return numbers(out_);
}

template <class T>
std::vector<double> Layer<T>::attend_by_reference() const {
  View4<T> out("out", out_.extent(0), out_.extent(1), out_.extent(2), out_.extent(3));
  View3<T> log_sum_exp("lse", out_.extent(0), out_.extent(1), out_.extent(2));
  reference::attention_forward<T>(used_, heads(out), log_sum_exp);
  return numbers(out);
}

template <class T>
auto Layer<T>::backward(Tensor const& grad_out) -> Gradients {
  View4<T> const g = upload(grad_out);
  View4<T> gq("gq", q_.extent(0), q_.extent(1), q_.extent(2), q_.extent(3));
  View4<T> gk("gk", k_.extent(0), k_.extent(1), k_.extent(2), k_.extent(3));
  View4<T> gv("gv", v_.extent(0), v_.extent(1), v_.extent(2), v_.extent(3));
  View2<T> gx("gx", x_.extent(0), x_.extent(1));
  auto const grads = binding_.gradients(0, heads(gq), heads(gk));
  kernels::attention_backward<T>(
      Exec(), used_, Heads<T const>(heads(out_)), log_sum_exp_, Heads<T const>(heads(g)), grads.query.front(),
      grads.key.front(), heads(gv), workspace_,
      {{grads.query.begin() + 1, grads.query.end()}, {grads.key.begin() + 1, grads.key.end()}});
  binding_.encode_backward(Exec(), 0, View2<T const>(x_), heads(q_), heads(k_), grads, heads(gq), heads(gk), gx,
                           state_);
  return {numbers(gq), numbers(gk), numbers(gv), {gx.data(), gx.data() + gx.size()}};
}

template class Layer<float>;
template class Layer<double>;

}  // namespace sextant::check
