// The format of a spec as tables of fields: the one place that says which keys exist and what they may hold.
#pragma once
#include <sextant/spec/field.hpp>
#include <sextant/spec/spec.hpp>

#include <string>
#include <vector>

namespace sextant::spec {

inline constexpr int schema_version = 1;

/// What a spec holds apart from `tiers` and `vary`.
struct Document {
  int version = 0;
  Spec head;
  Setting setting;
};

/// The whole spec but `tiers` and `vary`, in the order in which it is written.
std::vector<Field<Document>> const& document_fields();
/// One item of `evaluate`.
std::vector<Field<Evaluation>> const& evaluation_fields();

/// A key handled apart from the tables, for messages and the reference.
struct SpecialKey {
  std::string name, expectation, help;
};
std::vector<SpecialKey> const& special_keys();
/// The keys of one item of `vary`.
std::vector<SpecialKey> const& vary_keys();
/// Keys that the format will have and this program refuses until then.
std::vector<std::string> const& coming_keys();

inline std::vector<std::string> const tier_names = {"smoke", "small", "article"};

/// Reads the document part of a spec. Throws Error for every fault.
Document read_document(Node const& root, Reading& reading);

}  // namespace sextant::spec
