// The reference formats, one reader each. They add one VerifyCase for every case of the file.
#pragma once
#include <sextant/check/verify.hpp>
#include <sextant/results/tree.hpp>

#include <sextant/base/json.hpp>

#include <functional>

namespace sextant::check {

void verify_scaling(nlohmann::json const& file, encoding::Registry const& registry, VerifyReport& report);
void verify_rotation(results::Group const& file, encoding::Registry const& registry, VerifyReport& report);
void verify_encodings(results::Group const& file, encoding::Registry const& registry, VerifyReport& report);
void verify_model(nlohmann::json const& file, VerifyOptions const& options, encoding::Registry const& registry,
                  VerifyReport& report);

/// Runs one case and adds it: what `body` throws becomes its note, and it fails.
void add_case(VerifyReport& report, std::string name, std::string method, std::function<void(VerifyCase&)> const& body);
/// The same for every group of an HDF5 file, a case each, whose attribute `method` must be there.
void add_group_cases(results::Group const& file, VerifyReport& report,
                     std::function<void(results::Group const&, VerifyCase&)> const& body);
/// Marks a case as missing a plugin or a translation.
void mark_missing(VerifyCase& out, std::string const& plugin);

}  // namespace sextant::check
