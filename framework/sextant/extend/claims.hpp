// Claims about a model that is given: what they may name, and what they are about.
#pragma once
#include <sextant/extend/extend.hpp>
#include <sextant/spec/spec.hpp>

namespace sextant::extend {

/// The measures that are kept by document, as a spec would say it: the subject is the one arm, under a view for each list of
/// scalings that it is read with.
std::vector<spec::Arm> claimable(Work const& work);
/// The same of a study file that `extend` or `search` wrote. Throws Error, with `source` in it, for any other.
std::vector<spec::Arm> claimable(results::Group const& study, std::string const& source);

/// Makes documents the sample. A claim about a model that was tuned gets a reason in place of a test: one tuning says nothing
/// of another.
claims::Claims about_documents(claims::Claims claims, std::vector<std::string> const& tuned);
/// Labels of the arms whose weights were tuned.
std::vector<std::string> tuned_in(std::vector<Arm> const& arms);
std::vector<std::string> tuned_in(results::Group const& study);

}  // namespace sextant::extend
