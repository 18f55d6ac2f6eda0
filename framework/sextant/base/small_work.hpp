#pragma once
#include <cstdint>

namespace sextant {

/// Operations below which a host's threads are not worth their start and the wait for the last of them: a token decoded
/// alone has some 400 such loops, and on a machine with other work each wait can last a time slice of its scheduler.
inline constexpr std::int64_t small_work = 1 << 14;

}  // namespace sextant
