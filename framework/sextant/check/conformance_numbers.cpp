// The same bits again, and other number types.
#include <fmt/format.h>
#include <sextant/base/bfloat16.hpp>
#include <sextant/check/conformance_exam.hpp>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace sextant::check {
namespace {
using Values = std::vector<double>;

Tensor weight_out_of(Trial const& t) {
  return normal_tensor("weight out",
                       {std::size_t(t.batch), std::size_t(t.heads), std::size_t(t.length), std::size_t(t.value_dim)});
}

/// Everything that a pass forward and backward yields.
template <class T>
Values everything(Probe<T>& probe) {
  Values out = probe.attend();
  auto const add = [&](Values const& more) { out.insert(out.end(), more.begin(), more.end()); };
  add(probe.embed());
  auto const slopes = probe.slopes(weight_out_of(probe.trial), normal_tensor("weight x", probe.x.shape));
  for (auto const* part : {&slopes.q, &slopes.k, &slopes.v, &slopes.x}) add(*part);
  for (auto const& part : slopes.parameters) add(part);
  return out;
}

bool same_bits(Values const& a, Values const& b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0);
}

std::uint64_t digest_of(Values const& numbers, std::uint64_t digest) {
  for (double number : numbers) {
    std::uint64_t bits;
    std::memcpy(&bits, &number, sizeof bits);
    digest = (digest ^ bits) * 0x100000001B3ull;
    digest ^= digest >> 29;
  }
  return digest;
}

std::string digest_of(Subject const& subject) {
  std::uint64_t digest = 0xCBF29CE484222325ull;
  for (auto const& sample : subject.samples()) {
    Trial trial = subject.trial(sample.choice);
    trial.batch = 2;
    trial.length = sample.option.empty() ? 70 : 12;
    if (subject.refusal(trial)) continue;
    Probe<double> wide(trial, subject.registry());
    Probe<float> narrow(trial, subject.registry());
    digest = digest_of(everything(narrow), digest_of(everything(wide), digest));
  }
  return fmt::format("{:x}", digest);
}

double to_bf16(double value) { return round_to_bf16(static_cast<float>(value)); }
double to_float(double value) { return static_cast<float>(value); }

template <class P, class Round>
void round_inputs(P& probe, Round round) {
  for (Tensor* x : {&probe.q, &probe.k, &probe.v, &probe.x})
    for (double& value : x->values) value = round(value);
}

Axes output_axes(Trial const& t) {
  return {{"batch", t.batch}, {"head", t.heads}, {"token", t.length}, {"channel", t.value_dim}};
}
}  // namespace

void check_repeats(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    Probe<double> probe(exam.on(trial), exam.registry());
    auto const once = everything(probe), again = everything(probe);
    if (!same_bits(once, again)) exam.close("the second of two equal passes", again, once, 0);
    Reader reader(exam.on(trial), exam.registry());
    auto const whole = reader.whole();
    reader.in_chunks({3, 1});
    auto const after = reader.whole();
    if (!same_bits(whole, after)) exam.close("a pass after a cached one", after, whole, 0);
  }
  exam.close("every second pass", {}, {}, 0);
}

void check_threads(Exam& exam) {
  if (!exam.settings.digest_on_other_threads)
    return exam.not_applicable("needs a second process: sextant plugin check runs one");
  exam.on(exam.subject.trial());
  std::string const here = digest_of(exam.subject), there = exam.settings.digest_on_other_threads();
  if (here != there)
    exam.fail(text("the digest of all passes is ", here, " on ", concurrency(),
                   concurrency() == 1 ? " thread" : " threads", " and ", there.empty() ? "none" : there, " on ",
                   concurrency() == 1 ? 2 : 1));
}

std::string conformance_digest(encoding::Registry const& registry, encoding::Role role, std::string const& name) {
  return digest_of(Subject(registry, role, name));
}

void check_reference(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = sample.option.empty() ? 70 : 12;
    trial.batch = 2;
    std::vector<Trial> trials{trial};
    trial.kv_heads = 2;
    trials.push_back(trial);
    trial.kv_heads = 4, trial.causal = false;
    trials.push_back(trial);
    for (auto const& one : trials) {
      if (exam.subject.refusal(one)) continue;
      Probe<double> probe(exam.on(one), exam.registry());
      exam.close("output", probe.attend(), probe.attend_by_reference(), 1e-11, output_axes(one));
    }
  }
}

void check_float(Exam& exam) {
  for (auto const& sample : exam.subject.samples())
    for (double start : {0.0, 1e6}) {
      Trial trial = exam.subject.trial(sample.choice);
      trial.positions = run_of(trial.length, start);
      if (exam.subject.refusal(trial)) continue;
      Probe<double> wide(exam.on(trial), exam.registry());
      round_inputs(wide, to_float);
      for (auto& parameter : wide.parameters)
        std::transform(parameter.begin(), parameter.end(), parameter.begin(), to_float);
      Probe<float> narrow(trial, exam.registry());
      narrow.q = wide.q, narrow.k = wide.k, narrow.v = wide.v, narrow.x = wide.x;
      narrow.parameters = wide.parameters;
      auto const expected = wide.attend();
      if (!std::all_of(expected.begin(), expected.end(), [](double e) { return std::isfinite(e); }))
        continue;  // past_trained
      exam.close("output", narrow.attend(), expected, 2e-5, output_axes(trial));
      exam.close("embedding", narrow.embed(), wide.embed(), 2e-5,
                 {{"token", trial.length}, {"channel", trial.model_dim}});
      auto const weight = weight_out_of(trial), weight_x = normal_tensor("weight x", wide.x.shape);
      auto const a = narrow.slopes(weight, weight_x);
      auto const b = wide.slopes(weight, weight_x);
      exam.close("d/dq", a.q, b.q, 2e-5);
      exam.close("d/dk", a.k, b.k, 2e-5);
      if (start > 0)
        continue;  // a trained frequency's gradient is the position times an angle's, and so is its rounding
      for (std::size_t n = 0; n < a.parameters.size(); ++n)
        exam.close("d/d " + wide.names[n], a.parameters[n], b.parameters[n], 2e-5);
    }
}

void check_bf16(Exam& exam) {
  constexpr double most = 8;
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    Trial plain = trial;
    plain.choice = {{{"nope", {}, {}}}, {}, 0};
    Probe<double> exact(exam.on(trial), exam.registry()), rounded = exact;
    Probe<double> bare(plain, exam.registry());
    bare.q = exact.q, bare.k = exact.k, bare.v = exact.v, bare.x = exact.x;
    Probe<double> bare_rounded = bare;
    round_inputs(rounded, to_bf16);
    round_inputs(bare_rounded, to_bf16);
    auto const before = bare.attend(), after = bare_rounded.attend();
    double error = 0;
    for (std::size_t i = 0; i < before.size(); ++i) error = std::max(error, std::abs(after[i] - before[i]));
    exam.close("output", rounded.attend(), exact.attend(), most * error, output_axes(trial));
  }
}

void check_device(Exam& exam) {
  static_assert(on_host, "a build for a device has to compare it with the host here");
  exam.not_applicable(text("this build computes on the host (", Exec::name(), ")"));
}

}  // namespace sextant::check
