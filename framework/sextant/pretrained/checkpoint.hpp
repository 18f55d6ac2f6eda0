// An imported model in Sextant's own form: the parameters of a checkpoint, with what the file said in its note.
#pragma once
#include <sextant/pretrained/source.hpp>

#include <nlohmann/json_fwd.hpp>

namespace sextant::pretrained {

/// The note: JSON that holds the description, and the vocabulary where there is one. `extend`, `import` and
/// specs read a checkpoint of training that bears it as they read an imported model.
nlohmann::ordered_json note_of(Description const& description, std::optional<tokens::Vocabulary> const& vocabulary);

/// One safetensors file as Trainer::save() writes it, without moments; load_parameters() reads it. The note is JSON: the
/// description, and the vocabulary where there is one. Written atomically.
void write_checkpoint(fs::path const& path, Source const& source, encoding::Registry const& registry);

/// The source that such a file is again; nothing for any other safetensors file.
std::optional<Source> open_checkpoint(fs::path const& path);

}  // namespace sextant::pretrained
