// Elements of one HDF5 dataset or attribute -> Values. Included by read.cpp only.
#pragma once
#include <sextant/results/hdf5.hpp>
#include <sextant/results/tree.hpp>

#include <functional>
#include <optional>
#include <string>

namespace sextant::results {

/// Reads all elements as `memory_type` to `into`; H5Dread or H5Aread.
using Read = std::function<herr_t(hid_t memory_type, void* into)>;

/// `count` elements of HDF5 type `type`, in the narrowest of Values that holds them all: any width of integer and float,
/// fixed and variable text, h5py's booleans. nullopt when Values has no place for the type. Throws Error, beginning with
/// `where`, when they cannot be read or a number does not fit.
std::optional<Values> read_values(std::size_t count, hid_t type, Read const& read, std::string const& where);

/// "a compound", "opaque bytes": what a type is that read_values does not read.
std::string kind(hid_t type);

}  // namespace sextant::results
