#include <sextant/base/error.hpp>
#include <sextant/base/math.hpp>
#include <sextant/check/cases.hpp>
#include <sextant/encoding/slopes.hpp>

#include <cmath>

namespace sextant::check {
namespace {
using encoding::Options;

EncodingCase path(Parameters const& from) {
  bool const forget = from.flag("forget", false);
  EncodingCase out = alone({"path",
                            {{"forget", forget},
                             {"gate_scaled", from.flag("gate_scaled", false)},
                             {"l2_eps", from.number("l2_eps", 1e-6)},
                             {"beta_range", from.number("beta_range", 2)},
                             {"rank", std::int64_t{0}},
                             {"taps", std::int64_t{0}}},
                            {}});
  out.picked = {{"in/w_raw", "path.w"}, {"in/beta_logit", "path.beta_weight"}};
  if (forget) out.picked.push_back({"in/f_logit", "path.forget_weight"});
  return out;
}

/// grape_ap in the sheet's words.
struct Probes {
  int width, sense;
  bool half, norm_query;
  double eps;

  /// alpha log sigmoid(<P^_i, R(position_m) P^_m> / width) of raw probes.
  double edge(double const* query, double const* key, double position, double alpha) const {
    double dot = 0;
    for (int f = 0; f < width / 2; ++f) {
      int const a = half ? f : 2 * f, b = half ? f + width / 2 : 2 * f + 1;
      double const c = std::cos(position), s = sense * std::sin(position);
      dot += query[a] * (key[a] * c - key[b] * s) + query[b] * (key[b] * c + key[a] * s);
    }
    double const query_norm = norm_query ? rms(query) : 1;
    return alpha * math::log_sigmoid(dot / (query_norm * rms(key) * width));
  }
  double rms(double const* p) const {
    double square = 0;
    for (int k = 0; k < width; ++k) square += p[k] * p[k];
    return std::sqrt(square / width + eps);
  }
};

/// An edge is what the bias gains from one key to the one before; the first key's edge lies on no path, and is formed
/// from its probes.
void edges_of(Probes const& probes, CaseProbe const& at, Quantities& out) {
  auto const bias = at.bias(), feature = at.feature(0);
  auto& psi = out["out/psi"];
  std::size_t const length = at.length;
  for (int b = 0; b < at.batch; ++b)
    for (int h = 0; h < at.heads; ++h) {
      std::size_t const head = static_cast<std::size_t>(b) * at.heads + h;
      double const* probe = feature.data() + head * length * probes.width;
      double const first = at.positions[at.positions.size() > length ? b * length : 0];
      double const alpha = encoding::alibi_slope(h, at.heads, 8, encoding::SlopeOrder::press);
      for (std::size_t i = 0; i < length; ++i) {
        double const* row = bias.data() + (head * length + i) * length;
        psi.push_back(probes.edge(probe + i * probes.width, probe, first, alpha));
        for (std::size_t m = 1; m < length; ++m) psi.push_back(m <= i ? row[m - 1] - row[m] : 0.0);
      }
    }
}

EncodingCase grape_ap(Parameters const& from) {
  int const width = from.whole("p_dim", 8), sense = from.whole("orientation", 1);
  std::string const layout = from.word("layout", "interleaved");
  bool const norm_rows = from.flag("norm_rows", true);
  double const eps = from.number("rms_eps", 1e-6);
  expect(sense == 1 || sense == -1, "parameter orientation is ", sense, ", expected 1 or -1");
  EncodingCase out = alone({"grape_ap",
                            {{"p_dim", static_cast<std::int64_t>(width)},
                             {"layout", layout},
                             {"orientation", std::string(sense == 1 ? "counter_clockwise" : "clockwise")},
                             {"norm_rows", norm_rows},
                             {"rms_eps", eps}},
                            {}});
  from.allow({"base"});  // of the turn, where there is one
  if (from.flag("rope", false))
    out.choice.encodings.push_back({"rope", {{"base", from.number("base", 10000)}, {"layout", layout}}, {}});
  out.learned = {{"w_p", "grape_ap.w_p"}};
  Probes const probes{width, sense, layout == "half", norm_rows, eps};
  out.own = [probes](CaseProbe const& at, Quantities& quantities) { edges_of(probes, at, quantities); };
  return out;
}

EncodingCase xpos(Parameters const& from) {
  double const scale_base = from.number("scale_base", 512), gamma = from.number("gamma", 0.4);
  double const center = from.number("center", 0);
  std::string const layout = from.word("layout", "interleaved");
  EncodingCase out =
      alone({"xpos",
             {{"layout", layout}, {"base", from.number("base", 10000)}, {"scale_base", scale_base}, {"gamma", gamma}},
             {}});
  // The operands are turned and not scaled: the sheet's carry zeta^(+-(p - center) / S).
  out.own = [=](CaseProbe const& at, Quantities& quantities) {
    std::size_t const length = at.length, dim = at.head_dim;
    for (auto const& [name, sign] : {std::pair{"out/q_rot", 1.0}, {"out/k_rot", -1.0}})
      for (std::size_t n = 0; auto& x : quantities.at(name)) {
        std::size_t const channel = n % dim, token = n / dim % length, b = n / (dim * length * at.heads);
        std::size_t const pair = layout == "half" ? channel % (dim / 2) : channel / 2;
        double const position = at.positions[(at.positions.size() > length ? b * length : 0) + token];
        double const zeta = (2.0 * pair / dim + gamma) / (1 + gamma);
        x *= std::pow(zeta, sign * (position - center) / scale_base);
        ++n;
      }
  };
  return out;
}
}  // namespace

std::optional<EncodingCase> path_case(CaseInput const& in) {
  if (in.method == "path") return path(in.from);
  if (in.method == "grape_ap") return grape_ap(in.from);
  if (in.method == "xpos") return xpos(in.from);
  return std::nullopt;
}

}  // namespace sextant::check
