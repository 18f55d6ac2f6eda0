// Claims about a model that is given: what they may name, and what they are about.
#pragma once
#include <sextant/extend/extend.hpp>
#include <sextant/spec/spec.hpp>

namespace sextant::extend {

/// The measures that are kept by document, as a spec would say it: the subject is the one arm, under a view for each list of
/// scalings that it is read with.
std::vector<spec::Arm> claimable(Work const& work);

/// Makes documents the sample. A claim about a model that was tuned gets a reason in place of a test: one tuning says nothing
/// of another.
claims::Claims about_documents(claims::Claims claims, std::vector<Arm> const& arms);

}  // namespace sextant::extend
