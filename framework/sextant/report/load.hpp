// From a results file (schema sextant-results/1) to what the report works on.
#pragma once
#include <sextant/report/study.hpp>

namespace sextant::report {

/// Reads a study file. Only summary/results and runs/ are needed: what else is absent stays empty. Besides the fixed
/// layout, these attributes of the root are used where they exist: question, tier, baseline (texts), trained_length
/// (int, tokens), sources (texts); the trained length is otherwise taken from the runs' config (train.length) when all
/// agree. Throws Error naming the file and what is missing or of another type.
StudyView load_study(fs::path const& path);

}  // namespace sextant::report
