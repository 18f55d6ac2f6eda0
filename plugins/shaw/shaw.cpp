// Shaw's relative positions: a trained vector per clipped offset joins the key and, if asked for, the value.
//
//   n = clip(p_j - p_i, -K, K) + K;  logit(h, i, j) = s (q_i . k_j + q_i . aK[n]);  out_i += sum over j of a_ij aV[n]
//
// Source: Shaw, Uszkoreit and Vaswani, "Self-Attention with Relative Position Representations", arXiv:1803.02155,
// section 3. The vectors are shared by the heads and a layer's own. Nothing of a pair's size but its logit is formed: a row
// needs 2K + 1 products with aK, and its weights summed into 2K + 1 bins for aV.
#include <sextant/encoding/row_tools.hpp>
#include <sextant/kernels/row_math.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

namespace sextant::plugins {
namespace {

template <class T>
class ShawRows final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  using Strip = kernels::Strip<T>;
  using Operands = kernels::Operands<T>;

  ShawRows(int reach, bool use_values) : reach_(reach), bins_(2 * reach + 1), use_values_(use_values) {}

  void prepare(Exec const&, Inputs const& in) override {
    expect(in.whole_positions, "shaw: positions have fractions, and there is one vector for each whole distance up to ",
           reach_, "; expected whole positions");
    in_ = in;
    auto tensors = narrowed<T>(in.tensors);
    key_ = std::move(tensors.at(0));
    if (use_values_) value_ = std::move(tensors.at(1));
    if (!in.want_gradient) return;
    key_gradient_.reset(in.batch, in.heads, key_.size());
    value_gradient_.reset(in.batch, in.heads, value_.size());
  }

  void forward(Strip const& strip, Operands const& x) const override {
    if (!in_.covers(strip.head)) return;
    T* const product = scratch<T, 0>(static_cast<std::size_t>(strip.rows) * bins_);
    kernels::small_nt(x.query, x.query_stride, strip.rows, key_.data(), x.dim, bins_, x.dim, x.scale, product, bins_);
    spread(strip, product, strip.logit, [](T logit, T more) { return unless_hidden(logit, more); });
  }

  void backward(Strip const& strip, Operands const& x, T* grad, kernels::OperandGradients<T> const& out) override {
    if (!in_.covers(strip.head)) return;
    T const* const query =
        rows_with_gradient<T, 1>(x.query, x.query_stride, strip.rows, x.dim, grad, strip.stride, strip.cols);
    T const* const bins = collect(strip, grad);
    kernels::small_nn(bins, bins_, strip.rows, key_.data(), x.dim, x.dim, bins_, x.scale, out.query, out.query_stride,
                      true);
    kernels::small_tn(bins, bins_, bins_, query, x.dim, x.dim, strip.rows, x.scale,
                      key_gradient_.at(strip.batch, strip.head - in_.head_begin), x.dim, true);
  }

  bool adds_to_values() const override { return use_values_; }

  void values(Strip const& strip, T* out, std::ptrdiff_t out_stride, int value_dim) const override {
    if (!in_.covers(strip.head)) return;
    T const* const bins = collect(strip, strip.logit);
    kernels::small_nn(bins, bins_, strip.rows, value_.data(), width_for(value_dim), value_dim, bins_, T(1), out,
                      out_stride, true);
  }

  void values_backward(Strip const& strip, T const* grad_out, std::ptrdiff_t grad_stride, int value_dim,
                       T* grad_weight) override {
    if (!in_.covers(strip.head)) return;
    T const* const seen =
        rows_with_gradient<T, 1>(grad_out, grad_stride, strip.rows, value_dim, strip.logit, strip.stride, strip.cols);
    T const* const bins = collect(strip, strip.logit);
    kernels::small_tn(bins, bins_, bins_, seen, value_dim, value_dim, strip.rows, T(1),
                      value_gradient_.at(strip.batch, strip.head - in_.head_begin), width_for(value_dim), true);
    T* const product = scratch<T, 0>(static_cast<std::size_t>(strip.rows) * bins_);
    kernels::small_nt(seen, value_dim, strip.rows, value_.data(), width_for(value_dim), bins_, value_dim, T(1), product,
                      bins_);
    spread(strip, product, grad_weight, [](T grad, T more) { return grad + more; });
  }

  void finish(Tensors& gradient) override {
    key_gradient_.add_to(gradient.at(0), false);
    if (use_values_) value_gradient_.add_to(gradient.at(1), false);
  }

 private:
  /// Channels of a row of aV; narrower values take the first of them.
  int width_for(int value_dim) const {
    int const width = static_cast<int>(value_.size()) / bins_;
    expect(value_dim <= width, "shaw: rel_v has vectors of ", width, " channels, found values of ", value_dim);
    return width;
  }
  /// to[rows, strip.stride] = add(to, product[row][bin of the pair]).
  template <class Add>
  void spread(Strip const& strip, T const* product, T* to, Add const& add) const {
    auto const& runs = position_runs(strip.key_position, strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      T const* const row = product + r * bins_;
      T* const into = to + r * strip.stride;
      for (auto const& run : runs)
        clipped_offsets(
            run, static_cast<std::int64_t>(strip.query_position[r]), reach_,
            [&](int begin, int end, int bin) {
              for (int j = begin; j < end; ++j) into[j] = add(into[j], row[bin]);
            },
            [&](int begin, int end, int bin) {
              for (int j = begin; j < end; ++j) into[j] = add(into[j], row[bin + j - begin]);
            });
    }
  }
  /// Sums of from[rows, strip.stride] over the pairs of each bin, [rows, bins].
  T* collect(Strip const& strip, T const* from) const {
    T* const bins = scratch<T, 0>(static_cast<std::size_t>(strip.rows) * bins_);
    std::fill_n(bins, static_cast<std::size_t>(strip.rows) * bins_, T(0));
    auto const& runs = position_runs(strip.key_position, strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      T* const row = bins + r * bins_;
      T const* const of = from + r * strip.stride;
      for (auto const& run : runs)
        clipped_offsets(
            run, static_cast<std::int64_t>(strip.query_position[r]), reach_,
            [&](int begin, int end, int bin) {
              row[bin] += kernels::row_sum<T>(end - begin, [&](int j) { return of[begin + j]; });
            },
            [&](int begin, int end, int bin) {
              for (int j = begin; j < end; ++j) row[bin + j - begin] += of[j];
            });
    }
    return bins;
  }

  int reach_, bins_;
  bool use_values_;
  Inputs in_;
  std::vector<T> key_, value_;
  SumsPerHead<T> key_gradient_, value_gradient_;
};
}  // namespace

struct Shaw {
  int max_rel = 16;
  bool use_values = true;

  static constexpr char const* summary = "a trained vector per clipped offset joins the key and the value";
  static constexpr char const* formula =
      "logit(i, j) = s q_i . (k_j + aK[n]), out_i += sum_j a_ij aV[n], n = clip(p_j - p_i, -K, K)";
  static constexpr bool relative = true;
  static constexpr bool reads_plain = true;  // a turn before would break that law

  static auto schema() {
    return Schema<Shaw>{}
        .option("max_rel", &Shaw::max_rel, "offsets further than this share the vector of this one", between(0, 65536),
                Unit{"tokens"})
        .option("use_values", &Shaw::use_values, "a second set of vectors joins the values");
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::vector<ParameterInfo> out{table("rel_k", shape.head_dim)};
    if (use_values) out.push_back(table("rel_v", shape.value_dim > 0 ? shape.value_dim : shape.head_dim));
    return out;
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const&) const {
    return std::make_unique<ShawRows<T>>(max_rel, use_values);
  }

 private:
  /// Glorot-uniform.
  ParameterInfo table(char const* name, int width) const {
    std::size_t const bins = 2 * static_cast<std::size_t>(max_rel) + 1, columns = width;
    double const bound = std::sqrt(6.0 / static_cast<double>(bins + columns));
    auto const init = [bound](Stream const& stream, std::size_t i) { return bound * (2 * stream.uniform(i) - 1); };
    return {.name = name, .shape = {bins, columns}, .init = init, .per_layer = true, .per_head = false};
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Shaw, "shaw", "arXiv:1803.02155")
