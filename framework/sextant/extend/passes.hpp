// One pass of a model over one text.
#pragma once
#include <sextant/extend/extend.hpp>

namespace sextant::extend {

/// The position block of an arm, for sequences of up to `length` tokens.
std::shared_ptr<encoding::Position const> position_of(Work const& work, Arm const& arm, int length);

/// The subject's weights under an arm, for sequences of up to `length` tokens.
run::Network seen_by(Work const& work, Arm const& arm, int length);

/// Loss in nat of tokens[1], tokens[2], ...: one less than there are tokens.
std::vector<double> losses(Exec const& exec, run::Network& network, std::span<std::int32_t const> tokens);

}  // namespace sextant::extend
