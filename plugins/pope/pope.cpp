// PoPE, polar coordinate position embedding: content sets how long each channel's vector is, position alone its angle.
//
//   q~ = (softplus(q_c) cos a, softplus(q_c) sin a),  a = p_i theta_c,           theta_c = base^(-c / D), one per channel
//   k~ = (softplus(k_c) cos a, softplus(k_c) sin a),  a = p_j theta_c + delta_c
//   logit = s sum_c softplus(q_c) softplus(k_c) cos((p_j - p_i) theta_c + delta_c)
//
// A lift from D to 2D channels: first all cosines, then all sines. delta is trained, one number per key head and channel,
// kept to [-2 pi, 0]: a number outside counts as the nearer end and gets no gradient.
//
// Source: Gopalakrishnan et al., "Decoupling the What and Where with Polar Coordinate Positional Embeddings",
// arXiv:2509.10534.
#include <common/partial_sums.hpp>
#include <sextant/encoding/ladder.hpp>
#include <sextant/plugin.hpp>

#include <numbers>

namespace sextant::plugins {
inline constexpr double least_bias = -2 * std::numbers::pi;

template <class T>
class PopeTransform final : public Transform<T> {
 public:
  using Inputs = typename Transform<T>::Inputs;
  PopeTransform(double base, bool biased) : base_(base), biased_(biased) {}

  void prepare(Exec const&, Inputs const& in) override {
    in_ = in;
    std::size_t const n = in.channels, points = in.coordinates.extent(0) * in.count;
    position_.resize(points * n);
    for (std::size_t at = 0; at < points; ++at)
      for (std::size_t c = 0; c < n; ++c)
        position_[at * n + c] = towards(in.coordinates(at / in.count, at % in.count, 0) *
                                        ladder(base_, static_cast<int>(c), static_cast<int>(2 * n)));
    bias_.assign(in.kv_heads * n, {});
    for (std::size_t at = 0; biased_ && at < bias_.size(); ++at)
      bias_[at] = towards(std::clamp(in.tensors[0][at], least_bias, 0.0));
    if (biased_ && in.want_gradient) sums_.reset(in.batch, in.heads, in.kv_heads, n);
  }

  void forward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T* out,
               std::ptrdiff_t out_stride) const override {
    int const n = in_.channels;
    for (int i = 0; i < in_.count; ++i)
      for (int c = 0; c < n; ++c) {
        auto const at = direction(side, b, i, h, c);
        T const length = math::softplus(in[i * in_stride + c]);
        out[i * out_stride + c] = length * at.cosine;
        out[i * out_stride + n + c] = length * at.sine;
      }
  }

  void backward(Side side, int b, int h, T const* in, std::ptrdiff_t in_stride, T const* grad_out,
                std::ptrdiff_t grad_out_stride, T* grad_in, std::ptrdiff_t grad_in_stride) override {
    int const n = in_.channels;
    double* const sum = biased_ && side == Side::key ? sums_.at(side, b, h) : nullptr;
    for (int i = 0; i < in_.count; ++i)
      for (int c = 0; c < n; ++c) {
        auto const at = direction(side, b, i, h, c);
        T const x = in[i * in_stride + c];
        T const of_cos = grad_out[i * grad_out_stride + c], of_sin = grad_out[i * grad_out_stride + n + c];
        grad_in[i * grad_in_stride + c] = (of_cos * at.cosine + of_sin * at.sine) * math::sigmoid(x);
        if (sum) sum[c] += math::softplus(x) * (of_sin * at.cosine - of_cos * at.sine);
      }
  }

  void finish(Tensors& gradient) override {
    if (!biased_) return;
    for (int h = 0; h < in_.kv_heads; ++h)
      for (int b = 0; b < in_.batch; ++b) {
        double const* sum = sums_.at(Side::key, b, h);
        for (int c = 0; c < in_.channels; ++c) {
          std::size_t const at = static_cast<std::size_t>(h) * in_.channels + c;
          double const delta = in_.tensors[0][at];
          if (delta >= least_bias && delta <= 0) gradient[0][at] += sum[c];
        }
      }
  }

 private:
  struct Direction {
    T cosine = 1, sine = 0;
  };
  static Direction towards(double angle) { return {static_cast<T>(std::cos(angle)), static_cast<T>(std::sin(angle))}; }
  Direction direction(Side side, int b, int i, int h, int c) const {
    std::size_t const row = (in_.coordinates.extent(0) > 1 ? b : 0) * static_cast<std::size_t>(in_.count) + i;
    Direction const& at = position_[row * in_.channels + c];
    if (!biased_ || side == Side::query) return at;
    Direction const& turn = bias_[static_cast<std::size_t>(h) * in_.channels + c];
    return {at.cosine * turn.cosine - at.sine * turn.sine, at.sine * turn.cosine + at.cosine * turn.sine};
  }

  double base_;
  bool biased_;
  Inputs in_;
  std::vector<Direction> position_;  // [points, channels]
  std::vector<Direction> bias_;      // [key heads, channels]
  PartialSums sums_;
};

enum class BiasStart { zero, uniform };

struct Pope {
  double base = 10000;
  bool phase_bias = true;
  BiasStart bias_init = BiasStart::zero;

  static constexpr char const* summary = "channels in polar coordinates: content is the length, position the angle";
  static constexpr char const* formula =
      "logit = sum_c softplus(q_c) softplus(k_c) cos((p_j - p_i) theta_c + delta_c) / sqrt(D)";
  static constexpr bool relative = true;

  static auto schema() {
    return Schema<Pope>{}
        .option("base", &Pope::base, "theta of the ladder base^(-c/D)", above(1))
        .option("phase_bias", &Pope::phase_bias, "train delta; without it delta is 0")
        .choice("bias_init", &Pope::bias_init, "where delta starts: 0 reaches further, U(-2 pi, 0) spreads the phases",
                {{"zero", BiasStart::zero}, {"uniform", BiasStart::uniform}});
  }

  std::vector<ParameterInfo> tensors(Shape const& shape) const {
    if (!phase_bias) return {};
    return {{"phase_bias",
             {static_cast<std::size_t>(shape.kv_heads), static_cast<std::size_t>(shape.head_dim)},
             [start = bias_init](Stream const& stream, std::size_t i) {
               return start == BiasStart::zero ? 0.0 : least_bias * stream.uniform(i);
             }}};
  }
  int lifted(Shape const& shape) const { return 2 * shape.head_dim; }
  template <class T>
  std::unique_ptr<Transform<T>> transform(Shape const&) const {
    return std::make_unique<PopeTransform<T>>(base, phase_bias);
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Pope, "pope", "arXiv:2509.10534")
