// Keeps, of everything compared in one case, the quantity that fares worst against its tolerance.
#pragma once
#include <sextant/check/verify.hpp>

#include <cmath>

namespace sextant::check {

/// |found - expected| <= absolute + relative |expected| + by_largest max |expected|, element by element.
struct Tolerance {
  double absolute = 0, relative = 0, by_largest = 0;
};

class Worst {
 public:
  /// Throws Error when the counts differ. A NaN where none is expected is an infinite error. `weight`, when given, has
  /// one entry an element; elements of weight 0 are left out.
  void compare(std::string const& what, std::vector<double> const& found, std::vector<double> const& expected,
               Tolerance const& tolerance, std::vector<char> const& weight = {});
  /// Fills what, error, tolerance and verdict.
  void write(VerifyCase& out) const;

 private:
  std::string what_;
  double error_ = 0, tolerance_ = 0, ratio_ = -1;
};

}  // namespace sextant::check
