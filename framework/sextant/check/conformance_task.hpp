// The conformance suite on a task: rows as declared, answers that follow from the questions.
#pragma once
#include <sextant/check/conformance.hpp>

namespace sextant::check {

/// Names of its checks, in the order of the table.
std::vector<std::string> task_checks();
/// Runs them, or those of settings.only, on every example of the plugin. Throws Error when there is no such plugin or check.
Conformance check_task(encoding::Registry const& registry, std::string const& name,
                       ConformanceSettings const& settings);

}  // namespace sextant::check
