// Worlds to plan in: a made-up text, and plugins real or made up.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/plan/plan.hpp>
#include <sextant/run/source.hpp>

namespace sextant::test {

/// kjv has 4 000 000 bytes; there is no other text. Tasks are those of the build.
inline plan::CorpusFacts made_up_corpus(spec::Data const& data) {
  if (!data.task.empty()) return run::source_facts(data, encoding::Registry::global(), {});
  expect(data.corpus == "kjv", "there is no text ", data.corpus, "; known: kjv");
  return {.sha256 = std::string(64, 'a'),
          .train = std::llround(4e6 * data.split.train),
          .test = std::llround(4e6 * data.split.test)};
}

/// The plugins of the build.
inline plan::World world_with_plugins() {
  return plan::world_of(encoding::Registry::global(), made_up_corpus, {.gflops = 60, .memory = 16e9});
}

/// Nothing of the machine: plugins hash to their names and add no parameters.
inline plan::World made_up_world() {
  plan::World world;
  world.corpus = made_up_corpus;
  world.plugin_sha256 = [](encoding::Role, std::string const& name) { return "sha of " + name; };
  world.position = [](spec::Model const&, encoding::PositionChoice const&, int) { return plan::PositionFacts{}; };
  world.machine = {.gflops = 100, .memory = 0};
  return world;
}

}  // namespace sextant::test
