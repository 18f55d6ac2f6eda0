// Group trees to and from HDF5 files. This room is the only one that knows HDF5.
//
// What is written reads in h5py, h5ls, xarray and HDFView without plugins: numbers in chunks of about 64 KiB with
// shuffle, deflate and checksum (fletcher32), texts as UTF-8 of any length, units and long_name on every array,
// booleans as h5py's, coordinates attached as dimension scales, no time stamps: equal trees give equal bytes.
#pragma once
#include <sextant/base/file.hpp>
#include <sextant/results/tree.hpp>

namespace sextant::results {

/// The whole file. Reads what anybody wrote as long as it is numbers, booleans and text; other things are listed in
/// Group::unread. Throws Error naming the file when it is missing, not HDF5, cut short, damaged or locked.
Group read_file(fs::path const& path);

/// One group of the file and all below it, e.g. "summary/results". Throws Error also when there is no such group.
Group read_group(fs::path const& path, std::string const& inside);

/// Names of the groups and arrays in one group of the file; "" is the root.
std::vector<std::string> list(fs::path const& path, std::string const& inside = "");

/// Writes the file aside and renames it over `path`: whoever reads sees the old file or the new one, whole. NaN without
/// a reason gets one. Throws Error (a full disk, a text with a NUL, an axis that does not exist); the old file stays.
void write_file(fs::path const& path, Group const& root);

}  // namespace sextant::results
