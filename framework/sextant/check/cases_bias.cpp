#include <sextant/check/cases.hpp>

namespace sextant::check {

std::optional<EncodingCase> bias_case(CaseInput const&) { return std::nullopt; }

}  // namespace sextant::check
