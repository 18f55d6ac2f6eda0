// An imported model in Sextant's own form: the parameters of a checkpoint, with what the file said in its note.
#pragma once
#include <sextant/pretrained/source.hpp>

namespace sextant::pretrained {

/// One safetensors file as Trainer::save() writes it, without moments; load_parameters() reads it. The note is JSON: the
/// description, and the vocabulary where there is one. Written atomically.
void write_checkpoint(fs::path const& path, Source const& source, encoding::Registry const& registry);

/// The source that such a file is again; nothing for any other safetensors file.
std::optional<Source> open_checkpoint(fs::path const& path);

}  // namespace sextant::pretrained
