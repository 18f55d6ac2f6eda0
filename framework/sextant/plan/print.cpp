// What `sextant plan` shows, and whether it fits.
#include <sextant/base/error.hpp>
#include <sextant/plan/plan.hpp>

#include <fmt/format.h>
#include <algorithm>
#include <sextant/base/json.hpp>

namespace sextant::plan {
namespace {
using nlohmann::json;

std::string bytes_text(double bytes) {
  if (bytes >= 0x1p30) return fmt::format("{:.1f} GiB", bytes / 0x1p30);
  return fmt::format("{:.0f} MiB", std::max(1.0, bytes / 0x1p20));
}

std::string time_text(double seconds) {
  if (seconds < 1) return "< 1 s";
  if (seconds < 120) return fmt::format("{:.0f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  return fmt::format("{:.1f} h", seconds / 3600);
}

std::string cost_text(Cost const& cost) {
  return fmt::format("{:.3g} M parameters, {:.3g} TFLOP, {}, {}", static_cast<double>(cost.parameters) / 1e6,
                     cost.flop / 1e12, bytes_text(cost.bytes), time_text(cost.seconds));
}

char const* mark(bool done) { return done ? "done" : "todo"; }

json cost_json(Cost const& cost) {
  return {{"parameters", cost.parameters}, {"flop", cost.flop}, {"bytes", cost.bytes}, {"seconds", cost.seconds}};
}

struct Left {
  int stages = 0, done = 0;
  double seconds = 0, flop = 0;
  void add(bool is_done, Cost const& cost) {
    ++stages;
    if (is_done)
      ++done;
    else
      seconds += cost.seconds, flop += cost.flop;
  }
};

Left what_is_left(Plan const& plan, Done const& done) {
  Left left;
  for (auto const& stage : plan.train) left.add(done(stage.id), stage.cost);
  for (auto const& stage : plan.evaluate)
    if (!stage.repeats) left.add(done(stage.id), stage.cost);
  return left;
}

std::string const& arm_of(Plan const& plan, std::string const& id) {
  return std::find_if(plan.train.begin(), plan.train.end(), [&](auto const& stage) { return stage.id == id; })->arm;
}

// The lengths of one evaluation under one view, on one line.
std::string measurement_lines(Plan const& plan, std::string const& train_id, std::string const& arm, Done const& done) {
  struct Line {
    std::string name, lengths;
    int stages = 0, done = 0;
    double seconds = 0;
  };
  std::vector<Line> lines;
  for (auto const& stage : plan.evaluate) {
    if (stage.train_id != train_id || stage.arm != arm) continue;
    std::string const name = stage.evaluation.name + (stage.view == "none" ? "" : " under " + stage.view);
    if (lines.empty() || lines.back().name != name) lines.push_back({name, "", 0, 0, 0});
    Line& line = lines.back();
    line.lengths += fmt::format(" {}", stage.length);
    ++line.stages;
    line.done += done(stage.id);
    line.seconds += stage.cost.seconds;
  }
  std::string out;
  for (auto const& line : lines)
    out += fmt::format("      {}  {} at{}, {}\n",
                       line.done == line.stages ? "done"
                       : line.done              ? fmt::format("{}/{} ", line.done, line.stages)
                                                : "todo",
                       line.name, line.lengths, time_text(line.seconds));
  return out;
}
}  // namespace

void expect_fits(Plan const& plan, Done const& done) {
  double const machine = plan.machine.memory;
  auto const check = [&](Cost const& cost, std::string const& what) {
    std::string const needs = what + " needs about " + bytes_text(cost.bytes);
    if (plan.budget.memory)
      expect(cost.bytes <= *plan.budget.memory, spec::place_of(plan.places, "budget.memory", plan.file), ": ", needs,
             ", expected at most budget.memory ", bytes_text(*plan.budget.memory),
             "; lower train.batch, windows or lengths, or raise the budget");
    expect(machine <= 0 || cost.bytes <= machine, plan.file, ": ", needs, ", and this machine has ",
           bytes_text(machine), " free; lower train.batch, windows or lengths");
  };
  for (auto const& stage : plan.train)
    if (!done(stage.id)) check(stage.cost, text("training ", stage.arm, " with seed ", stage.seed));
  for (auto const& stage : plan.evaluate)
    if (!done(stage.id))
      check(stage.cost, text("measuring ", stage.arm, " under ", stage.view, " at ", stage.length, " tokens"));
  double const seconds = what_is_left(plan, done).seconds;
  expect(!plan.budget.wall || seconds <= *plan.budget.wall, spec::place_of(plan.places, "budget.wall", plan.file),
         ": what is left takes about ", time_text(seconds), " at ", fmt::format("{:.3g}", plan.machine.gflops),
         " GFLOP/s, expected at most budget.wall ", time_text(plan.budget.wall.value_or(0)),
         "; train fewer steps or seeds, or raise the budget");
}

std::string plan_text(Plan const& plan, Done const& done) {
  Left const left = what_is_left(plan, done);
  std::string out =
      fmt::format("{}: {} models to train, {} measurements; {} of {} stages done\n", plan.study, plan.train.size(),
                  left.stages - static_cast<int>(plan.train.size()), left.done, left.stages);
  std::string arm;
  for (auto const& stage : plan.train) {
    if (stage.arm != arm)
      out += fmt::format("  {}: {} a seed{}{}\n", stage.arm, cost_text(stage.cost),
                         stage.parent.empty() ? "" : ", after " + arm_of(plan, stage.parent),
                         stage.recompute ? "; forward passes run twice to save memory" : "");
    arm = stage.arm;
    out += fmt::format("    {}  seed {}  {}\n", mark(done(stage.id)), stage.seed, stage.id);
    out += measurement_lines(plan, stage.id, stage.arm, done);
  }
  for (auto const& note : plan.notes) out += "  note: " + note + "\n";
  out += fmt::format("all: {:.3g} TFLOP, at most {} at once, {} at {:.3g} GFLOP/s", plan.total.flop / 1e12,
                     bytes_text(plan.total.bytes), time_text(plan.total.seconds), plan.machine.gflops);
  out += left.done ? fmt::format("; left: {}\n", left.done == left.stages ? "nothing" : time_text(left.seconds)) : "\n";
  return out;
}

std::string plan_json(Plan const& plan, Done const& done) {
  Left const left = what_is_left(plan, done);
  json train = json::array(), evaluate = json::array();
  for (auto const& stage : plan.train)
    train.push_back({{"id", stage.id},
                     {"arm", stage.arm},
                     {"labels", stage.labels},
                     {"seed", stage.seed},
                     {"parent", stage.parent.empty() ? json(nullptr) : json(stage.parent)},
                     {"done", done(stage.id)},
                     {"cost", cost_json(stage.cost)},
                     {"determined_by", json::parse(stage.canonical)}});
  for (auto const& stage : plan.evaluate)
    evaluate.push_back({{"id", stage.id},
                        {"train", stage.train_id},
                        {"arm", stage.arm},
                        {"view", stage.view},
                        {"labels", stage.labels},
                        {"evaluation", stage.evaluation.name},
                        {"seed", stage.seed},
                        {"length", stage.length},
                        {"repeats", stage.repeats},
                        {"done", done(stage.id)},
                        {"cost", cost_json(stage.cost)},
                        {"determined_by", json::parse(stage.canonical)}});
  json const all = {{"study", plan.study},
                    {"title", plan.title},
                    {"spec", plan.file},
                    {"gflops", plan.machine.gflops},
                    {"train", train},
                    {"evaluate", evaluate},
                    {"notes", plan.notes},
                    {"stages", left.stages},
                    {"done", left.done},
                    {"total", cost_json(plan.total)},
                    {"seconds_left", left.seconds}};
  return all.dump(2) + "\n";
}

}  // namespace sextant::plan
