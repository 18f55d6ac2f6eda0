#include <sextant/base/error.hpp>
#include <sextant/check/conformance_only.hpp>
#include <sextant/check/conformance_task.hpp>
#include <sextant/encoding/task.hpp>

#include <algorithm>
#include <map>
#include <set>

namespace sextant::check {
namespace {
using encoding::Draw;
using encoding::Row;
using encoding::Task;

constexpr std::uint64_t drawn = 400;  // examples of each length

/// A task at one length.
struct Asked {
  encoding::Registry const& registry;
  Task const& task;
  int length;
};

std::string wrong_row(Task const& task, int length, Row const& row) {
  if (row.tokens.size() != row.scored.size())
    return text(row.scored.size(), " marks for ", row.tokens.size(), " tokens");
  if (static_cast<int>(row.tokens.size()) > task.row_length(length))
    return text(row.tokens.size(), " tokens, ", task.row_length(length), " declared");
  for (auto const token : row.tokens)
    if (token < 1 || token >= task.vocabulary())
      return text("token ", token, ", expected 1 to ", task.vocabulary() - 1, " (0 is padding)");
  return "";
}

std::string wrong_answer(Task const&, int, Row const& row) {
  if (std::count(row.scored.begin(), row.scored.end(), 1) == 0) return "no token is an answer";
  return row.scored.front() ? "the first token is an answer, and nothing stands before it" : "";
}

std::string wrong_position(Task const& task, int length, Row const& row) {
  if (!task.places()) return row.positions.empty() ? "" : "tokens are placed, and the task has no reach()";
  if (row.positions.size() != row.tokens.size())
    return text(row.positions.size(), " positions for ", row.tokens.size(), " tokens");
  for (double const position : row.positions)
    if (position < 0 || position >= task.reach(length))
      return text("position ", position, ", expected 0 to ", task.reach(length) - 1);
  return "";
}

Row draw(Task const& task, int length, std::uint64_t n, std::optional<double> depth = {}) {
  Draw one(Stream(1, "check/task"), n, 0, depth);
  return task.example(length, one);
}

/// The first fault that `wrong` finds in an example.
template <auto wrong>
std::string each_example(Asked const& asked) {
  for (std::uint64_t n = 0; n < drawn; ++n)
    if (auto const fault = wrong(asked.task, asked.length, draw(asked.task, asked.length, n)); !fault.empty())
      return fault;
  return "";
}

std::string repeats(Asked const& asked) {
  auto const& [registry, task, length] = asked;
  std::set<std::vector<std::int32_t>> seen;
  for (std::uint64_t n = 0; n < drawn; ++n) {
    auto const row = draw(task, length, n);
    if (row.tokens != draw(task, length, n).tokens) return text("example ", n, " differs when it is drawn again");
    seen.insert(row.tokens);
  }
  return length == task.longest() && seen.size() < 2 ? "every draw gives the same example" : "";
}

std::string determined(Asked const& asked) {
  std::map<std::vector<std::int32_t>, std::int32_t> answers;
  for (std::uint64_t n = 0; n < drawn; ++n) {
    auto const row = draw(asked.task, asked.length, n);
    for (std::size_t i = 1; i < row.tokens.size(); ++i) {
      if (!row.scored[i]) continue;
      std::vector<std::int32_t> const before(row.tokens.begin(), row.tokens.begin() + static_cast<std::ptrdiff_t>(i));
      auto const [it, is_new] = answers.emplace(before, row.tokens[i]);
      if (!is_new && it->second != row.tokens[i])
        return text("after ", before, " the answer is ", it->second, " once and ", row.tokens[i], " another time");
    }
  }
  return "";
}

std::string depths(Asked const& asked) {
  auto const& [registry, task, length] = asked;
  if (!task.by_depth()) return "";
  for (double const depth : {0.0, 0.5, 1.0}) {
    auto const row = draw(task, length, 0, depth);
    if (auto const wrong = wrong_row(task, length, row); !wrong.empty()) return text("at depth ", depth, ": ", wrong);
  }
  return length > 4 && draw(task, length, 0, 0.0).tokens == draw(task, length, 0, 1.0).tokens
             ? "depths 0 and 1 give the same example"
             : "";
}

std::string lengths_refused(Asked const& asked) {
  auto choice = asked.task.choice();
  for (std::vector<double> const& wrong : {std::vector<double>{8}, {8, 4}, {2.5, 4}}) {
    choice.options["lengths"] = wrong;
    try {
      asked.registry.make_task(choice);
      return text("lengths ", wrong, " are accepted");
    } catch (Error const&) {
    }
  }
  return "";
}

bool always(Task const&) { return true; }
bool by_depth(Task const& task) { return task.by_depth(); }
bool places(Task const& task) { return task.places(); }

struct TaskCheck {
  char const *name, *meaning;
  std::string (*fault)(Asked const&);  ///< what is wrong; empty: nothing
  bool (*claimed)(Task const&) = always;
};

constexpr TaskCheck checks[] = {
    {"rows", "tokens lie in the vocabulary, and rows are no longer than declared", each_example<wrong_row>},
    {"answers", "every example has an answer, behind a question", each_example<wrong_answer>},
    {"positions", "where tokens are placed, all are, and within the declared reach", each_example<wrong_position>,
     places},
    {"repeats", "the same draw gives the same example, another draw another", repeats},
    {"determined", "the same tokens before a place of the answer give the same answer", determined},
    {"depth", "where something is told at a depth, each depth has an example", depths, by_depth},
    {"lengths", "lengths that fall, or are not two, are refused", lengths_refused},
};
}  // namespace

std::vector<std::string> task_checks() {
  std::vector<std::string> out;
  for (auto const& check : checks) out.push_back(check.name);
  return out;
}

Conformance check_task(encoding::Registry const& registry, std::string const& name,
                       ConformanceSettings const& settings) {
  using encoding::Role;
  Conformance out{.plugin = name, .file = registry.file_of(Role::task, name).string(), .role = Role::task};
  expect_known(settings, task_checks());
  auto const& examples = registry.describe(Role::task, name).examples;
  for (auto const& check : checks) {
    if (!wants(settings, check.name)) continue;
    Finding finding{.check = check.name, .meaning = check.meaning};
    if (examples.empty()) finding.outcome = Outcome::fail, finding.note = "the plugin gives no example of its options";
    for (auto const& example : examples) {
      try {
        auto const task = registry.make_task({name, example.options, {}});
        if (!check.claimed(*task)) finding.outcome = Outcome::not_claimed;
        for (int const length : {task->shortest(), task->longest()}) {
          finding.input = text("length ", length);
          if (settings.before) settings.before(out, finding);
          if (auto const fault = check.fault({registry, *task, length}); !fault.empty()) fail(fault);
        }
      } catch (std::exception const& error) {
        finding.outcome = Outcome::fail;
        finding.note = error.what();
        break;
      }
    }
    out.findings.push_back(std::move(finding));
  }
  return out;
}

}  // namespace sextant::check
