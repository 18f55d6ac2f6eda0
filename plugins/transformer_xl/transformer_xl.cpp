// Transformer-XL's relative positions: a projected sinusoid of the distance beside the key, and two trained vectors that
// stand in for the query's own position.
//
//   logit(h, i, j) = s [ (q_i + u_h) . k_j + (q_i + v_h) . (W_h r(d)) ],  d = p_i - p_j
//   r(d) = [sin(d t_0), ..., cos(d t_0), ...] of rel_dim entries,  t_f = base^(-2f/rel_dim)
//
// Source: Dai et al., "Transformer-XL", arXiv:1901.02860, section 3.3. Distances are read off positions, so the trick of
// shifting a square of logits is not needed. W r(d) is formed once per head and distance that some visible pair has, in
// blocks of neighbouring distances; a strip multiplies its rows with the blocks it meets and adds them in shifted. Few
// rows against many keys, as in decoding, turn it round: (W^T (q + v)) . r(d), and no table.
#include <sextant/encoding/row_tools.hpp>
#include <sextant/kernels/small_matmul.hpp>
#include <sextant/plugin.hpp>

#include <memory>
#include <mutex>

namespace sextant::plugins {
namespace {

/// Offsets key - query that share a block of the tables.
constexpr int block = 64;
constexpr double most_span = 1 << 28;

/// Offsets of whole blocks: first = block * n.
inline std::int64_t block_of(std::int64_t offset) {
  return offset >= 0 ? offset / block : -((block - 1 - offset) / block);
}

/// Numbers of one block of offsets for each of several rows, formed by whoever asks first.
template <class T>
class LazyBlocks {
 public:
  void clear() { blocks_.clear(), first_ = 0, count_ = 0; }
  /// Makes room for blocks [first, last] of each of `rows` rows, keeping what is there.
  void cover(std::int64_t first, std::int64_t last, int rows) {
    if (count_ > 0) first = std::min(first, first_), last = std::max(last, first_ + count_ - 1);
    std::int64_t const count = last - first + 1;
    if (count == count_) return;
    std::vector<std::unique_ptr<Block>> wider(static_cast<std::size_t>(rows * count));
    for (std::size_t n = 0; n < blocks_.size(); ++n) {
      std::int64_t const row = static_cast<std::int64_t>(n) / count_, at = static_cast<std::int64_t>(n) % count_;
      wider[static_cast<std::size_t>(row * count + at + first_ - first)] = std::move(blocks_[n]);
    }
    for (auto& empty : wider)
      if (!empty) empty = std::make_unique<Block>();
    blocks_ = std::move(wider), first_ = first, count_ = count;
  }
  std::int64_t first() const { return first_; }
  std::int64_t count() const { return count_; }
  template <class Fill>
  T const* at(int row, std::int64_t n, std::size_t size, Fill const& fill) const {
    Block& found = *blocks_[static_cast<std::size_t>(row * count_ + n - first_)];
    std::call_once(found.once, [&] {
      found.value.resize(size);
      fill(found.value.data());
    });
    return found.value.data();
  }

 private:
  struct Block {
    std::once_flag once;
    std::vector<T> value;
  };
  std::int64_t first_ = 0, count_ = 0;
  std::vector<std::unique_ptr<Block>> blocks_;
};

template <class T>
class TransformerXlRows final : public RowTerm<T> {
 public:
  using Inputs = typename RowTerm<T>::Inputs;
  using Strip = kernels::Strip<T>;
  using Operands = kernels::Operands<T>;

  TransformerXlRows(double base, int rel_dim) : rel_dim_(rel_dim) {
    for (int f = 0; f < rel_dim / 2; ++f) inv_freq_.push_back(std::pow(base, -2.0 * f / rel_dim));
  }

  void prepare(Exec const&, Inputs const& in) override {
    expect(in.whole_positions,
           "transformer_xl: positions have fractions, and its sinusoids are tabulated by whole "
           "distances; expected whole positions");
    expect(in.most_offset - in.least_offset < most_span, "transformer_xl: offsets run from ", in.least_offset, " to ",
           in.most_offset, ", expected a range below ", most_span);
    if (in.tensors != in_.tensors) {
      auto tensors = narrowed<T>(in.tensors);
      weight_ = std::move(tensors.at(0)), u_ = std::move(tensors.at(1)), v_ = std::move(tensors.at(2));
      table_.clear();
    }
    in_ = in;
    few_rows_ = in.query_len <= in.head_dim / 4 && !in.want_gradient;
    std::int64_t const first = block_of(static_cast<std::int64_t>(-in.most_offset));
    std::int64_t const last = block_of(static_cast<std::int64_t>(-in.least_offset));
    features_.cover(first, last, 1);
    table_.cover(first, last, in.heads);
    if (!in.want_gradient) return;
    std::size_t const heads = static_cast<std::size_t>(in.batch) * in.heads;
    table_gradient_.assign(heads * static_cast<std::size_t>(table_.count()), {});
    u_gradient_.reset(in.batch, in.heads, in.head_dim);
    v_gradient_.reset(in.batch, in.heads, in.head_dim);
  }

  void forward(Strip const& strip, Operands const& x) const override {
    if (!in_.covers(strip.head)) return;
    int const h = strip.head - in_.head_begin, dim = x.dim;
    Band const band = band_of(strip, strip.logit, [](T l) { return l != -std::numeric_limits<T>::infinity(); });
    if (band.blocks == 0) return;
    T* const query = scratch<T, 0>(static_cast<std::size_t>(strip.rows) * dim);
    for (int r = 0; r < strip.rows; ++r)
      for (int c = 0; c < dim; ++c) query[r * dim + c] = x.query[r * x.query_stride + c] + v_[h * dim + c];
    T const* const place = place_terms(h, query, strip.rows, x.scale, band);
    T* const content = scratch<T, 1>(strip.cols);
    kernels::small_nt(u_.data() + h * dim, dim, 1, x.key, x.key_stride, strip.cols, dim, x.scale, content, strip.cols);
    for_cells(strip, band, [&](int r, int begin, int end, std::size_t at) {
      T* const logit = strip.logit + r * strip.stride;
      T const* const more = place + at;
      for (int j = begin; j < end; ++j) logit[j] = unless_hidden(logit[j], more[j - begin] + content[j]);
    });
  }

  void backward(Strip const& strip, Operands const& x, T* grad, kernels::OperandGradients<T> const& out) override {
    if (!in_.covers(strip.head)) return;
    int const h = strip.head - in_.head_begin, dim = x.dim;
    content_backward(strip, x, grad, out);
    Band const band = band_of(strip, grad, [](T g) { return g != 0; });
    if (band.blocks == 0) return;
    T const* const query = rows_with_gradient<T, 0>(x.query, x.query_stride, strip.rows, dim, grad, strip.stride,
                                                    strip.cols, v_.data() + h * dim);
    std::size_t const width = band.width(), cells = strip.rows * width;
    T* const place = scratch<T, 2>(cells);
    std::fill_n(place, cells, T(0));
    for_cells(strip, band, [&](int r, int begin, int end, std::size_t at) {
      T const* const g = grad + r * strip.stride;
      for (int j = begin; j < end; ++j) place[at + j - begin] += g[j];
    });
    T* const into = scratch<T, 1>(static_cast<std::size_t>(strip.rows) * dim);
    for (int n = 0; n < band.blocks; ++n) {
      T const* const of = place + static_cast<std::size_t>(n) * block;
      kernels::small_nt(of, width, strip.rows, table(h, band.first + n), block, dim, block, x.scale, into, dim, n > 0);
      kernels::small_tn(query, dim, dim, of, width, block, strip.rows, x.scale,
                        table_gradient(strip.batch, h, band.first + n), block, true);
    }
    T* const v_gradient = v_gradient_.at(strip.batch, h);
    for (int r = 0; r < strip.rows; ++r)
      for (int c = 0; c < dim; ++c) {
        out.query[r * out.query_stride + c] += into[r * dim + c];
        v_gradient[c] += into[r * dim + c];
      }
  }

  void finish(Tensors& gradient) override {
    u_gradient_.add_to(gradient.at(1), true);
    v_gradient_.add_to(gradient.at(2), true);
    std::size_t const size = static_cast<std::size_t>(in_.head_dim) * rel_dim_;
    Kokkos::parallel_for("sextant::transformer_xl", Kokkos::RangePolicy<HostExec>(0, in_.heads), [&](int h) {
      std::vector<T> sum(size), one(static_cast<std::size_t>(in_.head_dim) * block);
      for (std::int64_t n = table_.first(); n < table_.first() + table_.count(); ++n)
        if (sum_over_batch(h, n, one))
          kernels::small_nt(one.data(), block, in_.head_dim, features(n), block, rel_dim_, block, T(1), sum.data(),
                            rel_dim_, true);
      for (std::size_t i = 0; i < size; ++i) gradient[0][h * size + i] += static_cast<double>(sum[i]);
    });
  }

 private:
  /// Blocks of offsets that the visible pairs of a strip have, and the visible stretch of each row.
  struct Band {
    std::int64_t first = 0;
    int blocks = 0;
    struct Stretch {
      int begin, end;
    };
    std::vector<Stretch> const* rows = nullptr;
    std::size_t width() const { return static_cast<std::size_t>(blocks) * block; }
  };
  template <class Seen>
  Band band_of(Strip const& strip, T const* numbers, Seen const& seen) const {
    thread_local std::vector<typename Band::Stretch> rows;
    rows.clear();
    std::int64_t least = 0, most = -1;
    auto const& runs = position_runs(strip.key_position, strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      T const* const row = numbers + r * strip.stride;
      int begin = 0, end = strip.cols;
      while (end > begin && !seen(row[end - 1])) --end;
      while (begin < end && !seen(row[begin])) ++begin;
      rows.push_back({begin, end});
      for (auto const& run : runs) {
        int const from = std::max(begin, run.begin), to = std::min(end, run.end);
        if (from >= to) continue;
        std::int64_t const offset = run.first + from - run.begin - static_cast<std::int64_t>(strip.query_position[r]);
        bool const none = most < least;
        least = none ? offset : std::min(least, offset);
        most = none ? offset + to - from - 1 : std::max(most, offset + to - from - 1);
      }
    }
    if (most < least) return {};
    std::int64_t const first = block_of(least);
    return {first, static_cast<int>(block_of(most) - first + 1), &rows};
  }
  /// f(row, begin, end, at): keys [begin, end) meet neighbouring offsets from element `at` of [rows, band.width()] on.
  template <class F>
  void for_cells(Strip const& strip, Band const& band, F&& f) const {
    auto const& runs = position_runs(strip.key_position, strip.cols);
    for (int r = 0; r < strip.rows; ++r) {
      auto const [begin, end] = (*band.rows)[r];
      std::int64_t const query = static_cast<std::int64_t>(strip.query_position[r]);
      for (auto const& run : runs) {
        int const from = std::max(begin, run.begin), to = std::min(end, run.end);
        if (from < to) f(r, from, to, r * band.width() + (run.first + from - run.begin - query - band.first * block));
      }
    }
  }

  /// s (q + v) . W r(d) of `rows` rows with every offset of the band.
  T const* place_terms(int h, T const* query, int rows, T scale, Band const& band) const {
    std::size_t const width = band.width();
    T* const place = scratch<T, 2>(rows * width);
    if (!few_rows_) {
      for (int n = 0; n < band.blocks; ++n)
        kernels::small_nn(query, in_.head_dim, rows, table(h, band.first + n), block, block, in_.head_dim, scale,
                          place + static_cast<std::size_t>(n) * block, width);
      return place;
    }
    T* const turned = scratch<T, 3>(static_cast<std::size_t>(rows) * rel_dim_);
    kernels::small_nn(query, in_.head_dim, rows, weight(h), rel_dim_, rel_dim_, in_.head_dim, scale, turned, rel_dim_);
    for (int n = 0; n < band.blocks; ++n)
      kernels::small_nn(turned, rel_dim_, rows, features(band.first + n), block, block, rel_dim_, T(1),
                        place + static_cast<std::size_t>(n) * block, width);
    return place;
  }
  void content_backward(Strip const& strip, Operands const& x, T const* grad, kernels::OperandGradients<T> const& out) {
    int const h = strip.head - in_.head_begin, dim = x.dim;
    T* const column = scratch<T, 3>(strip.cols);
    std::fill_n(column, strip.cols, T(0));
    for (int r = 0; r < strip.rows; ++r)
      for (int j = 0; j < strip.cols; ++j) column[j] += grad[r * strip.stride + j];
    T const* const u = u_.data() + h * dim;
    T* const u_gradient = u_gradient_.at(strip.batch, h);
    for (int j = 0; j < strip.cols; ++j) {
      if (column[j] == 0) continue;  // hidden keys may hold anything
      T const g = x.scale * column[j];
      T const* const key = x.key + j * x.key_stride;
      T* const into = out.key + j * out.key_stride;
      for (int c = 0; c < dim; ++c) {
        into[c] += g * u[c];
        u_gradient[c] += g * key[c];
      }
    }
  }

  T const* weight(int h) const { return weight_.data() + static_cast<std::size_t>(h) * in_.head_dim * rel_dim_; }
  /// r(-offset) for the offsets of block n, [rel_dim, block].
  T const* features(std::int64_t n) const {
    return features_.at(0, n, static_cast<std::size_t>(rel_dim_) * block, [&](T* out) {
      int const pairs = rel_dim_ / 2;
      for (int f = 0; f < pairs; ++f)
        for (int e = 0; e < block; ++e) {
          double const angle = -static_cast<double>(n * block + e) * inv_freq_[f];
          out[f * block + e] = static_cast<T>(std::sin(angle));
          out[(pairs + f) * block + e] = static_cast<T>(std::cos(angle));
        }
    });
  }
  /// W_h r(-offset) for the offsets of block n, [head_dim, block].
  T const* table(int h, std::int64_t n) const {
    return table_.at(h, n, static_cast<std::size_t>(in_.head_dim) * block, [&](T* out) {
      kernels::small_nn(weight(h), rel_dim_, in_.head_dim, features(n), block, block, rel_dim_, T(1), out, block);
    });
  }
  std::vector<T>& gradient_block(int b, int h, std::int64_t n) {
    std::size_t const head = static_cast<std::size_t>(b) * in_.heads + h;
    return table_gradient_[head * static_cast<std::size_t>(table_.count()) +
                           static_cast<std::size_t>(n - table_.first())];
  }
  T* table_gradient(int b, int h, std::int64_t n) {
    auto& found = gradient_block(b, h, n);
    if (found.empty()) found.resize(static_cast<std::size_t>(in_.head_dim) * block);
    return found.data();
  }
  /// False where no strip met the block.
  bool sum_over_batch(int h, std::int64_t n, std::vector<T>& sum) {
    bool any = false;
    std::fill(sum.begin(), sum.end(), T(0));
    for (int b = 0; b < in_.batch; ++b) {
      auto const& part = gradient_block(b, h, n);
      any = any || !part.empty();
      for (std::size_t i = 0; i < part.size(); ++i) sum[i] += part[i];
    }
    return any;
  }

  int rel_dim_;
  std::vector<double> inv_freq_;
  Inputs in_;
  bool few_rows_ = false;
  std::vector<T> weight_, u_, v_;
  LazyBlocks<T> features_, table_;
  std::vector<std::vector<T>> table_gradient_;  // [batch, heads, blocks]
  SumsPerHead<T> u_gradient_, v_gradient_;
};
}  // namespace

struct TransformerXl {
  double base = 10000;
  std::optional<int> rel_dim;
  bool untie = false;

  static constexpr char const* summary = "a projected sinusoid of the distance beside the key, and two trained vectors";
  static constexpr char const* formula = "logit(i, j) = s [(q_i + u_h) . k_j + (q_i + v_h) . W_h r(p_i - p_j)]";
  static constexpr bool relative = true;
  static constexpr bool reads_plain = true;  // a turn before would break that law

  static auto schema() {
    return Schema<TransformerXl>{}
        .option("base", &TransformerXl::base, "theta of the sinusoids' ladder", above(1))
        .option("rel_dim", &TransformerXl::rel_dim, "entries of the sinusoid, an even number", between(2, 65536),
                MayBeAuto{"the width of the model"})
        .option("untie", &TransformerXl::untie, "every layer has vectors u and v of its own");
  }
  void check(Shape const& shape) const {
    expect(width(shape) % 2 == 0, "transformer_xl.rel_dim is ", width(shape), ", expected an even number");
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    std::size_t const heads = shape.heads, dim = shape.head_dim, entries = width(shape);
    auto const normal = [](Stream const& stream, std::size_t i) { return 0.02 * stream.normal(i); };
    return {{.name = "w_r", .shape = {heads, dim, entries}, .init = normal},
            {.name = "u", .shape = {heads, dim}, .init = normal, .per_layer = untie},
            {.name = "v_bias", .shape = {heads, dim}, .init = normal, .per_layer = untie}};
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const& shape) const {
    return std::make_unique<TransformerXlRows<T>>(base, width(shape));
  }

 private:
  int width(Shape const& shape) const { return rel_dim ? *rel_dim : shape.model_dim; }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::TransformerXl, "transformer_xl", "arXiv:1901.02860")
