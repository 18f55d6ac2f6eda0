// Slices, chunks, decoding, and positions other than 0, 1, 2, ...
#include <sextant/check/conformance_exam.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace sextant::check {
namespace {
Axes words_of(Trial const& t) { return {{"batch", t.batch}, {"token", t.length}, {"vocabulary", Reader::vocabulary}}; }

/// Pairs (i, j), j <= i, of tokens [first, length) out of [rows, length, length].
std::vector<double> lower_block(std::vector<double> const& logits, int rows, int length, int first) {
  std::vector<double> out;
  for (int row = 0; row < rows; ++row)
    for (int i = first; i < length; ++i)
      for (int j = first; j <= i; ++j) out.push_back(logits[(static_cast<std::size_t>(row) * length + i) * length + j]);
  return out;
}

std::vector<double> rows_from(std::vector<double> const& x, int first, int width) {
  return {x.begin() + static_cast<std::ptrdiff_t>(first) * width, x.end()};
}

void compare_chunks(Exam& exam, Trial const& trial, std::vector<std::vector<int>> const& plans) {
  Reader reader(exam.on(trial), exam.registry());
  auto const whole = reader.whole();
  exam.finite("logit", whole, words_of(trial));
  bool const follows = exam.subject.claims("follows_length");
  for (auto const& plan : plans)
    exam.close(text("logit in chunks of ", plan), reader.in_chunks(plan),
               follows ? reader.whole_by_chunks(plan) : whole, 1e-11, words_of(trial));
}

std::vector<std::vector<double>> unusual_positions(int length) {
  std::vector<double> fractions, repeats, restarts;
  for (int i = 0; i < length; ++i) {
    fractions.push_back(0.75 * i + (i % 2 ? 0.125 : 0));
    repeats.push_back(i / 3);
    restarts.push_back(i % 5);
  }
  return {fractions, repeats, restarts};
}
}  // namespace

namespace {
bool convolves(Exam const& exam, Trial const& trial) {
  encoding::Position const position(trial.choice, exam.registry(), trial.shape(), trial.target_length);
  for (auto const& term : position.terms())
    for (auto const& feature : term.stages.features)
      if (feature.taps > 0) return true;
  return false;
}
}  // namespace

void check_offset(Exam& exam) {
  constexpr int first = 3;
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    if (convolves(exam, trial))
      return exam.not_applicable("a token's features are mixed with those of the tokens before it");
    int const rest = trial.length - first;
    Probe<double> whole(exam.on(trial), exam.registry());
    auto const expected = lower_block(whole.logits(), trial.heads, trial.length, first);
    auto const embedded = rows_from(whole.embed(), first, trial.model_dim);
    Probe<double> part = whole.slice(first, rest, run_of(rest, first));
    exam.on(part.trial);
    exam.close("logit of a slice (head, then query >= key in order)", lower_block(part.logits(), trial.heads, rest, 0),
               expected, 1e-11);
    exam.close("embedding of a slice", part.embed(), embedded, 1e-13, {{"token", rest}, {"channel", trial.model_dim}});
    if (!exam.subject.claims("relative")) continue;
    Probe<double> from_zero = whole.slice(first, rest, run_of(rest));
    exam.on(from_zero.trial);
    exam.close("logit of a slice counted from 0 (head, then query >= key in order)",
               lower_block(from_zero.logits(), trial.heads, rest, 0), expected, 1e-10);
  }
}

void check_chunks(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = sample.option.empty() ? 40 : 14;
    trial.batch = 2;
    compare_chunks(exam, trial, {{5}, {1, 7, 2}, {trial.length - 1, 1}});
    trial.batch = 1;
    trial.length = 12;
    for (auto const& positions : unusual_positions(trial.length)) {
      trial.positions = positions;
      if (!exam.subject.refusal(trial)) compare_chunks(exam, trial, {{1}, {5}});
    }
    trial.positions = {1, 1, 0, 1, 2, 3, 4, 0, 1, 2, 3, 4};
    trial.documents = {-1, -1, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1};
    compare_chunks(exam, trial, {{1}, {4, 1, 3}});
  }
}

void check_decode(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = sample.option.empty() ? 40 : 10;
    compare_chunks(exam, trial, {{1}, {trial.length / 2, 1}});
  }
}

void check_positions(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = 12;
    for (auto const& positions : unusual_positions(trial.length)) {
      trial.positions = positions;
      exam.on(trial);
      exam.may_refuse("such a position", [&] {
        Probe<double> probe(trial, exam.registry());
        auto const out = probe.attend();
        exam.finite("output", out);
        exam.finite("embedding", probe.embed());
        exam.close("output against the plain loops", out, probe.attend_by_reference(), 1e-11,
                   {{"head", trial.heads}, {"token", trial.length}, {"channel", trial.value_dim}});
      });
    }
  }
  Trial trial = exam.subject.trial();
  for (double wrong : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    trial.positions = run_of(trial.length);
    trial.positions[3] = wrong;
    exam.on(trial);
    bool refused = false;
    try {
      Probe<double>(trial, exam.registry()).attend();
    } catch (Error const&) {
      refused = true;
    }
    if (!refused) exam.fail(text("a position of ", wrong, " is taken, expected a refusal"));
  }
}

void check_past_trained(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    Trial const usual = trial;
    for (double start : {0.0, 1000.0, 1e6})
      for (double target : {0.0, 40.0}) {
        trial = usual;
        trial.length = start > 0 ? 8 : 40;
        trial.positions = run_of(trial.length, start);
        trial.target_length = target;
        exam.on(trial);
        std::string const what = start > 0 ? text("positions from ", start, " on") : "40 tokens, trained at 16,";
        exam.may_refuse(what, [&] {
          Probe<double> probe(trial, exam.registry());
          exam.finite("output", probe.attend(),
                      {{"head", trial.heads}, {"token", trial.length}, {"channel", trial.value_dim}});
          exam.finite("embedding", probe.embed(), {{"token", trial.length}, {"channel", trial.model_dim}});
          auto const slopes =
              probe.slopes(normal_tensor("weight out", {1, std::size_t(trial.heads), std::size_t(trial.length), 3}),
                           normal_tensor("weight x", probe.x.shape));
          exam.finite("d/dq", slopes.q);
          exam.finite("d/dk", slopes.k);
          for (std::size_t n = 0; n < slopes.parameters.size(); ++n)
            exam.finite("d/d " + probe.names[n], slopes.parameters[n]);
        });
      }
  }
}

}  // namespace sextant::check
