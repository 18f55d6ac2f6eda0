// What a spec's `data` block names: a text in tokens, or a task whose examples are drawn.
#pragma once
#include <sextant/encoding/task.hpp>
#include <sextant/run/text.hpp>

#include <memory>
#include <optional>

namespace sextant::run {

/// One of the two.
struct Source {
  std::optional<tasks::TokenText> text;
  std::shared_ptr<encoding::Task const> task;
};
Source load_source(spec::Data const& data, encoding::Registry const& registry, fs::path const& cache);

/// What a plan needs to know of it.
plan::CorpusFacts source_facts(spec::Data const& data, encoding::Registry const& registry, fs::path const& cache);

}  // namespace sextant::run
