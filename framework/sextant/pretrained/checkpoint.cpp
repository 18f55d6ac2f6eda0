#include <sextant/base/error.hpp>
#include <sextant/model/trainer.hpp>
#include <sextant/pretrained/checkpoint.hpp>
#include <sextant/pretrained/note.hpp>
#include <sextant/pretrained/safetensors_files.hpp>

namespace sextant::pretrained {
namespace {
constexpr char const* note_key = "pretrained";
}

nlohmann::ordered_json note_of(Description const& description, std::optional<tokens::Vocabulary> const& vocabulary) {
  nlohmann::ordered_json note = {{note_key, to_json(description)}};
  if (vocabulary) note["vocabulary"] = to_json(*vocabulary);
  return note;
}

void write_checkpoint(fs::path const& path, Source const& source, encoding::Registry const& registry) {
  auto const note = note_of(source.description, source.vocabulary);
  auto const model = load<float>(source, position_of(source.description, registry));
  model::save_parameters(path, model, note.dump());
}

std::optional<Source> open_checkpoint(fs::path const& path) {
  auto const file = std::make_shared<model::Safetensors const>(path);
  auto const found = file->metadata().find("note");
  if (found == file->metadata().end()) return std::nullopt;
  auto const note = nlohmann::ordered_json::parse(found->second, nullptr, false);
  if (!note.is_object() || !note.contains(note_key)) return std::nullopt;
  try {
    Source out{path.string(),
               "checkpoint",
               description_from(note[note_key]),
               std::make_shared<SafetensorsFiles>(file, path),
               std::nullopt,
               ""};
    if (note.contains("vocabulary"))
      out.vocabulary = vocabulary_from(note["vocabulary"]);
    else
      out.no_vocabulary = "the model was imported without a tokenizer";
    return out;
  } catch (nlohmann::json::exception const& error) {
    fail(path.string(), ": the note on the imported model is not as expected: ", error.what());
  }
}

}  // namespace sextant::pretrained
