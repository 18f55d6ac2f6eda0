// From what is wanted to what is recommended, with reasons, computed evidence, and an honest "not known".
#pragma once
#include <sextant/advise/rule.hpp>
#include <sextant/encoding/registry.hpp>

#include <nlohmann/json_fwd.hpp>

#include <optional>

namespace sextant::advise {

/// Cache of a model: what memory is compared with.
struct CacheShape {
  int layers = 0, kv_heads = 0, head_width = 0;
  double number_bytes = 2;  ///< of a cached number
  bool known() const { return layers > 0 && kv_heads > 0 && head_width > 0; }
};

struct Wish {
  double trained = 0, target = 0;  ///< tokens
  double budget = 0;               ///< share of the training tokens that may go into tuning
  Task task = Task::any;
  bool from_scratch = false;
  std::optional<double> memory;  ///< bytes for keys and values of one sequence
  CacheShape cache;
  std::optional<double> base;  ///< of a rotation
  int head_width = 0;
  double factor() const { return target / trained; }
};

/// Keys and values of one sequence: 2 layers kv_heads head_width length number_bytes.
double cache_bytes(CacheShape const& cache, double length);

/// What formulas say of a rotation under a scaling at the target length.
struct Evidence {
  std::string scaling;           ///< "none", "yarn x16"
  double unseen = 0;             ///< share of pairs and distances at phases that training never met
  int completed = 0, pairs = 0;  ///< pairs that complete a turn in training
  double first_negative = 0;     ///< distance from which like keys may score below unlike ones; target + 1: none
};

struct Advice {
  Wish wish;
  std::vector<Rule> recommended;  ///< the first is the recommendation
  std::vector<Rule> cautions;     ///< and what to avoid
  std::vector<Evidence> evidence;
  std::optional<double> cache;       ///< bytes at the target
  std::vector<std::string> unknown;  ///< what no rule or number covers, in sentences
  std::vector<std::string> contradictions;
  bool answers() const { return !recommended.empty() && contradictions.empty(); }
};

/// Throws Error for wishes that make no sense: lengths, shares and memory out of range, memory without a shape.
Advice advise(Wish const& wish, encoding::Registry const& registry);

/// {factor} in a rule's words, filled in.
std::string filled(char const* words, double factor);
std::string advice_text(Advice const& advice);
nlohmann::json advice_json(Advice const& advice);

}  // namespace sextant::advise
