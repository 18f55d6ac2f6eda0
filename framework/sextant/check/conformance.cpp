#include <sextant/check/conformance_exam.hpp>
#include <sextant/check/conformance_only.hpp>
#include <sextant/check/conformance_task.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {
double apart(double found, double expected, double size) {
  if (found == expected) return 0;  // equal infinities too
  double const error = std::abs(found - expected) / std::max(1.0, size);
  return std::isfinite(error) ? error : INFINITY;
}

std::string place(std::string const& what, std::size_t flat, Axes const& axes) {
  std::vector<std::string> parts;
  for (std::size_t n = axes.size(); n-- > 0;) {
    auto const extent = static_cast<std::size_t>(axes[n].second);
    parts.insert(parts.begin(), text(axes[n].first, " ", flat % extent));
    flat /= extent;
  }
  return what + (parts.empty() ? text(": number ", flat) : ": " + join(parts));
}
}  // namespace

std::vector<ConformanceCheck> const& all_conformance_checks() {
  static std::vector<ConformanceCheck> const all = {
      {"shapes", "outputs, turned heads and tables have the declared shapes and are finite", check_shapes},
      {"parameters", "counts and starting values as declared; every tensor moves the output", check_parameters},
      {"state", "a cache grows by the declared bytes per token", check_state},
      {"options", "every option's values are accepted somewhere, and each changes something", check_options},
      {"repeats", "twice the same input gives the same bits", check_repeats},
      {"threads", "another number of threads gives the same bits", check_threads},
      {"gradient_inputs", "d/dq, d/dk, d/dv, d/dx agree with central differences", check_input_gradients},
      {"gradient_parameters", "every parameter's gradient agrees with central differences", check_parameter_gradients},
      {"relative", "adding a constant to all positions changes nothing", check_relative},
      {"orthogonal", "query and key keep their norms", check_orthogonal},
      {"group", "turning by a and then by b is turning by a + b", check_group},
      {"additive", "bias(i, j) = bias(i, m) + bias(m, j)", check_additive},
      {"equals", "with the declared options it is the declared other encoding", check_equals},
      {"identity_at_factor_one", "factor 1 leaves everything as it is", check_identity_at_factor_one},
      {"follows_length", "frequencies depend on the length of a sequence if it says so, and not else",
       check_follows_length},
      {"causal", "later tokens change no bit of earlier outputs and get no gradient from them", check_causal},
      {"hidden_keys", "a hidden key has no influence, nor a gradient", check_hidden_keys},
      {"documents", "packed documents give what each gives alone", check_documents},
      {"padding", "padding on the left, of NaN, changes nothing", check_padding},
      {"offset", "a slice at its positions gives what it gives within the whole", check_offset},
      {"chunks", "prefill in chunks gives what the whole row gives", check_chunks},
      {"decode", "one token at a time gives what the whole row gives", check_decode},
      {"positions", "positions that are fractions, repeat or restart work as others do", check_positions},
      {"past_trained", "past the trained length: finite, or a clear refusal", check_past_trained},
      {"short_inputs", "no token and one token: worked or refused, never NaN", check_short_inputs},
      {"odd_shapes", "odd heads, widths and grouped keys: worked or clearly refused", check_odd_shapes},
      {"reference", "the fused kernel gives what the plain loops give", check_reference},
      {"float32", "float32 within 2e-5 of double, near and far", check_float},
      {"bf16", "inputs rounded to bf16 move the output at most 8 times as much as without an encoding", check_bf16},
      {"device", "host equals device", check_device},
  };
  return all;
}

char const* word(Outcome outcome) {
  switch (outcome) {
    case Outcome::pass:
      return "pass";
    case Outcome::fail:
      return "FAIL";
    case Outcome::not_claimed:
      return "not claimed";
    default:
      return "not applicable";
  }
}

Trial const& Exam::on(Trial const& trial) {
  Finding now = finding_;
  now.input = trial.text();
  if (finding_.outcome != Outcome::fail) finding_.input = now.input;
  if (settings.before) settings.before(so_far_, now);
  return trial;
}

bool Exam::close(std::string const& what, std::vector<double> const& found, std::vector<double> const& expected,
                 double bound, Axes const& axes) {
  if (found.size() != expected.size()) {
    fail(text(what, " has ", found.size(), " numbers, expected ", expected.size()));
    return false;
  }
  double size = 0, worst = 0;
  for (double e : expected)
    if (std::isfinite(e)) size = std::max(size, std::abs(e));
  std::size_t at = 0;
  for (std::size_t i = 0; i < found.size(); ++i)
    if (double const error = apart(found[i], expected[i], size); error > worst) worst = error, at = i;
  bool const good = worst <= bound;
  bool const first_failure = !good && finding_.outcome != Outcome::fail;
  bool const worse = finding_.outcome != Outcome::fail &&
                     (!finding_.measured || worst * finding_.bound > finding_.worst * bound || bound == 0);
  if (first_failure || worse) {
    finding_.measured = true;
    finding_.worst = worst;
    finding_.bound = bound;
    finding_.place = found.empty() ? what : place(what, at, axes);
    finding_.found = found.empty() ? 0 : found[at];
    finding_.expected = expected.empty() ? 0 : expected[at];
  }
  if (first_failure) finding_.outcome = Outcome::fail, finding_.note.clear();
  return good;
}

bool Exam::finite(std::string const& what, std::vector<double> const& found, Axes const& axes) {
  for (std::size_t i = 0; i < found.size(); ++i)
    if (!std::isfinite(found[i])) {
      fail(text(place(what, i, axes), " is ", found[i], ", expected a finite number"));
      return false;
    }
  return true;
}

void Exam::fail(std::string const& why) {
  if (finding_.outcome == Outcome::fail) return;
  finding_.outcome = Outcome::fail;
  finding_.measured = false;
  finding_.note = why;
}

void Exam::not_applicable(std::string const& why) {
  if (finding_.outcome == Outcome::fail) return;
  finding_.outcome = Outcome::not_applicable;
  finding_.note = why;
}

void Exam::note(std::string const& more) {
  if (finding_.outcome == Outcome::fail || finding_.note.find(more) != std::string::npos) return;
  constexpr std::size_t enough = 400;
  if (finding_.note.size() > enough && !finding_.note.ends_with("...")) finding_.note += "; ...";
  if (finding_.note.size() < enough) finding_.note += (finding_.note.empty() ? "" : "; ") + more;
}

std::vector<std::string> conformance_checks() {
  std::vector<std::string> out;
  for (auto const& check : all_conformance_checks()) out.push_back(check.name);
  return out;
}

Conformance check_plugin(encoding::Registry const& registry, encoding::Role role, std::string const& name,
                         ConformanceSettings const& settings) {
  if (role == encoding::Role::task) return check_task(registry, name, settings);
  Conformance out{.plugin = name, .file = registry.file_of(role, name).string(), .role = role};
  expect_known(settings, conformance_checks());
  std::optional<Subject> subject;
  try {
    subject.emplace(registry, role, name);
  } catch (std::exception const& error) {
    out.findings.push_back({.check = "shapes",
                            .meaning = all_conformance_checks().front().meaning,
                            .outcome = Outcome::fail,
                            .note = error.what()});
    return out;
  }
  for (auto const& check : all_conformance_checks()) {
    if (!wants(settings, check.name)) continue;
    Finding finding{.check = check.name, .meaning = check.meaning};
    Exam exam(*subject, settings, out, finding);
    try {
      check.run(exam);
    } catch (std::exception const& error) {
      exam.fail(text("throws: ", error.what()));
    }
    out.findings.push_back(std::move(finding));
  }
  return out;
}

}  // namespace sextant::check
