// Which tensor of a file is which parameter of a model.
#pragma once
#include <sextant/pretrained/description.hpp>

namespace sextant::pretrained {

/// What the file calls a parameter ("layers.3.attention.query.weight"). Throws Error where no file has such a parameter.
std::string stored_name(Naming naming, std::string const& parameter);

}  // namespace sextant::pretrained
