// Claims about a study: what is said, how it is tested, and what came of it.
#pragma once
#include <sextant/claims/expression.hpp>
#include <sextant/statistics/sample.hpp>

#include <optional>
#include <string>
#include <vector>

namespace sextant::claims {

enum class By {
  paired_bootstrap,  ///< over seeds and windows of text
  paired_t,          ///< over seeds alone: the windows are taken as they are
};

/// What a study's numbers are a sample of, and so what its claims are about. Where the model is given, both ways of By run
/// over the text alone.
enum class Sample {
  seeds,      ///< models that are trained or drawn under other seeds, on other windows
  windows,    ///< one model that is given, on other windows of this text
  documents,  ///< one model that is given, on other documents like these; each counts once
};

/// How far the sides must be apart, or how near. A margin in % is one of the right side.
struct Margin {
  double value = 0;
  std::string units;  ///< those of the sides, "1" for a plain number, or "%"
  bool relative() const { return units == "%"; }
};

struct Claim {
  std::string id;
  std::string says;
  std::string source;   ///< where the statement stands; may be empty
  std::string test;     ///< as it was written
  std::string settled;  ///< the same with the encoding and scaling of every quantity as result rows name them
  std::string missing;  ///< why this tier cannot test it; `settled` is then empty
  Margin margin;
  By by = By::paired_bootstrap;
};

struct Claims {
  double family_error = 0.05;
  std::vector<Claim> list;
  Sample sample = Sample::seeds;
  bool empty() const { return list.empty(); }
};

enum class Verdict { holds, fails, undecided, out_of_reach };
std::string name_of(Verdict verdict);  ///< "holds", "fails", "undecided", "out of reach"
std::string name_of(By by);
std::string name_of(Sample sample);  ///< "seeds", "windows", "documents"

/// What came of a claim. The numbers are of the relation that is hardest to meet; empty when there is nothing to test.
struct Outcome {
  Claim claim;
  Verdict verdict = Verdict::out_of_reach;
  std::string reason;            ///< in a sentence; empty when the claim holds or fails
  std::optional<double> effect;  ///< left side minus right side; with a margin in %, left over right minus 1, in %
  std::optional<statistics::Interval> interval;  ///< at 1 - family_error, for this claim alone
  std::optional<double> p;                       ///< of the claim being false
  std::optional<double> p_adjusted;              ///< after Holm's correction over the claims that could be tested
  std::optional<double> p_against;               ///< of the claim being true, after the same correction
  Sample sample = Sample::seeds;
  int seeds = 0;             ///< that were paired; 0 where the sample are not seeds
  int windows = 0;           ///< or documents; 0 where the test takes them as they are
  std::size_t relation = 0;  ///< which of the test's relations the numbers are of
  std::string units;         ///< of effect and interval
};

struct Judgement {
  double family_error = 0.05;
  std::vector<Outcome> outcomes;
  Sample sample = Sample::seeds;
};

/// The measure that a column pair of summary/results is called by in a test: the region when the metric is a loss, else
/// the metric, with the region behind it where that is not the mean: mean, tail64, accuracy, accuracy_tail64.
std::string measure_name(std::string const& region, std::string const& metric);

}  // namespace sextant::claims
