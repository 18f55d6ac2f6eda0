// A pretrained model on disk, of any form that is read here, and the model made of it.
#pragma once
#include <sextant/model/model.hpp>
#include <sextant/pretrained/description.hpp>
#include <sextant/tokens/vocabulary.hpp>

#include <memory>
#include <optional>

namespace sextant::pretrained {

/// Opened and described; the weights stay in the mapped files until load().
struct Source {
  std::string path;
  std::string format;  ///< "GGUF 3", "safetensors", "checkpoint"
  Description description;
  std::shared_ptr<TensorFile const> weights;
  std::optional<tokens::Vocabulary> vocabulary;  ///< absent: there is none that is read here
  std::string no_vocabulary;                     ///< then: why
};

/// A GGUF file, a folder with config.json, safetensors and perhaps tokenizer.json, or a checkpoint that `import` wrote. Throws Error where any part
/// of it is not as expected, and for models that compute what a model here does not.
Source open_source(fs::path const& path, encoding::Registry const& registry);

/// SHA-256 of a model's file; of a folder, over names and hashes of the files in it that make the model: its configuration,
/// weights with their index, and tokenizer.
std::string sha256_of_model(fs::path const& path);
/// Bytes of the same files.
std::int64_t bytes_of(fs::path const& path);

/// The position block of the model: as published, or another in its place. `target_length` is what scalings told `auto` go by.
std::shared_ptr<encoding::Position const> position_of(
    Description const& description, encoding::Registry const& registry,
    std::optional<encoding::PositionChoice> const& choice = std::nullopt, double target_length = 0);

/// The model with its weights, in float or double. Every parameter is found in the file with its shape, and every tensor of
/// the file is a parameter: Throws Error naming what is missing, too many or of another shape. What `position` trains starts
/// from `seed`.
template <class T>
model::Model<T> load(Source const& source, std::shared_ptr<encoding::Position const> position, std::uint64_t seed = 0);

}  // namespace sextant::pretrained
