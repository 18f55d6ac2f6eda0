// Options: each is read, and its values are accepted somewhere.
#include <sextant/check/conformance_exam.hpp>

#include <map>

namespace sextant::check {
namespace {
using encoding::Choice;
using encoding::Option;
using encoding::Value;

/// Everything an option could change: parameters and their starting values, outputs, embedding, a gradient.
std::optional<std::vector<double>> print_of(Exam& exam, Choice const& choice) {
  std::vector<double> out;
  Trial trial = exam.subject.trial(choice);
  bool any = false;
  for (int heads : {trial.heads, 3})
    for (bool far : {false, true}) {
      trial.heads = trial.kv_heads = heads;
      trial.causal = far;
      trial.target_length = far ? 64 : 0;
      trial.positions = far ? std::vector<double>{0, 1, 3, 9, 20, 45, 150, 700} : std::vector<double>{};
      exam.on(trial);
      try {
        Probe<double> probe(trial, exam.registry());
        auto const add = [&](std::vector<double> const& more) { out.insert(out.end(), more.begin(), more.end()); };
        encoding::Position const position(trial.choice, exam.registry(), trial.shape());
        if (auto const sampler = position.sampler())
          add({double(sampler->below), double(sampler->evaluates), double(sampler->skips)});
        Trial start = trial;
        start.fresh = true;
        for (auto const& parameter : Probe<double>(start, exam.registry()).parameters) {
          out.push_back(static_cast<double>(parameter.size()));
          add(parameter);
        }
        add(probe.attend());
        add(probe.embed());
        add(probe
                .slopes(normal_tensor("weight out", {1, std::size_t(heads), 8, 3}),
                        normal_tensor("weight x", {1, 8, std::size_t(trial.model_dim)}))
                .q);
        any = true;
      } catch (Error const& error) {  // refusing is a way to act, too
        for (char const* c = error.what(); *c; ++c) out.push_back(*c);
      }
    }
  if (!any) return {};
  return out;
}

class Effects {
 public:
  explicit Effects(Exam& exam) : exam_(exam) {}

  /// Throws nothing; fails the exam for an option that nobody reads.
  void check(Option const& option) {
    auto const values = exam_.subject.values_of(option);
    // Words and flags must each differ from every other; of numbers one from one.
    bool const each = option.kind == encoding::Kind::text || option.kind == encoding::Kind::boolean;
    std::size_t const count = values.size();
    std::vector<bool> accepted(count, false);
    std::vector<std::vector<bool>> differ(count, std::vector<bool>(count, false));
    bool moved = false;
    auto const enough = [&] {
      if (!each) return moved;
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (!differ[a][b]) return false;
      return true;
    };
    for (auto const& context : contexts(option)) {
      std::vector<std::optional<std::vector<double>>> prints;
      for (auto const& value : values) {
        Choice choice = context;
        choice.options[option.name] = value;
        prints.push_back(print(choice));
        accepted[prints.size() - 1] = accepted[prints.size() - 1] || prints.back();
      }
      for (std::size_t a = 0; a < count; ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (prints[a] && prints[b] && *prints[a] != *prints[b]) differ[a][b] = moved = true;
      auto const as_it_was = print(context);
      for (std::size_t a = 0; a < count && !each; ++a)  // a number that is refused here acts by that
        if (as_it_was && prints[a] != as_it_was) moved = true;
      if (enough()) return;
    }
    auto const named = [&](std::size_t n) { return option.name + " " + encoding::to_text(values[n]); };
    if (!each) {
      bool excused = !values.empty() && promised(option, values.front());
      if (!moved && !excused) exam_.fail("the option " + option.name + " is accepted and changes nothing");
      return;
    }
    for (std::size_t a = 0; a < count; ++a) {
      if (!accepted[a] && !promised(option, values[a])) exam_.fail(named(a) + " is refused wherever it was tried");
      for (std::size_t b = 0; b < a; ++b)
        if (!differ[a][b] && accepted[a] && accepted[b] && !promised(option, values[a]) && !promised(option, values[b]))
          exam_.fail(named(a) + " is accepted and does what " + named(b) + " does");
    }
  }

 private:
  /// Whether the plugin says itself that this value makes it what it is without: `equals` holds it to that.
  bool promised(Option const& option, Value const& value) const {
    auto const& about = exam_.subject.about();
    for (auto const& law : about.equals) {
      auto const given = law.example.options.find(option.name);
      if (law.other.use == about.name && given != law.example.options.end() &&
          (given->second == value || value == option.fallback))
        return true;
    }
    return false;
  }

  /// Options under which another one may show: the starts, and each with one other option changed.
  std::vector<Choice> contexts(Option const& option) const {
    std::vector<Choice> out;
    for (auto const& sample : exam_.subject.samples())
      if (sample.option.empty()) out.push_back(sample.choice);
    std::size_t const starts = out.size();
    for (std::size_t start = 0; start < starts; ++start)
      for (auto const& other : exam_.subject.about().options) {
        if (other.name == option.name) continue;
        int tried = 0;
        for (auto const& value : exam_.subject.values_of(other)) {
          if (++tried > 4) break;
          out.push_back(out[start]);
          out.back().options[other.name] = value;
        }
      }
    return out;
  }

  std::optional<std::vector<double>> print(Choice const& choice) {
    std::string key;
    for (auto const& [name, value] : choice.options) key += name + "=" + encoding::to_text(value) + ";";
    for (auto const& part : choice.parts) key += part.use + ",";
    auto const known = known_.find(key);
    if (known != known_.end()) return known->second;
    return known_[key] = print_of(exam_, choice);
  }

  Exam& exam_;
  std::map<std::string, std::optional<std::vector<double>>> known_;
};
}  // namespace

void check_options(Exam& exam) {
  if (exam.subject.about().options.empty()) return exam.note("it has none");
  Effects effects(exam);
  for (auto const& option : exam.subject.about().options) effects.check(option);
}

}  // namespace sextant::check
