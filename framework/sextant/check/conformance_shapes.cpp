// Shapes, counts, state and inputs of unusual size.
#include <sextant/check/conformance_exam.hpp>

#include <algorithm>
#include <cmath>
#include <set>

namespace sextant::check {
namespace {
using encoding::Position;
using encoding::Term;

std::string count_of(std::string const& what, std::size_t found, std::size_t expected) {
  return text(what, " is ", found, ", expected ", expected);
}

/// What the parameters of one term should be by its own declarations. Empty when they are.
std::string fault_in_parameters(Term const& term) {
  auto const& e = *term.encoding;
  auto const& shape = term.shape;
  std::size_t const rows = e.weights_shared_by_heads() ? 1 : shape.heads;
  std::size_t const weights = rows * e.weight_count(shape);
  auto const start = e.initial_weights(shape, Stream(3, "weights"));
  if (start.size() != weights) return count_of("the number of initial weights", start.size(), weights);
  if (start != e.initial_weights(shape, Stream(3, "weights"))) return "two draws of one stream start differently";
  auto const infos = e.parameters(shape);
  std::set<std::string> names;
  for (auto const& info : infos) {
    if (info.name.empty() || !names.insert(info.name).second) return "two parameters are called \"" + info.name + '"';
    if (info.shape.empty() || info.size() == 0) return info.name + " has no numbers";
    if (info.per_head && info.shape[0] != static_cast<std::size_t>(shape.heads))
      return count_of(info.name + ", which is per head: its first axis", info.shape[0], shape.heads);
    for (std::size_t i = 0; i < info.size(); ++i) {
      double const value = info.init(Stream(3, info.name), i);
      if (!std::isfinite(value)) return text(info.name, " starts with ", value, " at number ", i);
    }
  }
  if (e.trains(shape) && (infos.empty() || infos.front().size() != weights))
    return count_of("the first parameter's size", infos.empty() ? 0 : infos.front().size(), weights);
  return "";
}

/// Positions whose offsets reach every bucket of a table: dense, then ever sparser.
std::vector<double> spread(int count) {
  std::vector<double> out;
  for (double at = 0; static_cast<int>(out.size()) < count; at = std::max(at + 1, std::floor(at * 1.35)))
    out.push_back(at);
  return out;
}

/// Largest |slope| of every number of every parameter, over inputs of both directions and many offsets.
std::vector<std::vector<double>> reach(Exam& exam, Trial trial) {
  std::vector<std::vector<double>> most;
  for (bool far : {false, true})
    for (bool causal : {true, false}) {
      trial.length = 16;
      trial.causal = causal;
      trial.positions = far ? spread(16) : std::vector<double>{};
      if (exam.subject.refusal(trial)) continue;
      Probe<double> probe(exam.on(trial), exam.registry());
      auto const slopes = probe.slopes(normal_tensor("weight out", {1, std::size_t(trial.heads), 16, 3}),
                                       normal_tensor("weight x", {1, 16, std::size_t(trial.model_dim)}));
      most.resize(slopes.parameters.size());
      for (std::size_t n = 0; n < most.size(); ++n) {
        most[n].resize(slopes.parameters[n].size());
        for (std::size_t i = 0; i < most[n].size(); ++i)
          most[n][i] = std::max(most[n][i], std::abs(slopes.parameters[n][i]));
      }
    }
  return most;
}

/// Whether parameter n moves a logit: one that is the same along a row moves no output, as softmax takes it out.
bool moves_logits(Exam& exam, Trial const& trial, std::size_t n) {
  Probe<double> probe(trial, exam.registry());
  auto const before = probe.logits();
  for (std::size_t i = 0; i < probe.parameters[n].size(); ++i)
    probe.parameters[n][i] += 0.1 * Stream(5, "nudge").normal(i);
  return probe.logits() != before;
}

void check_reach(Exam& exam, Trial const& trial) {
  auto const most = reach(exam, trial);
  Probe<double> const probe(trial, exam.registry());
  for (std::size_t n = 0; n < most.size(); ++n)
    if (*std::max_element(most[n].begin(), most[n].end()) < 1e-12 && !moves_logits(exam, trial, n))
      exam.fail(probe.names[n] + " is trained, and nothing that it holds moves any output");
  // A head that reads a few numbers reads all of them; of a long table some rows may lie out of reach.
  Position const position(trial.choice, exam.registry(), trial.shape(), trial.target_length);
  if (position.terms().size() != 1) return;
  Term const& term = position.terms().front();
  int const count = term.encoding->weight_count(term.shape);
  if (count == 0 || count > 8 || !term.encoding->trains(term.shape) || most.empty()) return;
  for (int n = 0; n < count; ++n) {
    double moved = 0;
    for (std::size_t row = 0; row < most[0].size() / count; ++row) moved = std::max(moved, most[0][row * count + n]);
    if (moved < 1e-12)
      exam.fail(text(probe.names[0], " declares ", count, " numbers a head, and number ", n, " moves no output"));
  }
}

std::size_t declared_bytes(Trial const& trial, encoding::Registry const& registry, int layers) {
  Position const position(trial.choice, registry, trial.shape(), trial.target_length);
  std::size_t const number = sizeof(double);
  std::size_t key_sets = 1, key_dim = trial.head_dim, own = 0;
  for (auto const& term : position.terms()) {
    auto const& stages = term.stages;
    key_sets = std::max<std::size_t>(key_sets, term.encoding->key_sets());
    key_dim += term.encoding->lifted(term.shape) - term.shape.head_dim;
    for (auto const& gate : stages.gates)
      if (gate.active) own += 2 * number * (gate.shared_by_heads ? 1 : term.heads);
    for (auto const& f : stages.features) own += number * term.heads * f.width * (f.taps > 0 ? 2 : 1);
  }
  std::size_t const kept = number * trial.kv_heads * (key_sets * key_dim + trial.head_dim);
  return 2 * (number + sizeof(int)) + layers * (kept + own);  // position, length of the sequence; document, token
}
}  // namespace

void check_shapes(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.batch = 2;
    Probe<double> probe(exam.on(trial), exam.registry());
    std::size_t const tokens = std::size_t(trial.batch) * trial.length;
    auto const size = [&](std::string const& what, std::size_t found, std::size_t expected) {
      if (found != expected) exam.fail(count_of("the number of elements of " + what, found, expected));
    };
    auto const out = probe.attend(), embedded = probe.embed();
    auto const turned = probe.turned();
    size("the output", out.size(), tokens * trial.heads * trial.value_dim);
    size("the embedding", embedded.size(), tokens * trial.model_dim);
    Position const position(trial.choice, exam.registry(), trial.shape());
    std::size_t width = trial.head_dim;
    for (auto const& term : position.terms()) {
      int const lifted = term.encoding->lifted(term.shape);
      if (lifted < term.shape.head_dim)
        exam.fail(text("a head of ", term.shape.head_dim, " channels is mapped to ", lifted, ", expected no fewer"));
      width += lifted - term.shape.head_dim;
    }
    size("the turned query", turned.q.size(), tokens * trial.heads * width);
    size("the turned key", turned.k.size(), tokens * trial.kv_heads * width);
    exam.finite("turned query", turned.q);
    exam.finite("turned key", turned.k);
    exam.finite("embedding", embedded);
    exam.finite("output", out,
                {{"batch", 2}, {"head", trial.heads}, {"token", trial.length}, {"channel", trial.value_dim}});
  }
}

void check_parameters(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    exam.on(trial);
    Position const position(trial.choice, exam.registry(), trial.shape());
    for (auto const& term : position.terms())
      if (auto const fault = fault_in_parameters(term); !fault.empty()) exam.fail(fault);
    if (!position.parameters().empty()) check_reach(exam, trial);
  }
}

void check_state(Exam& exam) {
  std::set<std::size_t> seen;
  for (auto const& sample : exam.subject.samples()) {
    Trial const trial = exam.subject.trial(sample.choice);
    Reader reader(exam.on(trial), exam.registry());
    std::size_t bytes[2];
    for (int more : {0, 1}) {
      reader.in_chunks({trial.length}, trial.length + 16 * more);
      bytes[more] = reader.cache_bytes();
    }
    reader.in_chunks({1});
    if (reader.cache_bytes() != bytes[0])
      exam.fail(text("a cache filled token by token holds ", reader.cache_bytes(), " bytes, at once ", bytes[0]));
    std::size_t const declared = declared_bytes(trial, exam.registry(), reader.model().config().layers);
    std::size_t const grown = (bytes[1] - bytes[0]) / 16;
    if (grown != declared) exam.fail(count_of("bytes per token of a cache of two layers", grown, declared));
    Trial plain = trial;
    plain.choice = {{{"nope", {}, {}}}, {}, trial.choice.trained_length};
    if (exam.registry().has(encoding::Role::encoding, "nope"))
      seen.insert((declared - declared_bytes(plain, exam.registry(), 2)) / 2);
  }
  if (!seen.empty())
    exam.note(text(*seen.begin(), *seen.rbegin() > *seen.begin() ? text(" to ", *seen.rbegin()) : "",
                   " bytes per token and layer beside key and value, in double"));
}

void check_short_inputs(Exam& exam) {
  for (auto const& sample : exam.subject.samples()) {
    Trial trial = exam.subject.trial(sample.choice);
    trial.length = 1;
    Probe<double> probe(exam.on(trial), exam.registry());
    auto const out = probe.attend();
    exam.finite("output of one token", out);
    exam.close("output of one token against the plain loops", out, probe.attend_by_reference(), 1e-12);
    exam.finite("embedding of one token", probe.embed());
    trial.length = 0;
    exam.on(trial);
    exam.may_refuse("no token", [&] {
      Probe<double> none(trial, exam.registry());
      if (!none.attend().empty()) exam.fail("no token gives an output");
    });
  }
}

void check_odd_shapes(Exam& exam) {
  struct Odd {
    int heads, kv_heads, head_dim;
  };
  int worked = 0;
  for (auto const& sample : exam.subject.samples())
    for (Odd const odd : {Odd{3, 3, 8}, {4, 4, 6}, {4, 4, 10}, {4, 4, 5}, {6, 2, 8}, {1, 1, 2}, {4, 4, 1}}) {
      Trial trial = exam.subject.trial(sample.choice);
      trial.heads = odd.heads, trial.kv_heads = odd.kv_heads, trial.head_dim = odd.head_dim;
      exam.on(trial);
      bool const works = exam.may_refuse(text(odd.heads, " heads over ", odd.kv_heads, " of ", odd.head_dim), [&] {
        Probe<double> probe(trial, exam.registry());
        auto const out = probe.attend();
        exam.finite("output", out);
        exam.close("output against the plain loops", out, probe.attend_by_reference(), 1e-11);
        exam.finite("embedding", probe.embed());
      });
      worked += works && sample.option.empty();
    }
  if (worked == 0) exam.fail("every odd shape is refused, 3 heads of 8 channels and 4 heads of 6 and 10 among them");
}

}  // namespace sextant::check
