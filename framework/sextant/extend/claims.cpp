#include <sextant/claims/expression.hpp>
#include <sextant/extend/claims.hpp>
#include <sextant/extend/losses.hpp>

#include <algorithm>

namespace sextant::extend {
namespace {
/// A measurement as a spec would say it; `windows` are documents.
spec::Evaluation evaluation(std::string name, std::vector<int> lengths, std::size_t windows,
                            std::vector<std::string> keep) {
  spec::Evaluation out;
  out.use = spec::Probe::lm_loss;
  out.name = std::move(name);
  out.lengths = std::move(lengths);
  out.windows = static_cast<int>(windows);
  out.keep = std::move(keep);
  return out;
}

/// The same of one that a run holds: its lengths, and the measures that are kept by document.
spec::Evaluation evaluation(std::string const& name, results::Group const& measured) {
  auto const lengths = measured.values<std::int64_t>("length");
  std::string const by_window = "_by_window";
  std::vector<std::string> keep;
  for (auto const& [array, values] : measured.arrays)
    if (array.ends_with(by_window)) keep.push_back(array.substr(0, array.size() - by_window.size()));
  return evaluation(name, {lengths.begin(), lengths.end()}, measured.values<std::int64_t>("window").size(),
                    std::move(keep));
}

spec::View view_of(std::string const& scaling) {
  spec::View out;
  out.label = scaling;
  out.labels = {{"position.scaling", scaling}};
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
  std::size_t const documents = work.documents.size();
  evaluate.push_back(evaluation("lm_loss", work.settings.lengths, documents, {"mean", tail}));
  bool const controlled = !stretched_lengths(work).empty();
  if (controlled) evaluate.push_back(evaluation("window_control", stretched_lengths(work), documents, {tail}));
  for (auto const& arm : work.arms) {
    spec::View view = view_of(arm.label);
    view.position = arm.position;
    view.evaluations = {"lm_loss"};
    if (controlled && &arm == &work.arms.front()) view.evaluations.emplace_back("window_control");
    out.views.push_back(std::move(view));
  }
  return {out};
}

std::vector<spec::Arm> claimable(results::Group const& study, std::string const& source) {
  auto const kind = study.attribute<std::string>("study", "");
  expect(kind.starts_with("extend-") || kind.starts_with("search-"), source,
         ": is no study of `sextant extend` or `sextant search`; claims of other studies stand in their specs, and "
         "`sextant run` judges them anew without measuring again");
  spec::Arm out;
  for (auto const& [id, run] : study.group("runs").groups) {
    auto const* const measured = run.find_group("eval");
    if (!measured) continue;
    out.label = run.attribute<std::string>("encoding");
    spec::View view = view_of(run.attribute<std::string>("scaling"));
    for (auto const& [name, group] : measured->groups) {
      if (!group.find_array("window")) continue;
      view.evaluations.push_back(name);
      auto const known = std::find_if(out.setting.evaluate.begin(), out.setting.evaluate.end(),
                                      [&, &name = name](auto const& each) { return each.name == name; });
      if (known == out.setting.evaluate.end()) out.setting.evaluate.push_back(evaluation(name, group));
    }
    out.views.push_back(std::move(view));
  }
  expect(!out.views.empty(), source, ": no run of it was measured");
  return {out};
}

std::vector<std::string> tuned_in(std::vector<Arm> const& arms) {
  std::vector<std::string> out;
  for (auto const& arm : arms)
    if (!arm.weights.empty()) out.push_back(arm.label);
  return out;
}

std::vector<std::string> tuned_in(results::Group const& study) {
  std::vector<std::string> out;
  for (auto const& [id, run] : study.group("runs").groups)
    if (!run.attribute<std::vector<std::string>>("parents", {}).empty())
      out.push_back(run.attribute<std::string>("scaling"));
  return out;
}

claims::Claims about_documents(claims::Claims claims, std::vector<std::string> const& tuned) {
  claims.sample = claims::Sample::documents;
  for (auto& claim : claims.list)
    for (auto const& quantity : claims::parse(claim.settled).measured)
      if (std::find(tuned.begin(), tuned.end(), scaling_in(quantity)) != tuned.end())
        claim.missing =
            text(scaling_in(quantity), " was trained once: these documents do not tell what another training would do");
  for (auto& claim : claims.list)
    if (!claim.missing.empty()) claim.settled.clear();
  return claims;
}

}  // namespace sextant::extend
