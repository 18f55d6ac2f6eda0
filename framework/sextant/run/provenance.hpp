// What this program writes of itself into every study file.
#pragma once
#include <sextant/encoding/registry.hpp>
#include <sextant/results/provenance.hpp>

#include <string>
#include <vector>

namespace sextant::run {

/// Machine, compiler, sources, threads; finished now. Plugins and inputs are the caller's.
results::Provenance program_provenance(std::string const& command_line, std::string const& started);

/// Every plugin that these position blocks and tasks name, once: encodings, scalings, tasks.
void add_plugins(results::Provenance& provenance, std::vector<encoding::PositionChoice> const& positions,
                 std::vector<encoding::Choice> const& tasks, encoding::Registry const& registry);

}  // namespace sextant::run
