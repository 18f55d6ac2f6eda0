// What storing positional numbers in a small format costs, by position, and by the way the numbers are built.
#pragma once
#include <sextant/base/number_format.hpp>
#include <sextant/inspect/subject.hpp>

#include <array>

namespace sextant::inspect {

using sextant::Format;
using sextant::name_of;
using sextant::round_to;
inline constexpr std::array formats = {Format::fp64, Format::fp32, Format::bf16,
                                       Format::fp16, Format::int8, Format::int4};

enum class Way {
  direct,      ///< position, frequency, their product and cos of it, each rounded to the format
  recurrence,  ///< each entry from the one before by the angle addition theorem, each operation rounded; a bias adds a step
  reduced      ///< angle formed in double and cut to one turn, cos of it stored in the format
};
inline constexpr std::array ways = {Way::direct, Way::recurrence, Way::reduced};
char const* name_of(Way way);

struct PrecisionLine {
  Format format;
  Way way;
  std::vector<double> position;  ///< ascending; the recurrence stops earlier than the others
  std::vector<double> error;     ///< largest over pairs of |cos or sin stored - exact|, at that position
  double worst = 0;              ///< up to the last position
};

/// Of a rotary term's cos and sin. Integer formats are built in fp32 and stored. The exact values are those of the angle
/// p * inv_freq, inv_freq as the double it is, evaluated in extended precision.
struct Precision {
  std::string label;
  std::string quantity;  ///< "cos and sin", "bias of head 0 [logit]", "row entries"
  std::vector<PrecisionLine> lines;
};

/// One entry a term: rotary tables by every way, biases directly and, where they add up along the distance, by recurrence,
/// rows as they are stored.
Finding<std::vector<Precision>> precision(Subject const& subject);

/// cos and sin of positions, one line; the oracle's way in.
PrecisionLine rotary_precision(std::vector<double> const& inv_freq, double last, Format format, Way way);

}  // namespace sextant::inspect
