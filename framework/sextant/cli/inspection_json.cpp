#include <sextant/cli/inspection.hpp>

#include <sextant/base/json.hpp>

#include <cmath>

namespace sextant::cli {
namespace {
using nlohmann::json;

// JSON has no infinity: the word stands for it.
json json_number(double x) { return std::isfinite(x) ? json(x) : json(std::isnan(x) ? "nan" : x > 0 ? "inf" : "-inf"); }
json numbers(std::vector<double> const& all) {
  json out = json::array();
  for (double x : all) out.push_back(json_number(x));
  return out;
}
json lists(std::vector<std::vector<double>> const& all) {
  json out = json::array();
  for (auto const& list : all) out.push_back(numbers(list));
  return out;
}
json complex_list(std::vector<std::complex<double>> const& all) {
  json out = json::array();
  for (auto const& z : all) out.push_back({json_number(z.real()), json_number(z.imag())});
  return out;
}

json to_json(inspect::Wavelengths const& w) {
  json out{{"term", w.label},
           {"head", w.head},
           {"per_head", w.per_head},
           {"attention_factor", w.attention_factor},
           {"note", w.note},
           {"never_completed", w.never_completed},
           {"mean_unseen", w.mean_unseen}};
  out["pairs"] = json::array();
  for (auto const& p : w.pairs)
    out["pairs"].push_back({{"axis", p.axis},
                            {"pair", p.pair},
                            {"inv_freq", p.inv_freq},
                            {"plain_inv_freq", p.plain},
                            {"wavelength", json_number(p.wavelength)},
                            {"trained_turns", p.trained_turns},
                            {"completed", p.completed},
                            {"unseen_share", p.unseen_share}});
  return out;
}
json to_json(inspect::Decay const& d) {
  return {{"distance", numbers(d.distance)},
          {"content", lists(d.content)},
          {"bias", lists(d.bias)},
          {"draws", d.draws},
          {"standard_error", d.standard_error}};
}
json to_json(inspect::BiasProfile const& b) {
  json out{{"distance", numbers(b.distance)}, {"near", b.near}, {"heads", json::array()}};
  for (auto const& h : b.heads)
    out["heads"].push_back({{"head", h.head},
                            {"value", numbers(h.value)},
                            {"per_token", json_number(h.per_token)},
                            {"reach", json_number(h.reach)},
                            {"share_of_attention", h.share_of_attention},
                            {"effective_rank", h.effective_rank}});
  return out;
}
json to_json(inspect::Spectrum const& s) {
  json out{{"head", s.head},
           {"step", complex_list(s.step)},
           {"generator", complex_list(s.generator)},
           {"radius", s.radius},
           {"relative_residual", s.relative_residual},
           {"content_residual", s.content_residual},
           {"bias_residual", json_number(s.bias_residual)},
           {"growth", json::array()}};
  for (auto const& g : s.growth)
    out["growth"].push_back({{"power", g.power}, {"content", g.content}, {"norm", g.whole}, {"least", g.least}});
  if (s.bias)
    out["lift"] = {{"s", s.lift_s},
                   {"measured", {s.lift_measured[0], s.lift_measured[1]}},
                   {"lemma", {s.lift_lemma[0], s.lift_lemma[1]}}};
  return out;
}
json to_json(inspect::TableView const& t) {
  return {{"term", t.label},
          {"rows", t.rows},
          {"channels", t.channels},
          {"table_length", t.table_length},
          {"fit_residual", t.fit_residual},
          {"held_out_residual", t.held_out_residual},
          {"step", complex_list(t.step)},
          {"effective_rank", t.effective_rank},
          {"distance", numbers(t.distance)},
          {"similarity", numbers(t.similarity)}};
}
json to_json(inspect::RotaryRank const& r) {
  return {{"term", r.label},
          {"head", r.head},
          {"out_of", r.out_of},
          {"at_length", r.at_length},
          {"at_trained", r.at_trained}};
}
json to_json(inspect::Precision const& p) {
  json out{{"term", p.label}, {"quantity", p.quantity}, {"lines", json::array()}};
  for (auto const& line : p.lines)
    out["lines"].push_back({{"format", name_of(line.format)},
                            {"way", name_of(line.way)},
                            {"position", numbers(line.position)},
                            {"error", numbers(line.error)},
                            {"worst", json_number(line.worst)}});
  return out;
}
json to_json(inspect::Cost const& c) {
  json out{{"cache_bytes_per_token", c.cache_bytes_per_token},
           {"parameters", c.parameters},
           {"uncounted", c.uncounted},
           {"lengths", json::array()}};
  for (auto const& at : c.lengths) {
    json memory = json::object();
    for (auto const& m : at.memory) memory[m.name] = m.bytes;
    out["lengths"].push_back({{"length", at.length},
                              {"bytes", at.bytes},
                              {"memory", memory},
                              {"flop", at.flop},
                              {"attention_flop", at.attention_flop}});
  }
  return out;
}

template <class T>
json to_json(std::vector<T> const& all) {
  json out = json::array();
  for (auto const& one : all) out.push_back(to_json(one));
  return out;
}
template <class T>
json found_or_why(inspect::Finding<T> const& finding) {
  return finding ? to_json(*finding.value) : json{{"does_not_apply", finding.why_not}};
}
}  // namespace

json inspection_json(Inspection const& found) {
  auto const& shape = found.subject.shape();
  return {{"encoding", found.encoding},
          {"scaling", found.scaling},
          {"length", found.subject.length()},
          {"trained", found.subject.trained()},
          {"heads", shape.heads},
          {"kv_heads", shape.kv_heads},
          {"head_width", shape.head_dim},
          {"width", shape.model_dim},
          {"seed", found.subject.seed()},
          {"starting_values", found.subject.has_weights()},
          {"wavelengths", found_or_why(found.wavelengths)},
          {"expected_logit", found_or_why(found.expected_logit)},
          {"bias", found_or_why(found.bias)},
          {"spectrum", found_or_why(found.spectrum)},
          {"tables", found_or_why(found.tables)},
          {"rotary_rank", found_or_why(found.rank)},
          {"precision", found_or_why(found.precision)},
          {"cost", to_json(found.cost)}};
}

}  // namespace sextant::cli
