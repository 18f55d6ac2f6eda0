// The laws that a plugin declares.
#include <sextant/check/conformance_exam.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {
Axes pairs_of(Trial const& t) {
  return {{"batch", t.batch}, {"head", t.heads}, {"query", t.length}, {"key", t.length}};
}
Axes tokens_of(Trial const& t, int heads, int channels) {
  return {{"batch", t.batch}, {"head", heads}, {"token", t.length}, {"channel", channels}};
}

/// body(trial) for every sample, if the law is claimed.
template <class Body>
void on_claimed(Exam& exam, std::string const& law, Body&& body) {
  if (!exam.subject.claims(law)) return exam.not_claimed();
  for (auto const& sample : exam.subject.samples()) body(exam.subject.trial(sample.choice));
}

/// Every token at one position.
Trial standing_at(Trial trial, double position) {
  trial.positions.assign(trial.length, position);
  return trial;
}

std::vector<double> norms(std::vector<double> const& x, std::size_t channels) {
  std::vector<double> out;
  for (std::size_t row = 0; row < x.size() / channels; ++row) {
    double sum = 0;
    for (std::size_t c = 0; c < channels; ++c) sum += x[row * channels + c] * x[row * channels + c];
    out.push_back(std::sqrt(sum));
  }
  return out;
}

bool lifts_channels(Exam const& exam, Trial const& trial) {
  encoding::Position const position(trial.choice, exam.registry(), trial.shape());
  return std::any_of(position.terms().begin(), position.terms().end(),
                     [](auto const& term) { return term.encoding->lifted(term.shape) != term.shape.head_dim; });
}
}  // namespace

namespace {
/// False for positions with fractions where the encoding refuses them: that is its right, and `positions` tries them.
bool takes(Exam& exam, Trial const& trial) {
  bool whole = true;
  for (double p : trial.positions) whole = whole && p == std::floor(p);
  if (whole) return true;
  try {
    Probe<double>(trial, exam.registry()).logits();
  } catch (Error const&) {
    exam.note("it takes whole positions only");
    return false;
  }
  return true;
}
}  // namespace

void check_relative(Exam& exam) {
  on_claimed(exam, "relative", [&](Trial trial) {
    Probe<double> plain(exam.on(trial), exam.registry());
    auto const logits = plain.logits(), out = plain.attend();
    for (double shift : {131.0, 0.5, 4096.0}) {
      trial.positions = run_of(trial.length, shift);
      if (!takes(exam, trial)) continue;
      Probe<double> moved(exam.on(trial), exam.registry());
      exam.close("logit", moved.logits(), logits, 1e-10, pairs_of(trial));
      exam.close("output", moved.attend(), out, 1e-10, tokens_of(trial, trial.heads, trial.value_dim));
    }
  });
}

void check_orthogonal(Exam& exam) {
  on_claimed(exam, "orthogonal", [&](Trial const& given) {
    for (double position : {0.0, 1.0, 77.5, 1e6}) {
      Trial const trial = standing_at(given, position);
      if (!takes(exam, trial)) continue;
      Probe<double> probe(exam.on(trial), exam.registry());
      auto const turned = probe.turned();
      auto const channels = static_cast<std::size_t>(trial.head_dim);
      Axes const axes{{"head", trial.heads}, {"token", trial.length}};
      exam.close("norm of the query", norms(turned.q, channels), norms(probe.q.values, channels), 1e-12, axes);
      exam.close("norm of the key", norms(turned.k, channels), norms(probe.k.values, channels), 1e-12, axes);
    }
  });
}

void check_group(Exam& exam) {
  on_claimed(exam, "group", [&](Trial const& trial) {
    if (lifts_channels(exam, trial))
      return exam.not_applicable("it maps to more channels, so it cannot be applied twice");
    auto const turned = [&](double position, Probe<double>::Turned const* before) {
      Probe<double> probe(exam.on(standing_at(trial, position)), exam.registry());
      if (before) probe.q.values = before->q, probe.k.values = before->k;
      return probe.turned();
    };
    Probe<double> const start(trial, exam.registry());
    auto const zero = turned(0, nullptr);
    exam.close("query turned by 0", zero.q, start.q.values, 1e-14, tokens_of(trial, trial.heads, trial.head_dim));
    for (auto const& [a, b] : {std::pair{19.0, 23.0}, {0.75, 2.0}, {1.0, -1.0}}) {
      if (exam.subject.refusal(standing_at(trial, b))) continue;
      auto const once = turned(a, nullptr), twice = turned(b, &once), sum = turned(a + b, nullptr);
      exam.close("query", twice.q, sum.q, 1e-11, tokens_of(trial, trial.heads, trial.head_dim));
      exam.close("key", twice.k, sum.k, 1e-11, tokens_of(trial, trial.kv_heads, trial.head_dim));
    }
  });
}

void check_additive(Exam& exam) {
  on_claimed(exam, "additive", [&](Trial trial) {
    for (auto const& positions : {std::vector<double>{}, std::vector<double>{0, 0.5, 2, 3, 7, 20, 21, 90}}) {
      trial.positions = positions;
      Probe<double> probe(exam.on(trial), exam.registry());
      auto const bias = probe.logits(1e-30);  // the product leaves no trace
      int const n = trial.length;
      std::vector<double> whole, parts;
      for (int row = 0; row < trial.heads; ++row)
        for (int i = 0; i < n; ++i)
          for (int m = 0; m <= i; ++m)
            for (int j = 0; j <= m; ++j) {
              auto const at = [&](int a, int b) { return bias[(row * n + a) * n + b]; };
              whole.push_back(at(i, j));
              parts.push_back(at(i, m) + at(m, j));
            }
      exam.close("bias over a key between (head, then query >= middle >= key in order)", parts, whole, 1e-11);
    }
  });
}

void check_equals(Exam& exam) {
  auto const& about = exam.subject.about();
  if (about.equals.empty()) return exam.not_claimed();
  int compared = 0;
  for (auto const& law : about.equals) {
    Trial mine = exam.subject.trial({about.name, law.example.options, law.example.parts}), other = mine;
    if (about.role == encoding::Role::encoding)
      other.choice.encodings = {law.other};
    else
      other.choice.scalings = {law.other};
    if (about.role == encoding::Role::encoding && !exam.registry().has(encoding::Role::encoding, law.other.use)) {
      exam.note("there is no encoding " + law.other.use + " to compare with");
      continue;
    }
    mine.fresh = other.fresh = true;
    for (double start : {0.0, 900.0}) {
      mine.positions = other.positions = run_of(mine.length, start);
      if (start > 0 && exam.subject.refusal(mine)) continue;  // a table that ends before
      Probe<double> a(exam.on(mine), exam.registry()), b(other, exam.registry());
      for (auto const& [name, value] : law.fill) {
        bool found = false;
        for (std::size_t n = 0; n < a.names.size(); ++n)
          if (a.names[n].ends_with("." + name)) {
            std::fill(a.parameters[n].begin(), a.parameters[n].end(), value);
            found = true;
          }
        expect(found, "the law fills ", name, ", which is no parameter", did_you_mean(name, a.names));
      }
      std::string const named = law.other.use + " " + law.when + ": ";
      exam.close(named + "output", a.attend(), b.attend(), 1e-12, tokens_of(mine, mine.heads, mine.value_dim));
      exam.close(named + "embedding", a.embed(), b.embed(), 1e-12);
      Tensor const weight = normal_tensor("weight out", {1, std::size_t(mine.heads), std::size_t(mine.length), 3});
      Tensor const weight_x = normal_tensor("weight x", a.x.shape);
      exam.close(named + "d/dq", a.slopes(weight, weight_x).q, b.slopes(weight, weight_x).q, 1e-12,
                 tokens_of(mine, mine.heads, mine.head_dim));
      ++compared;
    }
  }
  if (compared == 0) exam.not_applicable("none of the encodings it is compared with is registered");
}

void check_identity_at_factor_one(Exam& exam) {
  if (!exam.subject.claims("identity_at_factor_one")) return exam.not_claimed();
  encoding::Choice choice = exam.subject.samples().front().choice;
  choice.options["factor"] = 1.0;
  Trial scaled = exam.subject.trial(choice), plain = scaled;
  plain.choice.scalings.clear();
  Probe<double> a(exam.on(scaled), exam.registry()), b(plain, exam.registry());
  exam.close("turned query", a.turned().q, b.turned().q, 0, tokens_of(scaled, scaled.heads, scaled.head_dim));
  exam.close("logit", a.logits(), b.logits(), 0, pairs_of(scaled));
}

void check_follows_length(Exam& exam) {
  bool const claimed = exam.subject.claims("follows_length");
  bool moves = false;
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    encoding::Position const position(trial.choice, exam.registry(), trial.shape(), trial.target_length);
    for (auto const& term : position.terms()) {
      if (!term.stages.rotate) continue;
      auto const weights = position.initial_weights(term);
      auto const known = position.frequencies(term, weights);
      for (double length : {1.0, 8.0, 16.0, 17.0, 40.0, 1000.0}) {
        bool const other = !position.frequencies(term, weights, nullptr, length).turns_as(known);
        moves = moves || other;
        if (other && !claimed) {
          exam.on(trial);
          return exam.fail(
              text("a sequence of ", length, " tokens turns otherwise: expected it to say follows_length"));
        }
      }
    }
  }
  if (!claimed) return exam.not_claimed();
  if (!moves) exam.fail("sequences of 1 to 1000 tokens turn alike, trained at 16: expected it to follow the length");
}

}  // namespace sextant::check
