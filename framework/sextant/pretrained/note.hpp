// What a checkpoint says of the model that was imported, as JSON.
#pragma once
#include <sextant/pretrained/source.hpp>

#include <sextant/base/json.hpp>

namespace sextant::pretrained {

nlohmann::ordered_json to_json(Description const& description);
nlohmann::ordered_json to_json(tokens::Vocabulary const& vocabulary);
/// Throw nlohmann's exception for a key that is absent or of another kind.
Description description_from(nlohmann::ordered_json const& json);
tokens::Vocabulary vocabulary_from(nlohmann::ordered_json const& json);

}  // namespace sextant::pretrained
