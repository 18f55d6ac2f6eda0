// Everything that one precision computes for a case of an encodings file, by the file's own names.
#pragma once
#include <sextant/check/encoding_case.hpp>
#include <sextant/check/layer.hpp>

namespace sextant::check {

/// Numbers of group/name, in its own shape. Empty when the group does not hold it.
Tensor tensor_of(results::Group const& group, std::string const& name);

template <class T>
Quantities run_encoding(results::Group const& group, EncodingCase const& what, encoding::Registry const& registry);

/// The two table cases: alibi_slope_table and t5_bucket_table.
Quantities run_table(results::Group const& group, std::string const& method, Parameters const& options,
                     encoding::Registry const& registry);
/// mask_table: the causal rule, a sliding window, and one with sinks.
Quantities run_mask_table(results::Group const& group, Parameters const& options, encoding::Registry const& registry);

}  // namespace sextant::check
