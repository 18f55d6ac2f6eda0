// DAPE: a small network reads the logits of all heads and their biases, pair by pair, and adds to both.
//
//   x_h = logit(h, i, j) so far;  logit(h, i, j) = x_h + B_h + f(x_1 .. x_H, B_1 .. B_H)_h
//   f(y) = W2 leaky(W1 y + b1) + b2,  leaky(t) = t for t > 0, else 0.01 t
//   base kerple: B_h = -r1_h ln(1 + r2_h |d|);  alibi: -slope_h |d|;  none: no B, f reads the logits alone
//
// Source: Zheng et al., "DAPE", arXiv:2405.14722, section 3, and the authors' released code (form of f, where numbers start).
// KERPLE's r1 and r2 are kept at 0.01 or more: one below acts as the bound.
#include <sextant/encoding/row_tools.hpp>
#include <sextant/encoding/slopes.hpp>
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
namespace {

enum class DapeBase { kerple, alibi, none };

/// The bias that f reads beside the logits, for the heads of a term.
class DapeBias {
 public:
  DapeBias() = default;
  DapeBias(DapeBase base, Head first, int heads, Tensors const& tensors) : base_(base), heads_(heads) {
    if (base == DapeBase::alibi)
      for (int h = 0; h < heads; ++h) r1_.push_back(alibi_slope(first.index + h, first.count, 8, SlopeOrder::press));
    if (base == DapeBase::kerple) r1_ = tensors.at(4), r2_ = tensors.at(5);
  }
  int heads() const { return base_ == DapeBase::none ? 0 : heads_; }
  bool trained() const { return base_ == DapeBase::kerple; }
  double at(int h, double distance) const {
    double const d = std::abs(distance);
    return base_ == DapeBase::alibi ? -r1_[h] * d : -legal(r1_[h]) * std::log1p(legal(r2_[h]) * d);
  }
  /// Adds d loss / d r1 and d r2, given d loss / d at().
  void backward(int h, double distance, double grad, double& r1, double& r2) const {
    double const d = std::abs(distance), inner = 1 + legal(r2_[h]) * d;
    if (r1_[h] >= least) r1 -= grad * std::log(inner);
    if (r2_[h] >= least) r2 -= grad * legal(r1_[h]) * d / inner;
  }

 private:
  static constexpr double least = 0.01;
  static double legal(double r) { return std::max(r, least); }
  DapeBase base_ = DapeBase::none;
  int heads_ = 0;
  std::vector<double> r1_, r2_;
};

template <class T>
class DapeRows final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  using Strip = kernels::Strip<T>;
  using Strips = std::span<Strip const>;
  using Operands = std::span<kernels::Operands<T> const>;

  DapeRows(DapeBase base, int width) : base_(base), width_(width) {}

  bool across_heads() const override { return true; }
  int notes() const override { return 1; }  // the logits that f read

  void prepare(Exec const&, Inputs const& in) override {
    expect(in.first_head.index == 0 && in.first_head.count == in.heads,
           "dape: its network reads all of its heads, and ", "was given heads ", in.first_head.index, " to ",
           in.first_head.index + in.heads, " of ", in.first_head.count, "; expected slopes of the subset");
    in_ = in;
    heads_ = in.heads;
    auto tensors = narrowed<T>(in.tensors);
    w1_ = std::move(tensors.at(0)), b1_ = std::move(tensors.at(1));
    w2_ = std::move(tensors.at(2)), b2_ = std::move(tensors.at(3));
    bias_ = DapeBias(base_, in.first_head, heads_, in.tensors);
    inputs_ = heads_ + bias_.heads();
    tabulate();
    if (!in.want_gradient) return;
    gradient_.assign(in.batch, {});
    for (auto& g : gradient_) {
      g.w1.assign(w1_.size(), 0), g.b1.assign(b1_.size(), 0), g.w2.assign(w2_.size(), 0), g.b2.assign(b2_.size(), 0);
      g.r1.assign(bias_.trained() ? heads_ : 0, 0), g.r2.assign(g.r1.size(), 0);
      g.table.assign(bias_.trained() ? table_.size() : 0, 0);
    }
  }

  void forward_heads(Strips all, Operands) const override {
    Strips const heads = all.subspan(in_.head_begin, heads_);
    Strip const& first = heads.front();
    for (int r = 0; r < first.rows; ++r)
      for (int begin = 0; begin < first.cols; begin += chunk) {
        int const n = std::min(chunk, first.cols - begin);
        T* const y = inputs_of(first, r, begin, n);
        for (int h = 0; h < heads_; ++h) {
          T const* const logit = heads[h].logit + r * heads[h].stride + begin;
          std::copy_n(logit, n, heads[h].note(0) + r * heads[h].stride + begin);
          visible_logits(logit, n, y + h * chunk);
        }
        T* const units = hidden_units(y, n);
        leak(units, n);
        T* const out = scratch<T, 2>(heads_ * chunk);
        kernels::small_nn(w2_.data(), width_, heads_, units, chunk, n, width_, T(1), out, chunk);
        for (int h = 0; h < heads_; ++h) {
          T* const logit = heads[h].logit + r * heads[h].stride + begin;
          T const* const more = out + h * chunk;
          T const* const bias = bias_.heads() > 0 ? y + (heads_ + h) * chunk : nothing();
          for (int j = 0; j < n; ++j) logit[j] = unless_hidden(logit[j], bias[j] + more[j] + b2_[h]);
        }
      }
  }

  void backward_heads(Strips all, Operands, std::span<T* const> grads,
                      std::span<kernels::OperandGradients<T> const>) override {
    Strips const heads = all.subspan(in_.head_begin, heads_);
    Strip const& first = heads.front();
    Gradient& sums = gradient_[first.batch];
    for (int r = 0; r < first.rows; ++r)
      for (int begin = 0; begin < first.cols; begin += chunk) {
        int const n = std::min(chunk, first.cols - begin);
        T* const out = scratch<T, 2>(heads_ * chunk);  // d loss / d f
        bool any = false;
        for (int h = 0; h < heads_; ++h) {
          T const* const grad = grads[in_.head_begin + h] + r * heads[h].stride + begin;
          any = any || std::any_of(grad, grad + n, [](T g) { return g != 0; });
          std::copy_n(grad, n, out + h * chunk);
        }
        if (!any) continue;
        T* const y = inputs_of(first, r, begin, n);
        for (int h = 0; h < heads_; ++h)
          visible_logits(heads[h].note(0) + r * heads[h].stride + begin, n, y + h * chunk);
        T* const before = hidden_units(y, n);
        T* const units = scratch<T, 3>(width_ * chunk);
        kernels::small_tn(w2_.data(), width_, width_, out, chunk, n, heads_, T(1), units, chunk);
        for (int u = 0; u < width_; ++u)
          for (int j = 0; j < n; ++j) units[u * chunk + j] *= before[u * chunk + j] > 0 ? T(1) : leakage;
        leak(before, n);
        kernels::small_nt(out, chunk, heads_, before, chunk, width_, n, T(1), sums.w2.data(), width_, true);
        kernels::small_nt(units, chunk, width_, y, chunk, inputs_, n, T(1), sums.w1.data(), inputs_, true);
        add_rows(out, heads_, n, sums.b2);
        add_rows(units, width_, n, sums.b1);
        T* const back = scratch<T, 4>(inputs_ * chunk);
        kernels::small_tn(w1_.data(), inputs_, inputs_, units, chunk, n, width_, T(1), back, chunk);
        for (int h = 0; h < heads_; ++h) {
          T* const grad = grads[in_.head_begin + h] + r * heads[h].stride + begin;
          T const* const x = heads[h].note(0) + r * heads[h].stride + begin;
          T const* const more = back + h * chunk;
          for (int j = 0; j < n; ++j) grad[j] = x[j] == hidden ? T(0) : grad[j] + more[j];
          if (bias_.trained()) bias_backward(first, r, begin, n, h, out + h * chunk, back + (heads_ + h) * chunk, sums);
        }
      }
  }

  void finish(Tensors& gradient) override {
    for (auto& g : gradient_) {
      std::vector<T> const* const parts[] = {&g.w1, &g.b1, &g.w2, &g.b2};
      for (int n = 0; n < 4; ++n)
        for (std::size_t i = 0; i < parts[n]->size(); ++i) gradient.at(n)[i] += static_cast<double>((*parts[n])[i]);
      if (!bias_.trained()) continue;
      for (int h = 0; h < heads_; ++h) {
        for (std::int64_t e = 0; e < table_width_; ++e)
          if (double const grad = g.table[h * table_width_ + e]; grad != 0)
            bias_.backward(h, static_cast<double>(e + table_first_), grad, g.r1[h], g.r2[h]);
        gradient.at(4)[h] += g.r1[h];
        gradient.at(5)[h] += g.r2[h];
      }
    }
  }

 private:
  static constexpr int chunk = 128;  // pairs that go through f at once: its units stay in L1 or L2
  static constexpr T leakage = T(0.01), hidden = -std::numeric_limits<T>::infinity();

  /// B by key - query offset, where positions are whole and near enough.
  void tabulate() {
    double const span = in_.most_offset - in_.least_offset;
    table_width_ = 0;
    table_.clear();
    if (bias_.heads() == 0 || !in_.whole_positions) return;
    if (span > 4.0 * (static_cast<double>(in_.query_len) + in_.key_len) + 1024) return;
    table_first_ = -static_cast<std::int64_t>(in_.most_offset);
    table_width_ = static_cast<std::int64_t>(span) + 1;
    for (int h = 0; h < heads_; ++h)
      for (std::int64_t e = 0; e < table_width_; ++e)
        table_.push_back(static_cast<T>(bias_.at(h, static_cast<double>(e + table_first_))));
  }
  /// y[inputs, chunk] for pairs (r, begin ..): its biases; logits are the caller's.
  T* inputs_of(Strip const& strip, int r, int begin, int n) const {
    T* const y = scratch<T, 0>(inputs_ * chunk);
    double const query = strip.query_position[r];
    double const* const key = strip.key_position + begin;
    for (int h = 0; h < bias_.heads(); ++h) {
      T* const row = y + (heads_ + h) * chunk;
      if (table_width_ > 0) {
        T const* const table = table_.data() + h * table_width_;
        for (int j = 0; j < n; ++j) row[j] = table[static_cast<std::int64_t>(key[j] - query) - table_first_];
      } else {
        for (int j = 0; j < n; ++j) row[j] = static_cast<T>(bias_.at(h, query - key[j]));
      }
    }
    return y;
  }
  static void visible_logits(T const* logit, int n, T* out) {
    for (int j = 0; j < n; ++j) out[j] = logit[j] == hidden ? T(0) : logit[j];
  }
  /// W1 y + b1, [width, chunk].
  T* hidden_units(T const* y, int n) const {
    T* const units = scratch<T, 1>(width_ * chunk);
    for (int u = 0; u < width_; ++u) std::fill_n(units + u * chunk, n, b1_[u]);
    kernels::small_nn(w1_.data(), inputs_, width_, y, chunk, n, inputs_, T(1), units, chunk, true);
    return units;
  }
  void leak(T* units, int n) const {
    for (int u = 0; u < width_; ++u)
      for (int j = 0; j < n; ++j) units[u * chunk + j] = std::max(units[u * chunk + j], leakage * units[u * chunk + j]);
  }
  static T const* nothing() {
    static std::array<T, chunk> const zeros{};
    return zeros.data();
  }
  static void add_rows(T const* from, int rows, int n, std::vector<T>& into) {
    for (int r = 0; r < rows; ++r) into[r] += kernels::row_sum<T>(n, [&](int j) { return from[r * chunk + j]; });
  }

  struct Gradient {  // of one batch row
    std::vector<T> w1, b1, w2, b2;
    std::vector<double> r1, r2, table;  // table: d loss / d B by offset
  };
  void bias_backward(Strip const& strip, int r, int begin, int n, int h, T const* direct, T const* through,
                     Gradient& sums) const {
    double const query = strip.query_position[r];
    double const* const key = strip.key_position + begin;
    for (int j = 0; j < n; ++j) {
      double const grad = static_cast<double>(direct[j]) + static_cast<double>(through[j]);
      if (table_width_ > 0)
        sums.table[h * table_width_ + static_cast<std::int64_t>(key[j] - query) - table_first_] += grad;
      else
        bias_.backward(h, query - key[j], grad, sums.r1[h], sums.r2[h]);
    }
  }

  DapeBase base_;
  int width_, heads_ = 0, inputs_ = 0;
  Inputs in_;
  std::vector<T> w1_, b1_, w2_, b2_;
  DapeBias bias_;
  std::vector<T> table_;  // [heads, table_width]
  std::int64_t table_first_ = 0, table_width_ = 0;
  std::vector<Gradient> gradient_;
};
}  // namespace

struct Dape {
  DapeBase base = DapeBase::kerple;
  int width = 32;

  static constexpr char const* summary = "a network over the logits and biases of all heads of a pair adds to both";
  static constexpr char const* formula = "logit(h, i, j) = x_h + B_h + f(x, B)_h, f a network of one hidden layer";
  static constexpr bool relative = true;

  static auto schema() {
    return Schema<Dape>{}
        .choice("base", &Dape::base, "the bias B: kerple's logarithm, trained; alibi's slopes; or none",
                {{"kerple", DapeBase::kerple}, {"alibi", DapeBase::alibi}, {"none", DapeBase::none}})
        .option("width", &Dape::width, "hidden units of the network", between(1, 4096));
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const heads = shape.heads, in = base == DapeBase::none ? heads : 2 * heads, units = width;
    auto const layer = [](char const* name, std::vector<std::size_t> sizes, std::size_t inputs) {
      double const bound = 1 / std::sqrt(static_cast<double>(inputs));
      auto const init = [bound](Stream const& stream, std::size_t i) { return bound * (2 * stream.uniform(i) - 1); };
      return ParameterInfo{.name = name, .shape = std::move(sizes), .init = init, .per_layer = true, .per_head = false};
    };
    std::vector<ParameterInfo> out{layer("w1", {units, in}, in), layer("b1", {units}, in),
                                   layer("w2", {heads, units}, units), layer("b2", {heads}, units)};
    if (base == DapeBase::kerple) {
      out.push_back({"r1", {heads}, [](Stream const& s, std::size_t i) { return std::max(0.01, 2 * s.uniform(i)); }});
      out.push_back({"r2", {heads}, [](Stream const& s, std::size_t i) { return std::max(0.01, s.uniform(i)); }});
    }
    return out;
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<DapeRows<T>>(base, width);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Dape, "dape", "arXiv:2405.14722")
