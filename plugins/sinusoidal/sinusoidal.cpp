// Sinusoidal absolute encoding: fixed waves added to the token embedding.
//
//   y_i = c x_i + PE(p_i);  PE[2f] = sin(p t_f), PE[2f + 1] = cos(p t_f), t_f = base^(-2f / model_dim)
//
// Source: Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, section 3.5. `t2t` is the spacing of the
// authors' tensor2tensor code, whose slowest wave reaches 1 / base; `half` puts all sines before all cosines.
#include <sextant/plugin.hpp>

namespace sextant::plugins {
enum class Spacing { standard, t2t };

struct Sinusoidal {
  Layout layout = Layout::interleaved;
  Spacing spacing = Spacing::standard;
  double base = 10000;
  double embed_scale = 1;

  static constexpr char const* summary = "sines and cosines of the position, added to the token embedding";
  static constexpr char const* formula = "y_i = embed_scale x_i + [sin(p t_f), cos(p t_f)], t_f = base^(-2f/width)";

  static auto schema() {
    return Schema<Sinusoidal>{}
        .choice("layout", &Sinusoidal::layout, "sine and cosine of a frequency side by side, or all sines first",
                {{"interleaved", Layout::interleaved}, {"half", Layout::half}})
        .choice("spacing", &Sinusoidal::spacing, "frequencies base^(-2f/width), or tensor2tensor's that reach 1/base",
                {{"standard", Spacing::standard}, {"t2t", Spacing::t2t}})
        .option("base", &Sinusoidal::base, "ratio of the slowest wavelength to the fastest", above(1))
        .option("embed_scale", &Sinusoidal::embed_scale, "multiplies the token embedding (the paper: sqrt(width))",
                positive);
  }

  void check(Shape const& shape) const {
    expect(shape.model_dim % 2 == 0, "sinusoidal needs an even model width, found ", shape.model_dim);
    expect(spacing == Spacing::standard || shape.model_dim >= 4,
           "t2t spacing needs a model width of at least 4, found ", shape.model_dim);
  }
  double token_scale(Shape const&) const { return embed_scale; }

  void embed(Shape const& shape, double position, double* row) const {
    int const half = shape.model_dim / 2;
    for (int f = 0; f < half; ++f) {
      double const exponent = spacing == Spacing::standard ? 2.0 * f / shape.model_dim : f / (half - 1.0);
      double const angle = position * std::pow(base, -exponent);
      row[layout == Layout::interleaved ? 2 * f : f] = std::sin(angle);
      row[layout == Layout::interleaved ? 2 * f + 1 : half + f] = std::cos(angle);
    }
  }
};
}  // namespace sextant::plugins

SEXTANT_PLUGIN(sextant::plugins::Sinusoidal, "sinusoidal", "arXiv:1706.03762")
