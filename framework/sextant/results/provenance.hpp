// Where a study's numbers come from: program, machine, sources, plugins and inputs.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/results/tree.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace sextant::results {

struct LibraryFact {
  std::string name, version;
};
struct PluginFact {
  std::string name, version, abi, sha256, origin;  ///< origin: built in, install prefix, path ...
  std::string source;                              ///< the paper it states
};
struct InputFact {
  std::string name, kind;  ///< kind: corpus, checkpoint ...
  std::int64_t bytes = 0;
  std::string sha256, licence;
};

struct Provenance {
  std::string commit = "unknown", diff;  ///< diff: text of uncommitted changes
  bool dirty = false;
  std::string compiler, flags, kokkos_version, backend, device;
  int threads = 0;
  std::string cpu, os;
  std::int64_t memory = 0;  ///< bytes in the machine
  std::string command_line;
  std::string started, finished;  ///< ISO 8601
  std::string generator = "philox";
  std::vector<LibraryFact> libraries;
  std::vector<PluginFact> plugins;
  std::vector<InputFact> inputs;
};

/// This moment as 2026-11-29T20:13:00Z.
std::string now_iso8601();

/// Fills cpu, os, memory, compiler, started (now) and the HDF5 library; the rest is the caller's.
Provenance this_machine();

/// Fills commit, dirty and diff from the git checkout at `source`; leaves them alone when that is none.
void add_source_state(Provenance& provenance, fs::path const& source);

/// provenance/ of a study file: attributes, and libraries/, plugins/ and inputs/ as columns.
Group to_group(Provenance const& provenance);

}  // namespace sextant::results
