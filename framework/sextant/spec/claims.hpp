// The `claims` block: read by itself, then held against the arms and measurements of the spec and its tiers.
#pragma once
#include <sextant/claims/claim.hpp>
#include <sextant/spec/field.hpp>
#include <sextant/spec/spec.hpp>

#include <filesystem>
#include <string>
#include <vector>

namespace sextant::spec {

/// Which tier has what a claim is about.
enum class Reach {
  automatic,  ///< the chosen one if it can; else another of this spec must
  here,
  elsewhere,  ///< none of this spec: resolved specs say so of claims that only other tiers can test; names go unchecked
};

/// One item of `claims.list`.
struct ClaimItem {
  std::string id, says, test, margin, source;
  claims::By by = claims::By::paired_bootstrap;
  Reach reach = Reach::automatic;

  std::string path;  ///< claims.list.3
  Node test_node, margin_node;
};

struct ClaimsBlock {
  double family_error = 0.05;
  std::vector<ClaimItem> items;
};

std::vector<Field<ClaimsBlock>> const& claims_fields();
std::vector<Field<ClaimItem>> const& claim_fields();

/// Reads the block without looking names up. A null node is a block without claims.
ClaimsBlock read_claims(Node const& node, Reading& reading);

/// What tests may name: the arms of a tier.
using Arms = std::vector<Arm>;

/// The block's claims with the arms of every quantity settled. Names are looked for in `here`, the tier that runs, then
/// in the `others`, which are made when they are needed; `source` is the text of the spec, for exact columns. Throws Error with the place of the word that is
/// wrong: syntax, a name that no tier knows, units that do not fit, a margin that a relation needs. `items[i].reach` is
/// settled too.
claims::Claims settle_claims(ClaimsBlock& block, Arms const& here, std::function<std::vector<Arms>()> const& others,
                             std::string const& source);

/// The claims of a file that holds a `claims` block and nothing else, held against `arms`. Throws Error as above.
claims::Claims load_claims(std::filesystem::path const& file, Arms const& arms, Catalogue const& catalogue);

/// The block as YAML that reads back to the same claims; "" when there are none.
std::string write_claims(ClaimsBlock const& block, Reading const& reading);

}  // namespace sextant::spec
