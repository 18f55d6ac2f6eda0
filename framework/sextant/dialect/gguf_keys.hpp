// GGUF metadata as text, and what its architectures imply for a rotation.
#pragma once
#include <sextant/dialect/form.hpp>
#include <sextant/spec/node.hpp>

namespace sextant::dialect {

/// `key = value` lines, # begins a comment, the columns that gguf_dump.py puts before a key are passed over, a value in
/// brackets is a list; or a JSON object of keys, or of {"metadata": {key: {"value": v}}}.
spec::Node gguf_entries(std::string const& text, std::string const& source);
/// The tensors of a file that divide frequencies: Llama 3's one list, LongRoPE's two. In text they stand among the keys.
inline constexpr char const *one_list = "rope_freqs.weight", *short_list = "rope_factors_short.weight",
                            *long_list = "rope_factors_long.weight";

/// Whether llama.cpp turns channels (2f, 2f + 1) in files of this architecture; unknown ones are taken to be half.
bool gguf_turns_neighbours(std::string const& architecture);

std::string why_not_in_llamacpp(std::string const& scaling);
void expect_llamacpp_knows(Choice const& scaling);

}  // namespace sextant::dialect
