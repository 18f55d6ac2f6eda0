// An encoding and a scaling as the framework sees them, type-erased. Plugins are adapted to these in adapter.hpp.
#pragma once
#include <sextant/base/kokkos.hpp>
#include <sextant/base/philox.hpp>
#include <sextant/encoding/formula.hpp>
#include <sextant/encoding/registry.hpp>
#include <sextant/kernels/strip.hpp>
#include <sextant/kernels/tile.hpp>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace sextant::encoding {

/// A trainable tensor that an encoding owns; `init` gives element i (row-major).
struct ParameterInfo {
  std::string name;
  std::vector<std::size_t> shape;
  std::function<double(Stream const&, std::size_t i)> init;
  bool per_layer = true;  ///< one per layer; otherwise one per model
  bool per_head = true;   ///< the first axis counts heads
  std::size_t size() const {
    std::size_t n = 1;
    for (std::size_t extent : shape) n *= extent;
    return n;
  }
};

/// Which stages an encoding joins.
struct Stages {
  bool embed = false;        ///< adds rows to the token embedding
  bool rotate = false;       ///< turns query and key
  bool bias = false;         ///< adds to the scaled logit
  bool transform = false;    ///< maps query and key, token by token, by more than turns of pairs
  bool rows = false;         ///< works on whole rows of logits
  bool scale_query = false;  ///< multiplies query rows by a factor of their position
  bool multiplies = false;   ///< rows: forms the logits of its heads by a product of its own
  bool reads_plain = false;  ///< rows: its terms take query and key as they are before any turn
  bool stretches = false;    ///< bias, rows: Inputs::stretch is heeded
  int branches = 0;          ///< > 0: the angle of a pair depends on which of several branches it takes
  int axes = 1;              ///< coordinates that it reads of a position
  std::vector<GateSpec> gates;
  std::vector<FeatureSpec> features;
};

/// A gate's values for a run of tokens: at(b, h, i) for heads and tokens of the run.
struct GateRows {
  double* data = nullptr;
  std::size_t batch_stride = 0, head_stride = 0;
  double* row(int b, int h) const { return data + b * batch_stride + h * head_stride; }
};

/// Adds a plugin's bias to tiles of one layer. One per layer and direction; see tile.hpp for the calling rules.
template <class T>
class Bias : public kernels::TileModifier<T> {
 public:
  struct Inputs {
    double least_offset = 0, most_offset = 0;  ///< of query position - key position, in tokens, over the batch
    bool whole_positions = true;               ///< every position is a whole number
    int batch = 1;
    std::vector<double> weights;                   ///< [heads or 1, weight_count]
    std::vector<GateRows> query_gates, key_gates;  ///< one a gate; heads count from head_begin
    int query_len = 0, key_len = 0;
    int head_begin = 0, heads = 1;  ///< query heads of the model that this bias covers
    Head first_head;                ///< what the formula calls the first of them
    bool all_heads = false;         ///< these are all query heads of the model: the bias may hide whole tiles
    double stretch = 1;             ///< the formula sees positions divided by this
    View2<double> query_position, key_position;  ///< [batch or 1, len], as attention has them; may be empty
    bool want_gradient = false;
  };
  /// Before the forward, and again before the backward, of a layer.
  virtual void prepare(Exec const& exec, Inputs const& in) = 0;
  /// After the backward: adds d loss / d weight to weight_gradient[heads or 1, weight_count], in a fixed order of
  /// summation. Gradients of gate values were added to the rows given before by gradient_rows().
  virtual void gradient_rows(std::vector<GateRows> query, std::vector<GateRows> key) = 0;
  virtual void finish(double* weight_gradient) = 0;
  virtual std::size_t bytes() const = 0;
};

/// Where a row's positions come from when they are not 0, 1, 2, ...: drawn from [0, below), without repetition, sorted.
struct PositionSampler {
  int below = 0;           ///< tokens
  bool evaluates = false;  ///< in evaluations too; else in training alone
  bool skips = false;      ///< two runs of neighbours with one gap; else any subset
};

/// The trained tensors of a term beside its formula weights, in double, in the order and shape of tensors().
using Tensors = std::vector<std::vector<double>>;

/// Maps query and key of each token and head by a function of the token's position. One per layer; calls for different
/// (b, h) come concurrently, so gradients are kept apart per (side, b, h) and reduced in a fixed order in finish().
template <class T>
class Transform {
 public:
  struct Inputs {
    int batch = 0, count = 0;                   ///< new tokens
    View3<double> coordinates;                  ///< [batch or 1, count, axes]
    int heads = 0, kv_heads = 0, channels = 0;  ///< of the term
    Head first_head;
    Tensors tensors;
    bool want_gradient = false;
    double const* at(int b, int i) const { return &coordinates(coordinates.extent(0) > 1 ? b : 0, i, 0); }
  };
  virtual ~Transform() = default;
  virtual void prepare(Exec const& exec, Inputs const& in) = 0;
  /// out[count, width] = F(in[count, channels]) of one head; h counts the term's heads of that side. width is what
  /// Encoding::lifted() says. out never overlaps in.
  virtual void forward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
                       std::ptrdiff_t out_stride) const = 0;
  /// Overwrites grad_in[count, channels] from grad_out[count, width], given the same `in`; accumulates d loss / d tensor.
  virtual void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                        std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) = 0;
  /// Adds d loss / d tensor, after the backward of both sides.
  virtual void finish(Tensors& gradient) = 0;
};

/// A feature's values of one head: token i of row b at row(b, h) + i * width.
template <class T>
struct FeatureRows {
  T* data = nullptr;
  std::size_t batch_stride = 0, head_stride = 0;
  int width = 0;
  T* row(int b, int h) const { return data + b * batch_stride + h * head_stride; }
};

/// A method that works on whole rows of one layer; see kernels/strip.hpp for the calling rules. strip.head counts the
/// model's query heads: subtract head_begin, and leave strips of heads outside the term alone.
template <class T>
class RowTerm : public kernels::RowLink<T> {
 public:
  struct Inputs {
    double least_offset = 0, most_offset = 0;   ///< as in Bias::Inputs
    bool whole_positions = true;                ///< as in Bias::Inputs
    int batch = 1, query_len = 0, key_len = 0;  ///< the queries are the last query_len of the keys' tokens
    int head_begin = 0, heads = 1;              ///< query heads of the model that this term covers
    int head_dim = 1;
    Head first_head;
    double scale = 1;    ///< what multiplies query . key
    double stretch = 1;  ///< where Stages::stretches: the formula sees positions divided by this
    Tensors tensors;
    std::vector<GateRows> query_gates, key_gates;  ///< as in Bias::Inputs
    std::vector<FeatureRows<T>> features;          ///< of all keys' tokens, heads count from head_begin
    bool want_gradient = false;
    std::vector<GateRows> query_gate_gradient, key_gate_gradient;  ///< with want_gradient; add to them
    std::vector<FeatureRows<T>> feature_gradient;                  ///< with want_gradient; add to them
    View2<int> document;  ///< [batch, key_len] or empty; negative marks padding, whose features may hold anything
    bool covers(int head) const { return head >= head_begin && head < head_begin + heads; }
  };
  /// Before the forward, and again before the backward, of a layer.
  virtual void prepare(Exec const& exec, Inputs const& in) = 0;
  /// After the backward: adds d loss / d tensor.
  virtual void finish(Tensors& gradient) = 0;
};

class Encoding {
 public:
  virtual ~Encoding();
  Description const& description() const { return *description_; }
  Choice const& choice() const { return choice_; }

  /// Throws Error where the options do not fit the model (rotary_dim past head_dim, ...).
  virtual void check(Shape const&) const {}
  virtual Stages stages(Shape const&) const = 0;
  /// The trainable tensors, formula weights first: their concatenation per head is what a formula reads. Gate
  /// projections and an embedding table follow.
  virtual std::vector<ParameterInfo> parameters(Shape const&) const = 0;

  /// Formula weights per head, and whether they are trained. Untrained ones are constants of (options, shape).
  virtual int weight_count(Shape const&) const = 0;
  virtual bool weights_shared_by_heads() const = 0;
  virtual bool trains(Shape const&) const = 0;
  virtual std::vector<double> initial_weights(Shape const&, Stream const&) const = 0;

  /// Gate `g`: its activation of n numbers z of one head.
  virtual void gate(int g, Head head, double const* weights, std::size_t n, double const* z, double* out) const;
  /// grad[n] is d loss / d out in, d loss / d z out; adds d loss / d weight to weight_grad[weight_count].
  virtual void gate_backward(int g, Head head, double const* weights, std::size_t n, double const* z, double* grad,
                             double* weight_grad) const;

  virtual Rotary rotary(Shape const&) const;
  /// inv_freq [heads or 1][axes][rotary_dim / 2] in radians per token; weights [heads or 1][weight_count].
  virtual void inv_freq(Shape const&, double const* weights, double* out) const;
  /// Adds d loss / d weights given d loss / d inv_freq.
  virtual void inv_freq_gradient(Shape const&, double const* weights, double const* grad, double* weight_grad) const;
  /// The phase a position turns by, in units of inv_freq; the position itself unless the encoding bends it.
  virtual double phase(double position) const { return position; }

  /// Trained tensors beside the formula weights, for transforms and row terms. parameters() names them too.
  virtual std::vector<ParameterInfo> tensors(Shape const&) const { return {}; }
  virtual std::unique_ptr<Transform<float>> transform_float(Shape const&) const { return nullptr; }
  virtual std::unique_ptr<Transform<double>> transform_double(Shape const&) const { return nullptr; }
  virtual std::unique_ptr<RowTerm<float>> rows_float(Shape const&) const { return nullptr; }
  virtual std::unique_ptr<RowTerm<double>> rows_double(Shape const&) const { return nullptr; }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const& shape) const {
    if constexpr (std::is_same_v<T, float>)
      return transform_float(shape);
    else
      return transform_double(shape);
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> rows(Shape const& shape) const {
    if constexpr (std::is_same_v<T, float>)
      return rows_float(shape);
    else
      return rows_double(shape);
  }
  /// Channels that a transform makes of shape.head_dim; at least as many.
  virtual int lifted(Shape const& shape) const { return shape.head_dim; }

  /// Coordinates of a position given as one number, for encodings with several axes. Throws Error where options do not
  /// say how.
  virtual void coordinates(double position, double* out) const { *out = position; }
  /// Factor on a query row, after turns: content logits are multiplied by it, biases are not.
  virtual double query_scale(double position) const { return (void)position, 1.0; }

  /// Rotary encodings with branches: the positions that query and key turn by, in each; which branch a pair takes.
  /// Branches may share turned keys: key_set(branch) < key_sets().
  virtual int key_sets() const { return 1; }
  virtual int key_set(int branch) const { return (void)branch, 0; }
  virtual double query_phase(int branch, double position) const { return (void)branch, phase(position); }
  virtual double key_phase(int set, double position) const { return (void)set, phase(position); }
  /// The branch of a pair, or kernels::BranchRule::hidden.
  virtual int branch(double query_position, double key_position) const {
    return (void)query_position, (void)key_position, 0;
  }
  /// The branch of all pairs with positions in these closed ranges, or hidden, or kernels::BranchRule::mixed (always
  /// allowed; exact answers save work).
  virtual int branch_of_block(double query_least, double query_most, double key_least, double key_most) const {
    return (void)query_least, (void)query_most, (void)key_least, (void)key_most, kernels::BranchRule::mixed;
  }

  /// Rows added to the token embedding x: y = token_scale x + row(position).
  virtual double token_scale(Shape const&) const { return 1; }
  /// > 0: rows are a trained table [table_length, model_dim], the last parameter; positions must be whole and below.
  virtual int table_length() const { return 0; }
  virtual void embed_row(Shape const&, double position, double* row) const;

  virtual std::unique_ptr<Bias<float>> bias_float(Shape const&) const { return nullptr; }
  virtual std::unique_ptr<Bias<double>> bias_double(Shape const&) const { return nullptr; }
  template <class T>
  std::unique_ptr<Bias<T>> bias(Shape const& shape) const {
    if constexpr (std::is_same_v<T, float>)
      return bias_float(shape);
    else
      return bias_double(shape);
  }
  /// The bias of one pair, in double: the definition that tests and plots read. `weights` are those of this head.
  virtual double bias_at(Shape const&, double const* weights, Head head, double query_position, double key_position,
                         double const* query_gates, double const* key_gates) const;

  /// Composites only: the regions of the head that each part acts on.
  struct Region {
    int head_begin = 0, heads = 0;        ///< query heads
    int channel_begin = 0, channels = 0;  ///< channels of the head
    bool formula_sees_all_heads = false;  ///< slopes and the like are those of the whole model's heads
  };
  virtual std::vector<Region> regions(Shape const&, int parts) const;
  /// Composites only: what draws the positions of the parts.
  virtual std::optional<PositionSampler> sampler() const { return std::nullopt; }

 protected:
  friend class Registry;
  std::shared_ptr<Description const> description_;
  Choice choice_;
};

/// What a scaling changes.
struct ScalingStages {
  bool frequencies = false;     ///< of rotary encodings, or the magnitude of cos and sin
  bool phases = false;          ///< what positions turn by
  bool biases = false;          ///< the positions that bias formulas see
  bool queries = false;         ///< a factor on the content logits of a query
  bool follows_length = false;  ///< the frequencies depend on ScalingContext::length
  bool rounds = false;          ///< cos and sin of rotary encodings, or their angles
  double kept = 0;              ///< tokens at positions below it turn as without the scaling
  bool turns() const { return frequencies || phases || queries; }
};

class Scaling {
 public:
  virtual ~Scaling();
  Description const& description() const { return *description_; }
  Choice const& choice() const { return choice_; }
  virtual ScalingStages stages() const = 0;
  /// Throws Error where the scaling cannot be applied to such an encoding (no base, no trained length, ...).
  virtual void check(ScalingContext const&) const {}
  /// The scaled inverse frequency of one pair, given that which the scalings before left, and its derivative.
  virtual double inv_freq(double plain, ScalingContext const&, double* slope = nullptr) const = 0;
  /// Multiplies cos and sin of query and of key.
  virtual double attention_factor(ScalingContext const&) const = 0;
  /// Where it rounds: what cos and sin, and the angles that they are formed of, are stored as.
  virtual TableFormat table_format() const = 0;
  /// The ladder that it makes of a ladder; nothing where the result is none.
  virtual std::optional<Ladder> ladder(Ladder const& before, ScalingContext const&) const = 0;
  /// What a position turns by, given what it turned by before.
  virtual double phase(double plain, ScalingContext const&) const = 0;
  /// What positions are divided by before a bias formula sees them.
  virtual double stretch(ScalingContext const&) const = 0;
  /// Factor on a query row of a layer, after turns, as Encoding::query_scale().
  virtual double query_scale(double position, int layer, ScalingContext const&) const = 0;

 protected:
  friend class Registry;
  std::shared_ptr<Description const> description_;
  Choice choice_;
};

}  // namespace sextant::encoding
