// The conformance report as a table and as JSON.
#include <sextant/base/error.hpp>
#include <sextant/check/conformance.hpp>
#include <sextant/check/figure.hpp>

#include <fmt/format.h>
#include <sextant/base/json.hpp>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {
nlohmann::ordered_json json_of(double value) {
  if (std::isfinite(value)) return value;
  return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
}
}  // namespace

bool Conformance::passed() const { return !findings.empty() && count(Outcome::fail) == 0; }

int Conformance::count(Outcome outcome) const {
  return static_cast<int>(
      std::count_if(findings.begin(), findings.end(), [&](Finding const& f) { return f.outcome == outcome; }));
}

Finding const& Conformance::at(std::string const& check) const {
  for (auto const& finding : findings)
    if (finding.check == check) return finding;
  fail("the report on ", plugin, " has no check ", check, did_you_mean(check, conformance_checks()));
}

std::vector<std::string> Conformance::failures() const {
  std::vector<std::string> out;
  for (auto const& finding : findings)
    if (finding.outcome == Outcome::fail) out.push_back(finding.check);
  return out;
}

std::string Conformance::table() const {
  std::string out =
      fmt::format("{}  ({})\n\n{:<23} {:<15} {:>9}  {:>9}\n", plugin, file, "check", "verdict", "worst", "bound");
  for (auto const& f : findings) {
    bool const figures = f.measured && f.outcome != Outcome::not_claimed;
    std::string line =
        fmt::format("{:<23} {:<15} {:>9}  {:>9}  {}", f.check, word(f.outcome), figures ? figure(f.worst) : "-",
                    figures ? figure(f.bound) : "-", f.outcome == Outcome::fail ? "" : f.note);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
    if (f.outcome != Outcome::fail) continue;
    out += fmt::format("  expected  {}\n", f.meaning);
    if (!f.note.empty()) out += fmt::format("  because   {}\n", f.note);
    if (f.measured) out += fmt::format("  found     {:.17g}, expected {:.17g}, in {}\n", f.found, f.expected, f.place);
    if (!f.input.empty()) out += fmt::format("  input     {}\n", f.input);
  }
  out += fmt::format("\n{}: {} passed, {} failed, {} not claimed, {} not applicable\n", plugin, count(Outcome::pass),
                     count(Outcome::fail), count(Outcome::not_claimed), count(Outcome::not_applicable));
  return out;
}

std::string Conformance::json() const {
  nlohmann::ordered_json root{{"plugin", plugin}, {"role", noun(role)}, {"file", file}, {"passed", passed()}};
  root["checks"] = nlohmann::ordered_json::array();
  for (auto const& f : findings) {
    nlohmann::ordered_json item{{"check", f.check}, {"meaning", f.meaning}};
    item["verdict"] = f.outcome == Outcome::fail ? "fail" : word(f.outcome);
    item["worst"] = f.measured ? json_of(f.worst) : nlohmann::ordered_json();
    item["bound"] = f.measured ? json_of(f.bound) : nlohmann::ordered_json();
    item["note"] = f.note;
    if (f.outcome == Outcome::fail) {
      item["input"] = f.input;
      if (f.measured) item["place"] = f.place, item["found"] = json_of(f.found), item["expected"] = json_of(f.expected);
    }
    root["checks"].push_back(std::move(item));
  }
  return root.dump(2);
}

}  // namespace sextant::check
