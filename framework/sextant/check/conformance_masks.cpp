// What must not be seen: later tokens, hidden keys, other documents, padding.
#include <sextant/check/conformance_exam.hpp>

#include <cmath>

namespace sextant::check {
namespace {
using Values = std::vector<double>;

Values first_rows(Values const& x, int outer, int length, int inner, int from, int to) {
  Values out;
  for (int o = 0; o < outer; ++o)
    for (int i = from; i < to; ++i)
      for (int c = 0; c < inner; ++c) out.push_back(x[(static_cast<std::size_t>(o) * length + i) * inner + c]);
  return out;
}

/// Other numbers for tokens [from, to) of [outer, length, inner].
void change(Tensor& x, int from, int to) {
  int const length = x.extent(x.shape.size() - 2), inner = x.extent(x.shape.size() - 1);
  auto const other = normal("other", x.values.size());
  for (std::size_t at = 0; at < x.values.size(); ++at) {
    int const token = static_cast<int>(at) / inner % length;
    if (token >= from && token < to) x.values[at] = 3 * other[at];
  }
}

Axes outputs(Trial const& t, int tokens) { return {{"head", t.heads}, {"token", tokens}, {"channel", t.value_dim}}; }

/// Gradients of the outputs of tokens [from, to) alone.
Probe<double>::Slopes slopes_from(Probe<double>& probe, int from, int to) {
  auto const& t = probe.trial;
  Tensor weight =
      normal_tensor("weight out", {1, std::size_t(t.heads), std::size_t(t.length), std::size_t(t.value_dim)});
  Tensor nothing{probe.x.shape, Values(probe.x.values.size(), 0.0)};
  for (std::size_t at = 0; at < weight.values.size(); ++at) {
    int const token = static_cast<int>(at) / t.value_dim % t.length;
    if (token < from || token >= to) weight.values[at] = 0;
  }
  return probe.slopes(weight, nothing);
}

void expect_zero(Exam& exam, std::string const& what, Values const& found, double bound, Axes const& axes) {
  exam.close(what, found, Values(found.size(), 0.0), bound, axes);
}
}  // namespace

void check_causal(Exam& exam) {
  constexpr int kept = 5;
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = 9;
    Probe<double> probe(exam.on(trial), exam.registry());
    auto const rows = [&](Values const& x) {
      return first_rows(x, trial.heads, trial.length, trial.value_dim, 0, kept);
    };
    auto const before = rows(probe.attend());
    auto const slopes = slopes_from(probe, 0, kept);
    auto const later = [&](Values const& x, int heads, int channels) {
      return first_rows(x, heads, trial.length, channels, kept, trial.length);
    };
    Axes const axes{{"head", trial.kv_heads}, {"later token", trial.length - kept}, {"channel", trial.head_dim}};
    expect_zero(exam, "d earlier outputs / d later key", later(slopes.k, trial.kv_heads, trial.head_dim), 0, axes);
    expect_zero(exam, "d earlier outputs / d later query", later(slopes.q, trial.heads, trial.head_dim), 0,
                {{"head", trial.heads}, {"later token", trial.length - kept}, {"channel", trial.head_dim}});
    expect_zero(exam, "d earlier outputs / d later x", later(slopes.x, 1, trial.model_dim), 0,
                {{"later token", trial.length - kept}, {"channel", trial.model_dim}});
    for (Tensor* x : {&probe.q, &probe.k, &probe.v, &probe.x}) change(*x, kept, trial.length);
    exam.close("output of a token before the change", rows(probe.attend()), before, 0, outputs(trial, kept));

    Reader reader(exam.on(trial), exam.registry());
    auto const text = [&](Values const& x) { return first_rows(x, 1, trial.length, Reader::vocabulary, 0, kept); };
    auto const logits = text(reader.whole());
    for (int i = kept; i < trial.length; ++i) reader.tokens[i] = (reader.tokens[i] + 1 + i) % (Reader::vocabulary - 1);
    exam.close("logit of a token before the change", text(reader.whole()), logits, 0,
               {{"token", kept}, {"vocabulary", Reader::vocabulary}});
  }
}

void check_hidden_keys(Exam& exam) {
  constexpr int window = 3;
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = 9;
    Probe<double> probe(exam.on(trial), exam.registry());
    probe.allowed.window = window;
    auto const rows = [&](Values const& x) {
      return first_rows(x, trial.heads, trial.length, trial.value_dim, window, trial.length);
    };
    auto const before = rows(probe.attend());
    auto const slopes = slopes_from(probe, window, trial.length);
    auto const hidden = [&](Values const& x, int channels) {
      return first_rows(x, trial.kv_heads, trial.length, channels, 0, 1);
    };
    Axes const axes{{"head", trial.kv_heads}, {"channel", trial.head_dim}};
    expect_zero(exam, "d output / d key hidden by a window of 3", hidden(slopes.k, trial.head_dim), 1e-13, axes);
    expect_zero(exam, "d output / d value hidden by a window of 3", hidden(slopes.v, trial.value_dim), 1e-13,
                {{"head", trial.kv_heads}, {"channel", trial.value_dim}});
    change(probe.k, 0, 1);
    change(probe.v, 0, 1);
    exam.close("output (window of 3, first key changed)", rows(probe.attend()), before, 1e-12,
               outputs(trial, trial.length - window));
  }
}

void check_documents(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial packed = exam.subject.trial(sample.choice);
    int const first = 5, second = 7;
    packed.length = first + second;
    packed.positions = run_of(first);
    for (double at : run_of(second)) packed.positions.push_back(at);
    packed.documents.assign(first, 0);
    packed.documents.resize(packed.length, 1);
    Trial alone = packed;
    alone.documents.clear();
    Reader both(exam.on(packed), exam.registry());
    auto const logits = both.whole();
    for (bool later : {false, true}) {
      alone.length = later ? second : first;
      alone.positions = run_of(alone.length);
      Reader one(alone, exam.registry());
      int const from = later ? first : 0;
      one.tokens.assign(both.tokens.begin() + from, both.tokens.begin() + from + alone.length);
      exam.close(later ? "logit of the second document, which stands alone too" : "logit of the first document",
                 first_rows(logits, 1, packed.length, Reader::vocabulary, from, from + alone.length), one.whole(),
                 1e-12, {{"token", alone.length}, {"vocabulary", Reader::vocabulary}});
    }
  }
}

void check_padding(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial alone = exam.subject.trial(sample.choice), padded = alone;
    int const left = 3;
    padded.length = left + alone.length;
    padded.positions.assign(left, 1.0);
    for (double at : run_of(alone.length)) padded.positions.push_back(at);
    padded.documents.assign(left, -1);
    padded.documents.resize(padded.length, 0);
    Reader with(exam.on(padded), exam.registry()), without(alone, exam.registry());
    for (int i = 0; i < padded.length; ++i)
      with.tokens[i] = i < left ? Reader::vocabulary - 1 : without.tokens[i - left];
    with.poison_last_id();
    auto const expected = without.whole();
    Axes const axes{{"token", alone.length}, {"vocabulary", Reader::vocabulary}};
    auto const tail = [&](Values const& x) {
      return first_rows(x, 1, padded.length, Reader::vocabulary, left, padded.length);
    };
    exam.close("logit behind 3 tokens of padding that hold NaN", tail(with.whole()), expected, 1e-12, axes);
    // The gradient: as without padding, and none for what the padding holds.
    with.poison_last_id(0.5);
    auto const gradient = with.gradient_of_tail(left), plain = without.gradient_of_tail(0);
    auto const last = gradient.embedding.end() - with.trial.model_dim;
    expect_zero(exam, "d loss / d embedding of the padding", {last, gradient.embedding.end()}, 0,
                {{"channel", with.trial.model_dim}});
    exam.close("d loss / d embedding", gradient.embedding, plain.embedding, 1e-11,
               {{"id", Reader::vocabulary}, {"channel", with.trial.model_dim}});
  }
}

}  // namespace sextant::check
