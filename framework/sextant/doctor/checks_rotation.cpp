#include <sextant/base/error.hpp>
#include <sextant/dialect/ladder.hpp>
#include <sextant/doctor/finding.hpp>
#include <sextant/spec/number.hpp>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace sextant::doctor {

double first_negative(std::vector<double> const& frequencies, double most) {
  // Angles advance by rotation in blocks that start from an exact angle: a million distances in a second.
  constexpr int block = 256;
  std::size_t const n = frequencies.size();
  std::vector<double> re(n), im(n), step_re(n), step_im(n);
  for (std::size_t p = 0; p < n; ++p) step_re[p] = std::cos(frequencies[p]), step_im[p] = std::sin(frequencies[p]);
  for (double start = 0; start <= most; start += block) {
    for (std::size_t p = 0; p < n; ++p)
      re[p] = std::cos(start * frequencies[p]), im[p] = std::sin(start * frequencies[p]);
    for (int k = 0; k < block && start + k <= most; ++k) {
      double sum = 0;
      for (std::size_t p = 0; p < n; ++p) {
        sum += re[p];
        double const turned = re[p] * step_re[p] - im[p] * step_im[p];
        im[p] = re[p] * step_im[p] + im[p] * step_re[p];
        re[p] = turned;
      }
      if (sum < 0) return start + k;
    }
  }
  return most + 1;
}

std::vector<Finding> base_too_small(Patient const& patient) {
  auto const frequencies = patient.frequencies(patient.meant);
  if (frequencies.empty()) return {};
  double const negative = first_negative(frequencies, patient.meant);
  if (negative > patient.meant) return {};
  double slowest = 0;
  for (double f : frequencies)
    if (f > 0) slowest = std::max(slowest, 2 * std::numbers::pi / f);
  double const base = patient.base().value_or(0);
  Finding out{.check = "base", .place = patient.place("base"), .patient = patient.name};
  // Published models lie at 0.4 of their length and above (SmolLM2, Llama 2, Qwen2.5): that alone is worth a note.
  if (negative >= patient.meant / 4) out.severity = Severity::note;
  out.evidence = text(base > 0 ? text("base ", dialect::plain_number(base), ": ") : "",
                      "the mean over pairs of cos(distance x "
                      "frequency) turns negative at distance ",
                      negative, ", of ", patient.meant, " tokens; the slowest pair turns once in ",
                      std::lround(slowest), " tokens");
  out.why =
      "beyond that distance a key like the query scores below an unlike one, so far context is read at random "
      "(arXiv:2405.14591)";
  out.remedy = "raise the base or scale the rotation for this length; `sextant inspect` shows each pair's wavelength";
  out.numbers = {
      {"base", base}, {"first_negative", negative}, {"length", patient.meant}, {"slowest_wavelength", slowest}};
  return {out};
}

std::vector<Finding> base_is_length(Patient const& patient) {
  auto const base = patient.base();
  if (!base || (*base != patient.meant && *base != patient.trained && *base >= patient.meant)) return {};
  bool const same = *base == patient.meant || *base == patient.trained;
  Finding out{.check = "base-is-length", .place = patient.place("base"), .patient = patient.name};
  out.evidence = text("base ", dialect::plain_number(*base), same ? " equals the length" : " is below the length", ": ",
                      *base == patient.trained ? "trained at " : "meant for ",
                      *base == patient.trained ? patient.trained : patient.meant, " tokens");
  out.why =
      "the base is a ratio of wavelengths and no length; one of the size of a table is a table size in the wrong key";
  out.remedy = "give the base its own value, far above the length (10000 and up)";
  out.numbers = {{"base", *base}, {"length", patient.meant}, {"trained", patient.trained}};
  return {out};
}

std::vector<Finding> phase_precision(Patient const& patient) {
  auto const frequencies = patient.frequencies(patient.longest);
  if (frequencies.empty() || patient.longest < 2) return {};
  auto const line =
      inspect::rotary_precision(frequencies, patient.longest - 1, patient.angles.format, patient.angles.way);
  constexpr double allowed = 0.01;
  if (line.worst <= allowed) return {};
  double first = patient.longest - 1;
  for (std::size_t n = line.position.size(); n-- > 0;)
    if (line.error[n] > allowed) first = line.position[n];
  Finding out{.check = "phase", .place = patient.place("length"), .patient = patient.name};
  out.evidence = text(patient.angles.whose, " angles in ", inspect::name_of(patient.angles.format),
                      ": cos and sin are off by up to ", spec::number_text(std::round(line.worst * 1e4) / 1e4),
                      " within ", patient.longest, " tokens, by more than ", allowed, " from position ", first);
  out.why = "far positions are turned by arbitrary amounts, so neighbours there cannot be told apart";
  out.remedy = "form position x frequency in float64 or reduce it exactly, and round only the finished cos and sin";
  out.numbers = {{"worst", line.worst}, {"from_position", first}, {"length", patient.longest}};
  return {out};
}

// A program that caches turned keys keeps those of the old frequencies when the frequencies follow the length.
std::vector<Finding> streaming_offset(Patient const& patient) {
  if (!patient.foreign || patient.trained == 0 || patient.longest <= patient.trained) return {};
  auto const before = patient.frequencies(patient.trained), after = patient.frequencies(patient.longest);
  double worst = 0;
  for (std::size_t p = 0; p < before.size(); ++p)
    worst = std::max(worst, std::abs(after[p] - before[p]) * (patient.trained - 1));
  if (worst < 1e-6) return {};
  Finding out{.check = "streaming", .place = patient.place("scaling"), .patient = patient.name};
  out.evidence = text("frequencies change past ", patient.trained, " tokens: a key cached at position ",
                      patient.trained - 1, " is up to ", spec::number_text(std::round(worst * 1e3) / 1e3),
                      " rad from where a full pass of ", patient.longest, " tokens turns it");
  out.why = "a cache that keeps turned keys gives other logits than one pass over the same text";
  out.remedy = "cache keys before they are turned (as Sextant does), or use a scaling with one table";
  out.numbers = {{"angle", worst}, {"trained", patient.trained}, {"length", patient.longest}};
  return {out};
}

}  // namespace sextant::doctor
