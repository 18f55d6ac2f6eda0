// A passkey in a text: a sentence that tells five digits at some depth, and a question at the end.
#pragma once
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace sextant::tasks {

/// The words around the key.
std::string passkey_told(int key);
std::string passkey_asked();
std::string passkey_answer(int key);

/// `hay` with `told` inserted after the share `depth` of it, then the question and the answer.
std::vector<std::int32_t> hide(std::span<std::int32_t const> hay, double depth, std::vector<std::int32_t> const& told,
                               std::vector<std::int32_t> const& asked, std::vector<std::int32_t> const& answer);

}  // namespace sextant::tasks
