#include <sextant/encoding/data_files.hpp>
#include <sextant/run/source.hpp>

namespace sextant::run {

Source load_source(spec::Data const& data, encoding::Registry const& registry, fs::path const& cache) {
  if (!data.task.empty()) return {{}, registry.make_task(data.task[0])};
  return {load_text(data, cache), nullptr};
}

plan::CorpusFacts source_facts(spec::Data const& data, encoding::Registry const& registry, fs::path const& cache) {
  if (data.task.empty()) return facts_of(data, cache);
  plan::CorpusFacts facts{.sha256 = encoding::sha256_of(encoding::data_files(registry, data.task[0]))};
  auto const task = registry.make_task(data.task[0]);
  facts.vocabulary = task->vocabulary();
  facts.row_length = [task](int length) { return task->row_length(length); };
  facts.longest = task->longest();
  if (task->places()) facts.reach = [task](int length) { return task->reach(length); };
  return facts;
}

}  // namespace sextant::run
