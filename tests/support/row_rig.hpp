// Attention around one row term, in strips made by hand and plain loops. What lies past a strip's keys and in its notes
// starts as NaN, so a term that reads what it was not given is found out.
#pragma once
#include "support/plugin.hpp"

#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace sextant::test {

struct RowSetting {
  std::string encoding;
  Options options = {};
  int batch = 2, heads = 4, kv_heads = 2, length = 9, dim = 6, value_dim = 3;
  int queries = 0;     ///< the last so many; 0: all
  int strip_rows = 4;  ///< divides nothing
  bool causal = true;
  std::vector<std::vector<double>> positions = {};  ///< [batch or 1][length]; empty: 0, 1, 2, ...
  std::vector<std::vector<int>> documents = {};     ///< [batch][length]; negative: padding; empty: one a row
  double scale = 0;                                 ///< 0: 1 / sqrt(dim)
};

/// Row-major [.., .., .., ..].
struct Array4 {
  int extent[4];
  std::vector<double> value;
  Array4(int a, int b, int c, int d, double fill = 0)
      : extent{a, b, c, d}, value(static_cast<std::size_t>(a) * b * c * d, fill) {}
  std::size_t index(int a, int b, int c, int d) const {
    return ((static_cast<std::size_t>(a) * extent[1] + b) * extent[2] + c) * extent[3] + d;
  }
  double& operator()(int a, int b, int c, int d) { return value[index(a, b, c, d)]; }
  double operator()(int a, int b, int c, int d) const { return value[index(a, b, c, d)]; }
  /// Rows [first, first + count) of the third axis.
  Array4 rows(int first, int count) const {
    Array4 out(extent[0], extent[1], count, extent[3]);
    for (int a = 0; a < extent[0]; ++a)
      for (int b = 0; b < extent[1]; ++b)
        for (int c = 0; c < count; ++c)
          for (int d = 0; d < extent[3]; ++d) out(a, b, c, d) = (*this)(a, b, first + c, d);
    return out;
  }
};

template <class T = double>
class RowRig {
 public:
  explicit RowRig(RowSetting given)
      : setting(std::move(given)),
        queries(setting.queries > 0 ? setting.queries : setting.length),
        shape{.heads = setting.heads,
              .kv_heads = setting.kv_heads,
              .head_dim = setting.dim,
              .value_dim = setting.value_dim,
              .model_dim = setting.heads * setting.dim},
        q(normal("q", setting.heads, setting.length, setting.dim).rows(setting.length - queries, queries)),
        k(normal("k", setting.kv_heads, setting.length, setting.dim)),
        v(normal("v", setting.kv_heads, setting.length, setting.value_dim)),
        encoding(encoding_of(setting.encoding, setting.options)) {
    if (setting.scale == 0) setting.scale = 1 / std::sqrt(setting.dim);
    encoding->check(shape);
    for (auto const& info : encoding->tensors(shape)) {
      names.push_back(info.name);
      auto& tensor = tensors.emplace_back();
      Stream const start(5, info.name), more(6, info.name);
      for (std::size_t i = 0; i < info.size(); ++i) tensor.push_back(info.init(start, i) + 0.3 * more.normal(i));
    }
    if constexpr (std::is_same_v<T, float>)
      term = encoding->rows_float(shape);
    else
      term = encoding->rows_double(shape);
  }

  RowSetting setting;
  int queries;
  encoding::Shape shape;
  Array4 q, k, v;  ///< [batch, heads or kv_heads, queries or length, channels]
  encoding::Tensors tensors;
  std::vector<std::string> names;
  std::shared_ptr<encoding::Encoding const> encoding;
  std::unique_ptr<encoding::RowTerm<T>> term;

  std::vector<double>& tensor(std::string const& name) {
    for (std::size_t n = 0; n < names.size(); ++n)
      if (names[n] == name) return tensors[n];
    fail(setting.encoding, " has no tensor ", name);
  }
  int own(int i) const { return i + setting.length - queries; }
  int kv_head(int h) const { return h / (setting.heads / setting.kv_heads); }
  double position(int b, int j) const {
    if (setting.positions.empty()) return j;
    return setting.positions[setting.positions.size() > 1 ? b : 0][j];
  }
  /// Of query i and key j, in tokens.
  double distance(int b, int i, int j) const { return position(b, own(i)) - position(b, j); }
  bool visible(int b, int i, int j) const {
    if (setting.causal && j > own(i)) return false;
    if (setting.documents.empty()) return true;
    int const mine = setting.documents[b][own(i)];
    return mine >= 0 && mine == setting.documents[b][j];
  }
  double product(int b, int h, int i, int j) const {
    double sum = 0;
    for (int c = 0; c < setting.dim; ++c) sum += q(b, h, i, c) * k(b, kv_head(h), j, c);
    return sum;
  }

  struct Outcome {
    Array4 logits;   ///< [batch, heads, queries, length], 0 where hidden
    Array4 weights;  ///< after the softmax
    Array4 out;      ///< [batch, heads, queries, value_dim]
  };
  using PairFormula = std::function<double(int b, int h, int i, int j)>;
  using ValueFormula = std::function<double(int b, int i, int j, int c)>;
  /// The same from formulas of a logit and of what joins value channel c, in plain loops.
  Outcome plain(PairFormula const& logit, ValueFormula const& more_value = {}) const {
    Outcome out = empty();
    for_rows([&](int b, int h, int i) {
      double most = -std::numeric_limits<double>::infinity(), sum = 0;
      for (int j = 0; j < setting.length; ++j)
        if (visible(b, i, j)) most = std::max(most, out.logits(b, h, i, j) = logit(b, h, i, j));
      for (int j = 0; j < setting.length; ++j)
        if (visible(b, i, j)) sum += out.weights(b, h, i, j) = std::exp(out.logits(b, h, i, j) - most);
      for (int j = 0; j < setting.length; ++j) {
        if (!visible(b, i, j)) continue;
        double const w = out.weights(b, h, i, j) /= sum;
        for (int c = 0; c < setting.value_dim; ++c)
          out.out(b, h, i, c) += w * (v(b, kv_head(h), j, c) + (more_value ? more_value(b, i, j, c) : 0.0));
      }
    });
    return out;
  }

  Outcome attend() {
    prepare(false);
    Outcome out = empty();
    for_strips([&](Strips& at) {
      logits(at);
      for (auto& s : at.strips) {
        copy(s, out.logits);
        softmax(s);
        copy(s, out.weights);
        std::vector<T> o = mix(s);
        for (int r = 0; r < s.rows; ++r)
          for (int c = 0; c < setting.value_dim; ++c)
            out.out(s.batch, s.head, s.row + r, c) = o[r * setting.value_dim + c];
      }
    });
    return out;
  }

  /// Rows [0, size), [size, 2 size), ..., each against the keys up to its last: what a cache does.
  Array4 attend_in_chunks(int size) const {
    Array4 out = empty().out;
    for (int first = 0; first < setting.length; first += size) {
      int const count = std::min(size, setting.length - first);
      RowSetting part = setting;
      part.length = first + count, part.queries = count;
      for (auto& row : part.positions) row.resize(part.length);
      for (auto& row : part.documents) row.resize(part.length);
      RowRig<T> rig(part);
      rig.q = q.rows(first, count), rig.k = k.rows(0, part.length), rig.v = v.rows(0, part.length);
      rig.tensors = tensors;
      Array4 const some = rig.attend().out;
      for_rows([&](int b, int h, int i) {
        for (int c = 0; c < setting.value_dim && i < count; ++c) out(b, h, first + i, c) = some(b, h, i, c);
      });
    }
    return out;
  }

  /// A scalar that everything moves: fixed random weights times the output.
  double loss() {
    Array4 const out = attend().out, w = loss_weights();
    return std::inner_product(out.value.begin(), out.value.end(), w.value.begin(), 0.0);
  }
  struct Slopes {
    Array4 q, k, v;
    encoding::Tensors tensors;
  };
  Slopes analytic() {
    prepare(true);
    Slopes slopes{q, k, v, tensors};
    for (auto* a : {&slopes.q, &slopes.k, &slopes.v}) std::fill(a->value.begin(), a->value.end(), 0.0);
    for (auto& t : slopes.tensors) std::fill(t.begin(), t.end(), 0.0);
    for_strips([&](Strips& at) { backward(at, slopes); });
    term->finish(slopes.tensors);
    return slopes;
  }
  /// Central differences of loss().
  Slopes numeric(double step = 1e-5) {
    Slopes slopes{q, k, v, tensors};
    auto const differentiate = [&](std::vector<double>& at, std::vector<double>& into) {
      for (std::size_t n = 0; n < at.size(); ++n) {
        double const kept = at[n];
        at[n] = kept + step;
        double const more = loss();
        at[n] = kept - step;
        into[n] = (more - loss()) / (2 * step);
        at[n] = kept;
      }
    };
    differentiate(q.value, slopes.q.value);
    differentiate(k.value, slopes.k.value);
    differentiate(v.value, slopes.v.value);
    for (std::size_t n = 0; n < tensors.size(); ++n) differentiate(tensors[n], slopes.tensors[n]);
    return slopes;
  }

  void prepare(bool gradient) {
    typename encoding::RowTerm<T>::Inputs in;
    in.batch = setting.batch, in.query_len = queries, in.key_len = setting.length;
    in.heads = setting.heads, in.head_dim = setting.dim, in.first_head = {0, setting.heads};
    in.scale = setting.scale;
    in.tensors = tensors;
    in.want_gradient = gradient;
    in.least_offset = std::numeric_limits<double>::infinity(), in.most_offset = -in.least_offset;
    for (int b = 0; b < setting.batch; ++b)
      for (int j = 0; j < setting.length; ++j) {
        in.whole_positions = in.whole_positions && position(b, j) == std::floor(position(b, j));
        for (int i = 0; i < queries; ++i) {
          in.least_offset = std::min(in.least_offset, distance(b, i, j));
          in.most_offset = std::max(in.most_offset, distance(b, i, j));
        }
      }
    term->prepare(Exec(), in);
  }

 private:
  using Strip = kernels::Strip<T>;
  /// Strips of all heads of a batch row, with the memory they show.
  struct Strips {
    std::vector<Strip> strips;
    std::vector<kernels::Operands<T>> operands;
    std::vector<std::vector<T>> logit, notes, query, key;
    std::vector<double> query_position, key_position;
  };

  Array4 normal(std::string const& name, int heads, int length, int width) const {
    Array4 out(setting.batch, heads, length, width);
    Stream const stream(3, name);
    for (std::size_t i = 0; i < out.value.size(); ++i) out.value[i] = stream.normal(i);
    return out;
  }
  Array4 loss_weights() const { return normal("loss", setting.heads, queries, setting.value_dim); }
  Outcome empty() const {
    return {Array4(setting.batch, setting.heads, queries, setting.length),
            Array4(setting.batch, setting.heads, queries, setting.length),
            Array4(setting.batch, setting.heads, queries, setting.value_dim)};
  }
  template <class F>
  void for_rows(F&& f) const {
    for (int b = 0; b < setting.batch; ++b)
      for (int h = 0; h < setting.heads; ++h)
        for (int i = 0; i < queries; ++i) f(b, h, i);
  }
  template <class F>
  void for_strips(F&& f) const {
    for (int b = 0; b < setting.batch; ++b)
      for (int row = 0; row < queries; row += setting.strip_rows) {
        int const rows = std::min(setting.strip_rows, queries - row);
        int cols = 0;
        for (int i = row; i < row + rows; ++i)
          for (int j = cols; j < setting.length; ++j)
            if (visible(b, i, j)) cols = j + 1;
        if (cols == 0) continue;
        Strips at;
        open(at, b, row, rows, cols);
        f(at);
      }
  }
  void open(Strips& at, int b, int row, int rows, int cols) const {
    T const nan = std::numeric_limits<T>::quiet_NaN();
    int const stride = cols + 5, heads = setting.heads;
    std::size_t const size = static_cast<std::size_t>(rows) * stride;
    for (int i = row; i < row + rows; ++i) at.query_position.push_back(position(b, own(i)));
    for (int j = 0; j < cols; ++j) at.key_position.push_back(position(b, j));
    for (int h = 0; h < heads; ++h) {
      at.logit.emplace_back(size, nan);
      at.notes.emplace_back(size * term->notes(), nan);
      auto& query = at.query.emplace_back();
      auto& key = at.key.emplace_back();
      for (int i = row; i < row + rows; ++i)
        for (int c = 0; c < setting.dim; ++c) query.push_back(static_cast<T>(q(b, h, i, c)));
      for (int j = 0; j < cols; ++j)
        for (int c = 0; c < setting.dim; ++c) key.push_back(static_cast<T>(k(b, kv_head(h), j, c)));
    }
    for (int h = 0; h < heads; ++h) {
      at.strips.push_back({b, h, row, rows, cols, at.logit[h].data(), stride, at.query_position.data(),
                           at.key_position.data(), at.notes[h].data(), static_cast<std::ptrdiff_t>(size)});
      at.operands.push_back(
          {at.query[h].data(), at.key[h].data(), setting.dim, setting.dim, setting.dim, static_cast<T>(setting.scale)});
    }
  }
  /// Products, -infinity where hidden, then the term.
  void logits(Strips& at) const {
    for (std::size_t h = 0; h < at.strips.size(); ++h) {
      auto& s = at.strips[h];
      auto const& x = at.operands[h];
      for (int r = 0; r < s.rows; ++r)
        for (int j = 0; j < s.cols; ++j) {
          T sum = 0;
          for (int c = 0; c < x.dim; ++c) sum += x.query[r * x.query_stride + c] * x.key[j * x.key_stride + c];
          s.logit[r * s.stride + j] =
              visible(s.batch, s.row + r, j) ? x.scale * sum : -std::numeric_limits<T>::infinity();
        }
    }
    if (term->across_heads())
      term->forward_heads(at.strips, at.operands);
    else
      for (std::size_t h = 0; h < at.strips.size(); ++h) term->forward(at.strips[h], at.operands[h]);
    for (auto const& s : at.strips)
      for (int r = 0; r < s.rows; ++r)
        for (int j = 0; j < s.cols; ++j) {
          T const l = s.logit[r * s.stride + j];
          bool const hidden = l == -std::numeric_limits<T>::infinity();
          expect(hidden != visible(s.batch, s.row + r, j), "a pair that is ", hidden ? "visible" : "hidden", " became ",
                 l);
        }
  }
  static void softmax(Strip const& s) {
    for (int r = 0; r < s.rows; ++r) {
      T* const row = s.logit + r * s.stride;
      T const most = *std::max_element(row, row + s.cols);
      T sum = 0;
      for (int j = 0; j < s.cols; ++j) sum += row[j] = std::isinf(row[j]) ? T(0) : std::exp(row[j] - most);
      for (int j = 0; j < s.cols && sum > 0; ++j) row[j] /= sum;
    }
  }
  void copy(Strip const& s, Array4& to) const {
    for (int r = 0; r < s.rows; ++r)
      for (int j = 0; j < s.cols; ++j)
        if (visible(s.batch, s.row + r, j)) to(s.batch, s.head, s.row + r, j) = s.logit[r * s.stride + j];
  }
  std::vector<T> mix(Strip const& s) const {
    int const width = setting.value_dim;
    std::vector<T> out(static_cast<std::size_t>(s.rows) * width);
    for (int r = 0; r < s.rows; ++r)
      for (int j = 0; j < s.cols; ++j)
        for (int c = 0; c < width; ++c)
          if (visible(s.batch, s.row + r, j))
            out[r * width + c] += s.logit[r * s.stride + j] * static_cast<T>(v(s.batch, kv_head(s.head), j, c));
    if (term->adds_to_values()) term->values(s, out.data(), width, width);
    return out;
  }

  void backward(Strips& at, Slopes& slopes) {
    Array4 const w = loss_weights();
    int const width = setting.value_dim, dim = setting.dim;
    std::vector<std::vector<T>> grads, dq, dk;
    std::vector<T*> grad;
    std::vector<kernels::OperandGradients<T>> out;
    logits(at);
    for (auto& s : at.strips) {
      softmax(s);
      std::vector<T> go;
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < width; ++c) go.push_back(static_cast<T>(w(s.batch, s.head, s.row + r, c)));
      auto& g = grads.emplace_back(s.rows * s.stride, T(0));
      if (term->adds_to_values()) term->values_backward(s, go.data(), width, width, g.data());
      for (int r = 0; r < s.rows; ++r) {
        T mean = 0;
        for (int j = 0; j < s.cols; ++j) {
          T const p = s.logit[r * s.stride + j];
          for (int c = 0; c < width && p != 0; ++c) {
            g[r * s.stride + j] += go[r * width + c] * static_cast<T>(v(s.batch, kv_head(s.head), j, c));
            slopes.v(s.batch, kv_head(s.head), j, c) += p * go[r * width + c];
          }
          if (p != 0) mean += p * g[r * s.stride + j];
        }
        for (int j = 0; j < s.cols; ++j) {
          T const p = s.logit[r * s.stride + j];
          g[r * s.stride + j] = p != 0 ? p * (g[r * s.stride + j] - mean) : T(0);
        }
      }
      std::fill_n(s.logit, s.rows * s.stride, std::numeric_limits<T>::quiet_NaN());
      dq.emplace_back(s.rows * dim, T(0)), dk.emplace_back(s.cols * dim, T(0));
    }
    for (std::size_t h = 0; h < at.strips.size(); ++h) {
      grad.push_back(grads[h].data());
      out.push_back({dq[h].data(), dk[h].data(), dim, dim});
    }
    if (term->across_heads())
      term->backward_heads(at.strips, at.operands, grad, out);
    else
      for (std::size_t h = 0; h < at.strips.size(); ++h) term->backward(at.strips[h], at.operands[h], grad[h], out[h]);
    for (std::size_t h = 0; h < at.strips.size(); ++h) {
      auto const& s = at.strips[h];
      auto const& x = at.operands[h];
      for (int r = 0; r < s.rows; ++r)
        for (int j = 0; j < s.cols; ++j) {
          T const g = grad[h][r * s.stride + j];
          expect(visible(s.batch, s.row + r, j) || g == 0, "a hidden pair has gradient ", g);
          for (int c = 0; c < dim && g != 0; ++c) {
            slopes.q(s.batch, s.head, s.row + r, c) += g * x.scale * x.key[j * x.key_stride + c];
            slopes.k(s.batch, kv_head(s.head), j, c) += g * x.scale * x.query[r * x.query_stride + c];
          }
        }
      for (int r = 0; r < s.rows; ++r)
        for (int c = 0; c < dim; ++c) slopes.q(s.batch, s.head, s.row + r, c) += dq[h][r * dim + c];
      for (int j = 0; j < s.cols; ++j)
        for (int c = 0; c < dim; ++c) slopes.k(s.batch, kv_head(s.head), j, c) += dk[h][j * dim + c];
    }
  }
};

}  // namespace sextant::test
