#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/spec/check.hpp>
#include <sextant/spec/claim_names.hpp>
#include <sextant/spec/claims.hpp>
#include <sextant/spec/fault.hpp>
#include <sextant/spec/table.hpp>
#include <sextant/spec/yaml.hpp>

#include <algorithm>

namespace sextant::spec {
namespace {
using claims::Fault;

class Settler {
 public:
  Settler(Arms const& here, std::function<std::vector<Arms>()> const& others, std::string const& source)
      : here_(here), make_others_(others), source_(source) {}

  claims::Claim claim(ClaimItem& item) {
    claims::Claim out{.id = item.id, .says = item.says, .source = item.source, .test = item.test, .by = item.by};
    claims::Test test;
    try {
      test = claims::parse(item.test);
      Found const found = find(item, test);
      out.settled = found.settled;
      out.missing = found.missing;
      out.margin = margin(item, test, found.units);
      if (item.margin.empty())
        item.margin = text(out.margin.value, out.margin.units == "1" ? "" : " " + out.margin.units);
    } catch (Fault const& fault) {
      refuse(item, fault);
    }
    check_margin(item, test, out.margin);
    return out;
  }

 private:
  struct Found {
    std::string settled, missing, units;
  };

  [[noreturn]] void refuse(ClaimItem const& item, Fault const& fault) const {
    spec::refuse(item.test_node, below(item.path, "test"), fault, source_);
  }

  static Found look_up(claims::Test const& test, Arms const& arms, claims::By by) {
    std::vector<std::string> texts, units;
    std::optional<Settled> first;
    for (auto const& quantity : test.measured) {
      Settled settled = settle(quantity, arms);
      if (!first) first = settled;
      bool const paired = settled.windows == first->windows && settled.span == first->span;
      if (by == claims::By::paired_bootstrap && !paired)
        throw Fault(quantity.probe.at,
                    text(quantity.probe.text, " has ", settled.windows, " windows of up to ", settled.span,
                         " tokens, which are not those of ", test.measured[0].probe.text, " (", first->windows,
                         " of up to ", first->span, "); expected the same, or by: paired_t"));
      texts.push_back(std::move(settled.text));
      units.push_back(std::move(settled.units));
    }
    return {claims::write(test, texts), "", units_of(test, units)};
  }

  // Of every relation; all the same.
  static std::string units_of(claims::Test const& test, std::vector<std::string> const& measured) {
    std::string out;
    for (std::size_t i = 0; i < test.relations.size(); ++i) {
      auto const& relation = test.relation_text[i];
      std::string const left = claims::units_of(test.sides[i], measured);
      std::string const right = claims::units_of(test.sides[i + 1], measured);
      if (left.empty() && right.empty())
        throw Fault(relation.at, "relates two numbers, expected a measured quantity on one side at least");
      if (!left.empty() && !right.empty() && left != right)
        throw Fault(relation.at, "relates " + left + " and " + right + ", expected equal units");
      out = left.empty() ? right : left;
    }
    return out;
  }

  static std::optional<Quantity> amount(Node const& margin) {
    return margin.is_scalar() && !margin.quoted ? parse_quantity(margin.text) : std::nullopt;
  }
  /// Whether an amount in `unit` is one in `units`: nat is nat/token, and what has no units has none.
  static bool is_of(std::string const& unit, std::string const& units) {
    return unit.empty() ? units == "1" : (units + "/").starts_with(unit + "/");
  }

  /// Of sides that another tier measures, which has held the margin against them: losses, shares, or what the margin says.
  static std::string units_elsewhere(ClaimItem const& item, claims::Test const& test) {
    auto const in = [&](std::string const& each) {
      return units_of(test, std::vector<std::string>(test.measured.size(), each));
    };
    auto const quantity = amount(item.margin_node);
    if (!quantity || quantity->unit == "%") return in("nat/token");
    for (std::string const& each : {std::string("nat/token"), std::string("1"), quantity->unit}) try {
        auto units = in(each);
        if (is_of(quantity->unit, units)) return units;
      } catch (Fault const&) {  // a loss where the test takes none, or the other way round
      }
    return in("nat/token");
  }

  Found find(ClaimItem& item, claims::Test const& test) {
    if (item.reach == Reach::elsewhere)
      return {"", "another tier of the study tests this", units_elsewhere(item, test)};
    try {
      Found const found = look_up(test, here_, item.by);
      item.reach = Reach::here;
      return found;
    } catch (Fault const& fault) {
      if (item.reach == Reach::here) throw;
      if (!others_) others_ = make_others_();
      Fault furthest = fault;
      for (auto const& arms : *others_) try {
          Found found = look_up(test, arms, item.by);
          item.reach = Reach::elsewhere;
          return {"", text("this tier cannot test it: ", fault.what()), found.units};
        } catch (Fault const& other) {
          if (other.at >= furthest.at) furthest = other;
        }
      throw furthest;
    }
  }

  claims::Margin margin(ClaimItem const& item, claims::Test const& test, std::string const& units) const {
    if (item.margin_node.kind == Node::Kind::null) return {0, units};
    auto const refuse = [&](auto const&... expected) {
      fail(item.margin_node.place.text(), ": ", below(item.path, "margin"), " is ", found(item.margin_node),
           ", expected ", expected...);
    };
    auto const quantity = amount(item.margin_node);
    std::string const form = units == "1"
                                 ? "a number >= 0, or a share of the right side such as 2 %"
                                 : text("an amount >= 0 with its unit, as in 0.02 ", units.substr(0, units.find('/')),
                                        ", or a share of the right side such as 2 %");
    if (!quantity || as_double(quantity->number) < 0) refuse(form);
    double const value = as_double(quantity->number);
    std::string const& unit = quantity->unit;
    if (unit == "%") return {value, "%"};
    if (!is_of(unit, units))
      refuse(form, "; the sides of ", test.relation_text[0].text, " are in ", units == "1" ? "no units" : units);
    return {value, units};
  }

  void check_margin(ClaimItem const& item, claims::Test const& test, claims::Margin const& margin) const {
    for (auto const& [text, at] : test.relation_text) {
      bool const needs = text == "==" || text == "<=" || text == ">=";
      Node const& node = item.margin_node.kind == Node::Kind::null ? item.test_node : item.margin_node;
      expect(!needs || margin.value > 0, node.place.text(), ": ", below(item.path, "margin"), " is ", margin.value,
             ", expected more than 0: a test by ", text,
             text == "==" ? " shows that the sides are nearer than the margin"
                          : " shows that one side is not worse by the margin");
    }
  }

  Arms const& here_;
  std::function<std::vector<Arms>()> const& make_others_;
  std::optional<std::vector<Arms>> others_;
  std::string const& source_;
};
}  // namespace

claims::Claims settle_claims(ClaimsBlock& block, Arms const& here, std::function<std::vector<Arms>()> const& others,
                             std::string const& source) {
  claims::Claims out;
  out.family_error = block.family_error;
  Settler settler(here, others, source);
  for (auto& item : block.items) out.list.push_back(settler.claim(item));
  return out;
}

ClaimsBlock read_claims(Node const& node, Reading& reading) {
  ClaimsBlock block;
  if (node.kind == Node::Kind::null) return block;
  read_table(block, node, "claims", claims_fields(), {}, reading);
  std::vector<std::string> ids;
  for (auto const& item : block.items) {
    std::string const place = reading.given.at(below(item.path, "id"));
    expect(is_slug(item.id), place, ": ", below(item.path, "id"), " is ", item.id,
           ", expected 1 to 64 letters, digits, - and _");
    expect(std::find(ids.begin(), ids.end(), item.id) == ids.end(), place, ": ", below(item.path, "id"), " is ",
           item.id, ", as an earlier claim is called; expected a name of its own");
    ids.push_back(item.id);
  }
  return block;
}

claims::Claims load_claims(std::filesystem::path const& file, Arms const& arms, Catalogue const& catalogue) {
  std::string const source = read_file(file);
  Node root = parse_yaml(source, file.string());
  bool const block = root.is_map() && root.entries.size() == 1 && root.entries[0].key == "claims";
  expect(block, root.place.text(), ": expected a block `claims:` as a spec has it, and nothing beside it");
  Reading reading{catalogue, {}};
  ClaimsBlock claims = read_claims(root.entries[0].value, reading);
  expect(!claims.items.empty(), root.place.text(), ": claims is empty, expected a list of claims");
  for (auto const& item : claims.items)
    if (item.reach == Reach::elsewhere)
      fail(reading.given.at(below(item.path, "reach")), ": ", below(item.path, "reach"),
           " is elsewhere, and there is no tier but this one; expected here or auto");
  return settle_claims(
      claims, arms, [] { return std::vector<Arms>(); }, source);
}

std::string write_claims(ClaimsBlock const& block, Reading const& reading) {
  if (block.items.empty()) return "";
  std::string out = "claims:\n";
  for (auto const& field : claims_fields()) {
    std::string const path = below("claims", field.name());
    std::string const written = field.write(block, path, reading).text;
    out += text("  ", field.name(), ":", written.starts_with('\n') ? "" : " ", written,
                reading.given.contains(path) ? "" : "  # default", "\n");
  }
  return out;
}

}  // namespace sextant::spec
