// `sextant verify FILE`: holds the plugins, as a user gets them, to reference numbers that others computed.
#pragma once
#include <sextant/encoding/registry.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::check {

enum class Verdict { pass, fail, missing };
char const* word(Verdict verdict);

struct VerifyCase {
  std::string name, method;
  std::string what;      ///< the quantity nearest to its bound, or furthest past it: "float32 grad/q"; empty: none
  double error = 0;      ///< largest error of that quantity; relative for inv_freq and attention_factor
  double tolerance = 0;  ///< what that error may be; of the element where it occurs
  Verdict verdict = Verdict::fail;
  std::string note;  ///< why it failed or is missing
};

struct VerifyReport {
  std::string file, format;
  std::vector<VerifyCase> cases;

  int count(Verdict verdict) const;
  /// True only when every case passed: what the exit code of `sextant verify` says.
  bool passed() const;
  /// Case, worst quantity, largest error, tolerance, verdict; then the counts. `errors_only` leaves out what passed.
  std::string table(bool errors_only = false) const;
  /// {"file", "format", "passed", "counts": {...}, "cases": [{"name", "method", "what", "error", ...}]}
  std::string json() const;
};

/// For the numbers of a pretrained model.
struct VerifyOptions {
  std::filesystem::path model;  ///< its file; empty: the one in `cache` that has the SHA-256 that the numbers name
  std::filesystem::path cache;
  bool exact = false;  ///< logits in float64 too, at a tenth of the speed
  bool bf16 = false;   ///< logits and losses in bf16 too, to bounds that its rounding explains
};

/// Reads reference files of the formats sextant-scaling and sextant-smollm2 (JSON), sextant-rotation and sextant-encodings
/// (HDF5); docs/verify.md describes them. Everything is computed from positions, queries, keys and parameters of the file through
/// the registry's plugins and the kernels a model uses, in float64 and in float32. A case that cannot be computed
/// fails with a note; a method without plugin is `missing`. Throws Error when the file as a whole is unusable.
VerifyReport verify(std::string const& path, encoding::Registry const& registry = encoding::Registry::global(),
                    VerifyOptions const& options = {});

}  // namespace sextant::check
