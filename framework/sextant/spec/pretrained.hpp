// model.from: keys that a pretrained model gives in place of the spec.
#pragma once
#include <sextant/spec/field.hpp>
#include <sextant/spec/spec.hpp>

#include <optional>

namespace sextant::spec {

struct Document;

/// What a pretrained model settles.
struct Pretrained {
  Model model;                        ///< with its hashes and vocabulary; `from` is left to the spec
  encoding::PositionChoice position;  ///< as published; trained_length is set
};

/// The model that model.from names; empty when it names none. Throws Error with the place when there is no such model.
std::optional<Pretrained> pretrained_of(Node const& root, Catalogue const& catalogue);

/// The tree with what the model gives in place of what is absent or auto.
Node with_pretrained(Node const& root, Pretrained const& model, Reading& reading);

/// Takes what a spec cannot say. Throws Error for a key that says other than the model.
void take_pretrained(Document& document, Node const& root, Pretrained const& model, Reading& reading);

}  // namespace sextant::spec
