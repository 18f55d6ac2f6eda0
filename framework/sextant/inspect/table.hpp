// Encodings that add rows to the token embedding: the rows themselves, and whether one map takes every row to the next.
//
// A representation of translation has an R with row(p + 1) = R row(p) for all p. The R that fits the steps from even rows
// best is judged on those from odd rows: sinusoidal rows pass exactly, a trained table has no reason to.
#pragma once
#include <sextant/inspect/subject.hpp>

#include <complex>

namespace sextant::inspect {

struct TableView {
  std::string label;
  int rows = 0, channels = 0;  ///< looked at: up to 1024 rows and 128 channels of the model's width
  int table_length = 0;        ///< > 0: the encoding ends there
  int heat_rows = 0;
  std::vector<double> heat;                ///< [heat_rows, channels]: the first rows, for a picture
  double fit_residual = 0;                 ///< |X_next - X R| / |X_next| on the steps that R was fitted to
  double held_out_residual = 0;            ///< the same on the others
  std::vector<std::complex<double>> step;  ///< eigenvalues of R, by descending modulus
  double radius = 0;
  double effective_rank = 0;                 ///< of the rows looked at
  std::vector<double> distance, similarity;  ///< mean over rows of <row(p), row(p - d)> / <row, row>
};

/// One entry a term that embeds.
Finding<std::vector<TableView>> tables(Subject const& subject);

/// How many directions the positions 0 .. length - 1 occupy as a rotary encoding sees them: effective rank of the rows
/// (cos p w_f, sin p w_f)_f, of at most `out_of`; 2048 positions drawn from the seed stand for longer ranges.
struct RotaryRank {
  std::string label;
  int head = 0, out_of = 0;
  double at_length = 0, at_trained = 0;  ///< at_trained: 0 without a trained length
};
Finding<std::vector<RotaryRank>> rotary_rank(Subject const& subject);

}  // namespace sextant::inspect
