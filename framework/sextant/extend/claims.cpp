#include <sextant/claims/expression.hpp>
#include <sextant/extend/claims.hpp>
#include <sextant/extend/losses.hpp>

#include <algorithm>

namespace sextant::extend {
namespace {
spec::Evaluation evaluation(Work const& work, char const* name, std::vector<int> lengths,
                            std::vector<std::string> keep) {
  spec::Evaluation out;
  out.use = spec::Probe::lm_loss;
  out.name = name;
  out.lengths = std::move(lengths);
  out.windows = static_cast<int>(work.documents.size());
  out.keep = std::move(keep);
  return out;
}

std::string scaling_in(claims::Measured const& quantity) {
  for (auto const& where : quantity.where)
    if (where.dimension.text == "scaling") return where.label.text;
  return "";
}
}  // namespace

std::vector<spec::Arm> claimable(Work const& work) {
  std::string const tail = text("tail", work.settings.tail);
  spec::Arm out;
  out.label = work.subject.name;
  auto& evaluate = out.setting.evaluate;
  evaluate.push_back(evaluation(work, "lm_loss", work.settings.lengths, {"mean", tail}));
  bool const controlled = !stretched_lengths(work).empty();
  if (controlled) evaluate.push_back(evaluation(work, "window_control", stretched_lengths(work), {tail}));
  for (auto const& arm : work.arms) {
    spec::View view;
    view.label = arm.label;
    view.labels = {{"position.scaling", arm.label}};
    view.position = arm.position;
    view.evaluations = {"lm_loss"};
    if (controlled && &arm == &work.arms.front()) view.evaluations.emplace_back("window_control");
    out.views.push_back(std::move(view));
  }
  return {out};
}

claims::Claims about_documents(claims::Claims claims, std::vector<Arm> const& arms) {
  claims.sample = claims::Sample::documents;
  for (auto& claim : claims.list)
    for (auto const& quantity : claims::parse(claim.settled).measured)
      for (auto const& arm : arms) {
        if (arm.weights.empty() || arm.label != scaling_in(quantity)) continue;
        claim.missing =
            text(arm.label, " was trained once: these documents do not tell what another training would do");
        break;
      }
  for (auto& claim : claims.list)
    if (!claim.missing.empty()) claim.settled.clear();
  return claims;
}

}  // namespace sextant::extend
