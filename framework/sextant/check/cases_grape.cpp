// GRAPE's forms beyond a fixed turn and a fixed gate: phases that tokens add up, and the joint lift.
#include <sextant/base/error.hpp>
#include <sextant/check/cases.hpp>

namespace sextant::check {
namespace {
using encoding::Options;

EncodingCase phase_modulated(Parameters const& from) {
  EncodingCase out = alone({"grape_a_phase", {{"exclusive", from.flag("exclusive", false)}}, {}});
  out.learned = {{"w_omega", "grape_a_phase.omega_weight"},
                 {"b_omega", "grape_a_phase.omega_bias"},
                 {"theta_raw", "grape_a_phase.theta_raw"}};
  return out;
}

EncodingCase contextual(Parameters const& from) {
  EncodingCase out = alone({"grape_m_ctx",
                            {{"gate", from.word("gate", "softplus")},
                             {"gate_scale", from.number("gate_scale", 1)},
                             {"per_head_phase", from.flag("per_head_phase", false)},
                             {"per_head_freq", from.flag("per_head_freq", false)},
                             {"base", from.number("base", 10000)},
                             {"layout", from.word("layout", "interleaved")},
                             {"orientation", sense_of(from)},
                             {"log_freq_scale", from.number("log_freq_scale", 1)}},
                            {}});
  out.learned = {{"w_omega", "grape_m_ctx.omega_weight"},
                 {"b_omega", "grape_m_ctx.omega_bias"},
                 {"log_freq", "grape_m_ctx.log_freq"}};
  out.own = [](CaseProbe const& at, Quantities& quantities) { quantities["out/phi"] = at.gate(0); };
  return out;
}

/// out/q_lift = [s R q; 1; bias against position 0], out/k_lift = [R k; bias of a query at 0; 1].
void lifts(CaseProbe const& at, Quantities& out) {
  auto const& term = at.position.terms().front();
  double const scale = at.group.attribute<double>("scale", 0.0);
  auto const beta = at.group.numbers("par/beta");
  auto const bias = [&](int h, double query, double key) {
    return term.encoding->bias_at(term.shape, &beta[h], {h, at.heads}, query, key, nullptr, nullptr);
  };
  auto const &q = out.at("out/q_rot"), &k = out.at("out/k_rot");
  auto &query = out["out/q_lift"], &key = out["out/k_lift"];
  std::size_t channel = 0;
  for (int b = 0; b < at.batch; ++b)
    for (int h = 0; h < at.heads; ++h)
      for (int i = 0; i < at.length; ++i) {
        double const p = at.positions[at.positions.size() > std::size_t(at.length) ? b * at.length + i : i];
        for (int c = 0; c < at.head_dim; ++c, ++channel) {
          query.push_back(scale * q[channel]);
          key.push_back(k[channel]);
        }
        query.insert(query.end(), {1, bias(h, p, 0)});
        key.insert(key.end(), {bias(h, 0, p), 1});
      }
}

EncodingCase joint(Parameters const& from) {
  EncodingCase out = alone({"grape_joint", {{"base", from.number("base", 10000)}}, {}});
  out.learned = {{"beta", "grape_joint.beta"}};
  out.own = lifts;
  return out;
}
}  // namespace

std::optional<EncodingCase> grape_case(CaseInput const& in) {
  if (in.method == "grape_a_phase") return phase_modulated(in.from);
  if (in.method == "grape_m_ctx") return contextual(in.from);
  if (in.method == "grape_joint_gl") return joint(in.from);
  return std::nullopt;
}

}  // namespace sextant::check
