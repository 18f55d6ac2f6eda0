#include <sextant/check/cases.hpp>
#include <sextant/check/encoding_run.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Value;

Choice cope(std::int64_t npos, bool emb_scaled) { return {"cope", {{"npos", npos}, {"emb_scaled", emb_scaled}}, {}}; }

/// CoPE's positions before the clamp. With vectors e[n] = n along channel c, unscaled and enough of them, the term that
/// joins the logit is q_c times the position; each row is read off its largest channel.
void soft_position(CaseProbe const& probe, Quantities& out) {
  if (!probe.group.has_array("out/soft_position")) return;
  int const enough = probe.length + 1, dim = probe.head_dim;
  EncodingCase const what{{{cope(enough, false)}, {}, 0}, {{"pos_emb", "cope.pos_emb"}}};
  results::Group group = probe.group;
  group["in"].arrays.erase("loss_w");
  auto const query = group.numbers("in/q");
  auto& place = out["out/soft_position"];
  place.assign(query.size() / dim * probe.length, 0.0);
  for (int c = 0; c < dim; ++c) {
    std::vector<double> vectors(static_cast<std::size_t>(enough) * dim, 0.0);
    for (int n = 0; n < enough; ++n) vectors[static_cast<std::size_t>(n) * dim + c] = n;
    auto& array = group["par"].arrays["pos_emb"];
    array.shape = {static_cast<std::size_t>(enough), static_cast<std::size_t>(dim)};
    array.values = std::move(vectors);
    auto const added = run_encoding<double>(group, what, encoding::Registry::global()).at("out/bias");
    for (std::size_t row = 0; row < query.size() / dim; ++row) {
      double const* const q = query.data() + row * dim;
      auto const smaller = [](double a, double b) { return std::abs(a) < std::abs(b); };
      if (std::max_element(q, q + dim, smaller) != q + c) continue;
      for (int j = 0; j < probe.length; ++j) place[row * probe.length + j] = added[row * probe.length + j] / q[c];
    }
  }
}
}  // namespace

std::optional<EncodingCase> row_case(CaseInput const& in) {
  auto const& [method, from, heads, head_dim, learned] = in;
  EncodingCase out;
  if (method == "shaw") {
    bool const values = from.flag("use_values", learned("rel_v"));
    out = alone({"shaw", {{"max_rel", count_option(from, "max_rel", 16)}, {"use_values", values}}, {}});
    out.learned = {{"rel_k", "shaw.rel_k"}, {"rel_v", "shaw.rel_v"}};
  } else if (method == "transformer_xl") {
    out = alone({"transformer_xl", {{"base", from.number("base", 10000)}}, {}});
    if (int const width = from.whole("rel_dim", 0); width > 0)
      out.choice.encodings[0].options["rel_dim"] = static_cast<std::int64_t>(width);
    out.learned = {{"w_r", "transformer_xl.w_r"}, {"u", "transformer_xl.u"}, {"v_bias", "transformer_xl.v_bias"}};
  } else if (method == "cope") {
    out = alone(cope(from.whole("npos", 64), from.flag("emb_scaled", false)));
    out.learned = {{"pos_emb", "cope.pos_emb"}};
    out.own = soft_position;
  } else if (method == "dape") {
    out = alone({"dape", {{"base", from.word("base", "kerple")}, {"width", count_option(from, "width", 32)}}, {}});
    for (char const* name : {"w1", "b1", "w2", "b2", "r1", "r2"})
      out.learned.push_back({name, std::string("dape.") + name});
  } else {
    return std::nullopt;
  }
  return out;
}

}  // namespace sextant::check
