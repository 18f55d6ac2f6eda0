// Turns a plugin's struct of formulas into an Encoding or a Scaling. A stage is joined by having the member function
// it asks for; nothing is registered by hand. Instantiated inside the plugin.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/encoding/bias_adapter.hpp>
#include <sextant/encoding/task.hpp>

namespace sextant::encoding {

template <class P>
concept HasBias = requires(P const p, typename WeightsOf<P, double>::type w, Site<double> s) {
  { p.template bias<double>(w, s) } -> std::convertible_to<double>;
};
template <class P>
concept HasRotary = requires(P const p, Shape s) {
  { p.rotary(s) } -> std::convertible_to<Rotary>;
};
template <class P>
concept HasEmbed = requires(P const p, Shape s, double* row) {
  p.embed(s, 0.0, row);
};
template <class P>
concept HasEmbedTable = requires(P const p) {
  p.table_length();
};
template <class P>
concept HasParts = requires(P const p, Shape s) {
  p.regions(s, 2);
};
template <class P>
concept HasTransform = requires(P const p, Shape s) {
  p.template transform<double>(s);
};
template <class P>
concept HasRows = requires(P const p, Shape s) {
  p.template rows<double>(s);
};
template <class P>
concept HasBranches = requires(P const p) {
  { p.branches() } -> std::convertible_to<int>;
  { p.branch(0.0, 0.0) } -> std::convertible_to<int>;
};
template <class P>
concept HasQueryScale = requires(P const p) {
  { p.query_scale(0.0) } -> std::convertible_to<double>;
};
template <class P>
concept ScalesFrequencies = requires(P const p, ScalingContext c) {
  { p.template inv_freq<double>(1.0, c) } -> std::convertible_to<double>;
};
template <class P>
concept ScalesPhases = requires(P const p, ScalingContext c) {
  { p.phase(1.0, c) } -> std::convertible_to<double>;
};
template <class P>
concept ScalesBiases = requires(P const p, ScalingContext c) {
  { p.stretch(c) } -> std::convertible_to<double>;
};
template <class P>
concept ScalesQueries = requires(P const p, ScalingContext c) {
  { p.query_scale(1.0, 0, c) } -> std::convertible_to<double>;
};
/// Weights whose start is drawn; others follow from the head alone. (In a lambda nvcc finds no such call.)
template <class P>
concept DrawsWeights = requires(P const p, Shape const& shape, Stream const& stream) {
  p.init(0, shape, stream);
};
/// Scalings that change how cos and sin are stored.
template <class P>
concept RoundsTables = requires(P const p) {
  { p.table_format() } -> std::convertible_to<TableFormat>;
};
/// Scalings of frequencies that leave the first tokens of a sequence alone.
template <class P>
concept KeepsFirst = requires(P const p) {
  { p.kept() } -> std::convertible_to<double>;
};
template <class P>
concept IsScaling = ScalesFrequencies<P> || ScalesPhases<P> || ScalesBiases<P> || ScalesQueries<P> || RoundsTables<P>;
/// A static constexpr bool NAME of a plugin, false where it has none.
#define SEXTANT_FLAG(NAME)                 \
  template <class P>                       \
  inline constexpr bool flag_##NAME = [] { \
    if constexpr (requires { P::NAME; })   \
      return P::NAME;                      \
    else                                   \
      return false;                        \
  }();
SEXTANT_FLAG(multiplies)
SEXTANT_FLAG(reads_plain)
SEXTANT_FLAG(stretches)
SEXTANT_FLAG(follows_length)
#undef SEXTANT_FLAG

template <class P>
void describe_plugin(char const* name, char const* source, Portrait& out) {
  out.name(name, source, IsTask<P> ? Role::task : IsScaling<P> ? Role::scaling : Role::encoding);
  if constexpr (requires { P::summary; }) out.summary(P::summary);
  if constexpr (requires { P::formula; }) out.formula(P::formula);
  out.options(P::schema());
  if (HasParts<P>) out.takes_parts();
  out.family(IsTask<P>, "task");
  out.family(HasParts<P>, "composite");
  out.family(HasEmbed<P> || HasEmbedTable<P>, "absolute");
  out.family(HasRotary<P>, "rotary");
  out.family(HasTransform<P>, "transform");
  out.family(HasBranches<P>, "branches");
  out.family(HasBias<P>, gate_count_of<P> ? "gated bias" : "bias");
  out.family(HasRows<P>, "rows");
  out.family(HasQueryScale<P>, "temperature");
  out.family(ScalesFrequencies<P>, "frequencies");
  out.family(RoundsTables<P>, "tables");
  out.family(ScalesPhases<P>, "positions");
  out.family(ScalesBiases<P>, "biases");
  out.family(ScalesQueries<P>, "temperature");
  if constexpr (requires { P::relative; })
    out.law(P::relative, "relative", "adding a constant to all positions leaves the logits unchanged");
  if constexpr (requires { P::orthogonal; }) out.law(P::orthogonal, "orthogonal", "query and key keep their norms");
  if constexpr (requires { P::group; }) out.law(P::group, "group", "turning by a and then by b is turning by a + b");
  if constexpr (requires { P::additive; }) out.law(P::additive, "additive", "bias(i, j) = bias(i, m) + bias(m, j)");
  if constexpr (requires { P::identity_at_factor_one; })
    out.law(P::identity_at_factor_one, "identity_at_factor_one", "factor 1 leaves everything as it is");
  out.law(flag_follows_length<P>, "follows_length",
          "frequencies follow each sequence's own length; cached keys serve while the frequencies stay, and where they "
          "change the text is read again");
  if constexpr (requires { P::examples(); }) out.examples(P::examples());
  if constexpr (requires { P::equals(); }) out.equals(P::equals());
}

/// What of an adapted encoding does not depend on its formula: compiled once, in adapter.cpp.
class FormulaEncoding : public Encoding {
 public:
  std::vector<ParameterInfo> parameters(Shape const& shape) const override;
  std::vector<double> initial_weights(Shape const& shape, Stream const& stream) const override;

 protected:
  using Init = std::function<double(Stream const&, std::size_t)>;
  virtual std::string weight_name() const = 0;
  virtual bool per_layer() const = 0;
  /// Element [head, n] of the formula's weights, without the encoding itself, which it may outlive.
  virtual Init weight_init(Shape const& shape) const = 0;
  /// Of a gate's bias, a number a head; none: 0.
  virtual Init gate_bias_init(Shape const& shape) const = 0;
  virtual int gate_count() const = 0;
  virtual GateSpec gate_spec(int g) const = 0;

  std::vector<GateSpec> gate_specs() const;
  std::size_t weight_row(Shape const& shape, int head) const;
  static void check_rotary(Rotary const& form, Shape const& shape);

 private:
  void add_gate(std::vector<ParameterInfo>& out, GateSpec const& spec, Shape const& shape) const;
};

template <class P>
class EncodingAdapter final : public FormulaEncoding {
  static_assert(gate_count_of<P> == 0 || HasBias<P> || HasRows<P> || HasRotary<P>,
                "a plugin with gates needs something that reads them: bias(Weights<T> const&, Site<T> const&) const, "
                "rows<T>(Shape) const, or a rotary() with a phase_gate");
  static_assert(gate_count_of<P> == 0 || !has_weight_array<P> || !HasBias<P>,
                "a bias of gates goes with a struct of weights, not with an array");

 public:
  explicit EncodingAdapter(P const& plugin) : plugin_(plugin) {}

  void check(Shape const& shape) const override {
    if constexpr (requires { plugin_.check(shape); }) plugin_.check(shape);
    if constexpr (HasRotary<P>) check_rotary(plugin_.rotary(shape), shape);
  }

  Stages stages([[maybe_unused]] Shape const& shape) const override {
    Stages s;
    s.embed = HasEmbed<P> || HasEmbedTable<P>;
    s.rotate = HasRotary<P>;
    s.bias = HasBias<P>;
    s.transform = HasTransform<P>;
    s.rows = HasRows<P>;
    s.scale_query = HasQueryScale<P>;
    s.multiplies = flag_multiplies<P>;
    s.reads_plain = flag_reads_plain<P>;
    s.stretches = flag_stretches<P>;
    if constexpr (HasBranches<P>) s.branches = plugin_.branches();
    if constexpr (HasRotary<P>) s.axes = plugin_.rotary(shape).axes;
    if constexpr (requires { plugin_.axes(); }) s.axes = plugin_.axes();
    s.gates = gate_specs();
    if constexpr (requires { plugin_.features(shape); }) s.features = plugin_.features(shape);
    return s;
  }

  int weight_count(Shape const& shape) const override {
    if constexpr (has_weight_array<P>)
      return plugin_.weight_count(shape);
    else
      return fixed_weight_count<P>;
  }
  bool weights_shared_by_heads() const override {
    if constexpr (requires { plugin_.shared_by_heads(); })
      return plugin_.shared_by_heads();
    else
      return false;
  }
  bool trains(Shape const& shape) const override {
    if constexpr (requires { plugin_.trains(); })
      return plugin_.trains() && weight_count(shape) > 0;
    else
      return DeclaresWeights<P>;
  }
  void gate(int g, Head head, double const* weights, std::size_t n, double const* z, double* out) const override {
    if constexpr (gate_count_of < P >> 0) {
      WeightsIn<P, double> const w(fixed_weight_count<P>, weights);
      for (std::size_t i = 0; i < n; ++i) out[i] = plugin_.template gate<double>(w.get(), g, head, z[i]);
    } else {
      Encoding::gate(g, head, weights, n, z, out);
    }
  }
  void gate_backward(int g, Head head, double const* weights, std::size_t n, double const* z, double* grad,
                     double* weight_grad) const override {
    if constexpr (gate_count_of < P >> 0) {
      constexpr int count = fixed_weight_count<P>;
      using D = Dual<double, count + 1>;
      WeightsIn<P, D> const w(count, weights, 0);
      for (std::size_t i = 0; i < n; ++i) {
        D x(z[i]);
        x.slope[count] = 1;
        D const y = plugin_.template gate<D>(w.get(), g, head, x);
        for (int k = 0; k < count; ++k) weight_grad[k] += grad[i] * y.slope[k];
        grad[i] *= y.slope[count];
      }
    } else {
      Encoding::gate_backward(g, head, weights, n, z, grad, weight_grad);
    }
  }

  Rotary rotary(Shape const& shape) const override {
    if constexpr (HasRotary<P>)
      return plugin_.rotary(shape);
    else
      return Encoding::rotary(shape);
  }
  void inv_freq(Shape const& shape, double const* weights, double* out) const override {
    if constexpr (HasRotary<P>) {
      Rotary const form = plugin_.rotary(shape);
      int const pairs = form.rotary_dim / 2;
      for (int h = 0; h < (form.per_head ? shape.heads : 1); ++h) {
        WeightsIn<P, double> const w(weight_count(shape), weights + weight_row(shape, h));
        for (int a = 0; a < form.axes; ++a)
          for (int p = 0; p < pairs; ++p) out[(h * form.axes + a) * pairs + p] = frequency<double>(w.get(), a, p, form);
      }
    } else {
      Encoding::inv_freq(shape, weights, out);
    }
  }
  void inv_freq_gradient(Shape const& shape, double const* weights, double const* grad, double* out) const override {
    if constexpr (HasRotary<P> && DeclaresWeights<P>) {
      Rotary const form = plugin_.rotary(shape);
      int const pairs = form.rotary_dim / 2;
      for (int h = 0; h < (form.per_head ? shape.heads : 1); ++h)
        differentiate<P>(weight_count(shape), weights + weight_row(shape, h), out + weight_row(shape, h),
                         [&](auto const& w, auto&& add) {
                           using D = typename std::decay_t<decltype(w)>::Number;
                           for (int a = 0; a < form.axes; ++a)
                             for (int p = 0; p < pairs; ++p)
                               add(grad[(h * form.axes + a) * pairs + p], frequency<D>(w.get(), a, p, form));
                         });
    }
  }
  double phase(double position) const override {
    if constexpr (requires { plugin_.phase(position); })
      return plugin_.phase(position);
    else
      return position;
  }

  std::vector<ParameterInfo> tensors([[maybe_unused]] Shape const& shape) const override {
    if constexpr (requires { plugin_.tensors(shape); })
      return plugin_.tensors(shape);
    else
      return {};
  }
  std::unique_ptr<Transform<float>> transform_float(Shape const& shape) const override {
    return make_transform<float>(shape);
  }
  std::unique_ptr<Transform<double>> transform_double(Shape const& shape) const override {
    return make_transform<double>(shape);
  }
  std::unique_ptr<RowTerm<float>> rows_float(Shape const& shape) const override { return make_rows<float>(shape); }
  std::unique_ptr<RowTerm<double>> rows_double(Shape const& shape) const override { return make_rows<double>(shape); }
  int lifted(Shape const& shape) const override {
    if constexpr (requires { plugin_.lifted(shape); })
      return plugin_.lifted(shape);
    else
      return shape.head_dim;
  }
  void coordinates(double position, double* out) const override {
    if constexpr (requires { plugin_.coordinates(position, out); })
      plugin_.coordinates(position, out);
    else
      Encoding::coordinates(position, out);
  }
  double query_scale(double position) const override {
    if constexpr (HasQueryScale<P>)
      return plugin_.query_scale(position);
    else
      return Encoding::query_scale(position);
  }
  int key_sets() const override {
    if constexpr (requires { plugin_.key_sets(); })
      return plugin_.key_sets();
    else if constexpr (HasBranches<P>)
      return plugin_.branches();
    else
      return 1;
  }
  int key_set(int branch) const override {
    if constexpr (requires { plugin_.key_set(branch); })
      return plugin_.key_set(branch);
    else
      return HasBranches<P> ? branch : 0;
  }
  double query_phase(int branch, double position) const override {
    if constexpr (requires { plugin_.query_phase(branch, position); })
      return plugin_.query_phase(branch, position);
    else
      return phase(position);
  }
  double key_phase(int set, double position) const override {
    if constexpr (requires { plugin_.key_phase(set, position); })
      return plugin_.key_phase(set, position);
    else
      return phase(position);
  }
  int branch(double query_position, double key_position) const override {
    if constexpr (HasBranches<P>)
      return plugin_.branch(query_position, key_position);
    else
      return Encoding::branch(query_position, key_position);
  }
  int branch_of_block(double query_least, double query_most, double key_least, double key_most) const override {
    if constexpr (requires { plugin_.branch_of_block(query_least, query_most, key_least, key_most); })
      return plugin_.branch_of_block(query_least, query_most, key_least, key_most);
    else
      return Encoding::branch_of_block(query_least, query_most, key_least, key_most);
  }

  double token_scale(Shape const& shape) const override {
    if constexpr (requires { plugin_.token_scale(shape); })
      return plugin_.token_scale(shape);
    else
      return 1;
  }
  int table_length() const override {
    if constexpr (HasEmbedTable<P>)
      return plugin_.table_length();
    else
      return 0;
  }
  void embed_row(Shape const& shape, double position, double* row) const override {
    if constexpr (HasEmbed<P>)
      plugin_.embed(shape, position, row);
    else
      Encoding::embed_row(shape, position, row);
  }

  std::unique_ptr<Bias<float>> bias_float(Shape const& shape) const override { return make_bias<float>(shape); }
  std::unique_ptr<Bias<double>> bias_double(Shape const& shape) const override { return make_bias<double>(shape); }
  double bias_at(Shape const& shape, double const* weights, Head head, double query_position, double key_position,
                 double const* query_gates, double const* key_gates) const override {
    if constexpr (HasBias<P>) {
      WeightsIn<P, double> const w(weight_count(shape), weights);
      Site<double> const at{query_position - key_position, query_position, key_position, head, query_gates, key_gates};
      return plugin_.template bias<double>(w.get(), at);
    } else {
      return Encoding::bias_at(shape, weights, head, query_position, key_position, query_gates, key_gates);
    }
  }

  std::vector<Region> regions(Shape const& shape, int parts) const override {
    if constexpr (HasParts<P>)
      return plugin_.regions(shape, parts);
    else
      return Encoding::regions(shape, parts);
  }
  std::optional<PositionSampler> sampler() const override {
    if constexpr (requires { plugin_.sampler(); })
      return plugin_.sampler();
    else
      return std::nullopt;
  }

 private:
  std::string weight_name() const override {
    if constexpr (requires { P::weight_name; })
      return P::weight_name;
    else
      return "weights";
  }
  bool per_layer() const override {
    if constexpr (requires { P::shared_by_layers; })
      return !P::shared_by_layers;
    else
      return true;
  }
  Init weight_init([[maybe_unused]] Shape const& shape) const override {
    if constexpr (has_weight_array<P>)
      return [plugin = plugin_, shape, count = plugin_.weight_count(shape)](Stream const& stream, std::size_t i) {
        return plugin.init(static_cast<int>(i / count), static_cast<int>(i % count), shape, stream);
      };
    else if constexpr (fixed_weight_count < P >> 0)
      return [plugin = plugin_, shape]([[maybe_unused]] Stream const& stream, std::size_t i) {
        int const head = static_cast<int>(i / fixed_weight_count<P>);
        auto const weights = [&] {
          if constexpr (DrawsWeights<P>)
            return plugin.init(head, shape, stream);
          else
            return plugin.init(head, shape.heads);
        }();
        double all[fixed_weight_count<P>];
        std::memcpy(all, &weights, sizeof all);
        return all[i % fixed_weight_count<P>];
      };
    else
      return {};
  }
  Init gate_bias_init([[maybe_unused]] Shape const& shape) const override {
    if constexpr (requires { plugin_.gate_bias(0, shape); })
      return [plugin = plugin_, shape](Stream const&, std::size_t head) {
        return plugin.gate_bias(static_cast<int>(head), shape);
      };
    else
      return {};
  }
  int gate_count() const override { return gate_count_of<P>; }
  GateSpec gate_spec([[maybe_unused]] int g) const override {
    if constexpr (gate_count_of < P >> 0)
      return plugin_.gate_spec(g);
    else
      return {};
  }
  /// One pair's frequency along one axis; a plugin of several axes takes the axis as an argument.
  template <class D, class W>
  D frequency(W const& weights, [[maybe_unused]] int axis, int pair, Rotary const& form) const {
    if constexpr (requires { plugin_.template inv_freq<D>(weights, axis, pair, form); })
      return plugin_.template inv_freq<D>(weights, axis, pair, form);
    else
      return plugin_.template inv_freq<D>(weights, pair, form);
  }
  template <class T>
  std::unique_ptr<Bias<T>> make_bias(Shape const& shape) const {
    if constexpr (HasBias<P>)
      return std::make_unique<BiasAdapter<P, T>>(plugin_, weight_count(shape), trains(shape), gate_specs());
    else
      return nullptr;
  }
  template <class T>
  std::unique_ptr<Transform<T>> make_transform([[maybe_unused]] Shape const& shape) const {
    if constexpr (HasTransform<P>)
      return plugin_.template transform<T>(shape);
    else
      return nullptr;
  }
  template <class T>
  std::unique_ptr<RowTerm<T>> make_rows([[maybe_unused]] Shape const& shape) const {
    if constexpr (HasRows<P>)
      return plugin_.template rows<T>(shape);
    else
      return nullptr;
  }
  P plugin_;
};

template <class P>
class ScalingAdapter final : public Scaling {
 public:
  explicit ScalingAdapter(P const& plugin) : plugin_(plugin) {}
  void check(ScalingContext const& context) const override {
    if constexpr (requires { plugin_.check(context); }) plugin_.check(context);
  }
  ScalingStages stages() const override {
    ScalingStages out{.frequencies = ScalesFrequencies<P> || RoundsTables<P>,
                      .phases = ScalesPhases<P>,
                      .biases = ScalesBiases<P>,
                      .queries = ScalesQueries<P>,
                      .follows_length = flag_follows_length<P>,
                      .rounds = RoundsTables<P>};
    if constexpr (KeepsFirst<P>) {
      static_assert(ScalesFrequencies<P> && !ScalesPhases<P> && !ScalesQueries<P>, "kept() is about frequencies");
      out.kept = plugin_.kept();
    }
    return out;
  }
  double inv_freq(double plain, [[maybe_unused]] ScalingContext const& context, double* slope) const override {
    if constexpr (ScalesFrequencies<P>) {
      if (!slope) return plugin_.template inv_freq<double>(plain, context);
      Dual<double, 1> x(plain);
      x.slope[0] = 1;
      auto const y = plugin_.template inv_freq<Dual<double, 1>>(x, context);
      *slope = y.slope[0];
      return y.value;
    } else {
      if (slope) *slope = 1;
      return plain;
    }
  }
  double attention_factor(ScalingContext const& context) const override {
    if constexpr (requires { plugin_.attention_factor(context); })
      return plugin_.attention_factor(context);
    else
      return 1;
  }
  TableFormat table_format() const override {
    if constexpr (RoundsTables<P>)
      return plugin_.table_format();
    else
      return {};
  }
  std::optional<Ladder> ladder([[maybe_unused]] Ladder const& before,
                               [[maybe_unused]] ScalingContext const& context) const override {
    if constexpr (requires { plugin_.ladder(before, context); })
      return plugin_.ladder(before, context);
    else if constexpr (ScalesFrequencies<P>)
      return std::nullopt;
    else
      return before;
  }
  double phase(double plain, [[maybe_unused]] ScalingContext const& context) const override {
    if constexpr (ScalesPhases<P>)
      return plugin_.phase(plain, context);
    else
      return plain;
  }
  double stretch([[maybe_unused]] ScalingContext const& context) const override {
    if constexpr (ScalesBiases<P>)
      return plugin_.stretch(context);
    else
      return 1;
  }
  double query_scale([[maybe_unused]] double position, [[maybe_unused]] int layer,
                     [[maybe_unused]] ScalingContext const& context) const override {
    if constexpr (ScalesQueries<P>)
      return plugin_.query_scale(position, layer, context);
    else
      return 1;
  }

 private:
  P plugin_;
};

}  // namespace sextant::encoding
