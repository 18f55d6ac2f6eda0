#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>
#include <sextant/check/figure.hpp>
#include <sextant/check/formats.hpp>
#include <sextant/results/file.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace sextant::check {
namespace {

std::vector<std::string> const known_formats{"sextant-scaling", "sextant-smollm2", "sextant-rotation",
                                             "sextant-encodings"};

void verify_json(std::string const& path, encoding::Registry const& registry, VerifyOptions const& options,
                 VerifyReport& report) {
  nlohmann::json file;
  try {
    file = nlohmann::json::parse(sextant::read_file(path));
  } catch (nlohmann::json::exception const& error) {
    fail(path, ": neither HDF5 nor JSON that can be read: ", error.what());
  }
  expect(file.is_object() && file.contains("format") && file["format"].is_string(), path,
         ": has no format, expected one of ", join(known_formats));
  report.format = file["format"].get<std::string>();
  expect(report.format == "sextant-scaling" || report.format == "sextant-smollm2", path, ": format is ", report.format,
         ", expected one of ", join(known_formats));
  if (file.contains("version"))
    expect(file["version"] == 1, path, ": version is ", file["version"].dump(), ", expected 1");
  if (report.format == "sextant-scaling") return verify_scaling(file, registry, report);
  try {
    verify_model(file, options, registry, report);
  } catch (nlohmann::json::exception const& error) {
    fail(path, ": is not as docs/verify.md describes the format sextant-smollm2: ", error.what());
  }
}

void verify_hdf5(std::string const& path, encoding::Registry const& registry, VerifyReport& report) {
  results::Group const file = results::read_file(path);
  report.format = file.attribute<std::string>("format", std::string());
  if (report.format == "sextant-rotation") {
    expect(file.attribute<int>("version", 1) == 1, path, ": version is ", file.attribute<int>("version"),
           ", expected 1");
    verify_rotation(file, registry, report);
  } else if (report.format == "sextant-encodings-1") {
    verify_encodings(file, registry, report);
  } else {
    fail(path, ": the attribute format is ", report.format.empty() ? "absent" : report.format, ", expected one of ",
         join(known_formats));
  }
}

}  // namespace

char const* word(Verdict verdict) {
  return verdict == Verdict::pass ? "pass" : verdict == Verdict::fail ? "FAIL" : "missing";
}

void add_case(VerifyReport& report, std::string name, std::string method,
              std::function<void(VerifyCase&)> const& body) {
  VerifyCase out;
  out.name = std::move(name);
  out.method = std::move(method);
  try {
    body(out);
  } catch (std::exception const& error) {
    out.verdict = Verdict::fail;
    out.note = error.what();
  }
  report.cases.push_back(std::move(out));
}

void add_group_cases(results::Group const& file, VerifyReport& report,
                     std::function<void(results::Group const&, VerifyCase&)> const& body) {
  expect(!file.groups.empty(), report.file, ": holds no cases");
  for (auto const& [name, group] : file.groups)
    add_case(report, name, group.attribute<std::string>("method", std::string()), [&, &group = group](VerifyCase& out) {
      expect(!out.method.empty(), "the attribute method is absent");
      body(group, out);
    });
}

void mark_missing(VerifyCase& out, std::string const& plugin) {
  out.verdict = Verdict::missing;
  out.note = "there is no plugin for " + plugin;
}

VerifyReport verify(std::string const& path, encoding::Registry const& registry, VerifyOptions const& options) {
  VerifyReport report;
  report.file = path;
  std::string const head = sextant::read_file(path).substr(0, 8);
  expect(!head.empty(), path, ": is empty");
  if (head == "\x89HDF\r\n\x1a\n")
    verify_hdf5(path, registry, report);
  else
    verify_json(path, registry, options, report);
  return report;
}

int VerifyReport::count(Verdict verdict) const {
  return static_cast<int>(
      std::count_if(cases.begin(), cases.end(), [&](VerifyCase const& c) { return c.verdict == verdict; }));
}

bool VerifyReport::passed() const { return !cases.empty() && count(Verdict::pass) == static_cast<int>(cases.size()); }

std::string VerifyReport::table(bool errors_only) const {
  std::size_t name = 4, what = 14;
  for (auto const& c : cases) {
    name = std::max(name, c.name.size());
    what = std::max(what, c.what.size());
  }
  std::string out = fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  verdict\n", "case", name, "worst quantity", what,
                                "error", "tolerance");
  for (auto const& c : cases) {
    if (errors_only && c.verdict == Verdict::pass) continue;
    bool const measured = !c.what.empty();
    out += fmt::format("{:<{}}  {:<{}}  {:>9}  {:>9}  {}{}\n", c.name, name, c.what, what,
                       measured ? figure(c.error) : "-", measured ? figure(c.tolerance) : "-", word(c.verdict),
                       c.note.empty() ? "" : "  " + c.note);
  }
  out += fmt::format("{}: {} cases, {} passed, {} failed, {} missing\n", file, cases.size(), count(Verdict::pass),
                     count(Verdict::fail), count(Verdict::missing));
  return out;
}

std::string VerifyReport::json() const {
  nlohmann::ordered_json root;
  root["file"] = file;
  root["format"] = format;
  root["passed"] = passed();
  root["counts"] = {
      {"pass", count(Verdict::pass)}, {"fail", count(Verdict::fail)}, {"missing", count(Verdict::missing)}};
  root["cases"] = nlohmann::ordered_json::array();
  for (auto const& c : cases) {
    nlohmann::ordered_json item{{"name", c.name}, {"method", c.method}, {"what", c.what}};
    bool const measured = !c.what.empty();
    item["error"] = measured && std::isfinite(c.error) ? nlohmann::ordered_json(c.error) : nlohmann::ordered_json();
    item["tolerance"] = measured ? nlohmann::ordered_json(c.tolerance) : nlohmann::ordered_json();
    item["verdict"] = c.verdict == Verdict::pass ? "pass" : c.verdict == Verdict::fail ? "fail" : "missing";
    item["note"] = c.note;
    root["cases"].push_back(std::move(item));
  }
  return root.dump(2);
}

}  // namespace sextant::check
