// Runs the program as a user would: its own process, with what it printed and how it ended.
#pragma once
#include <sextant/base/error.hpp>
#include <sextant/base/file.hpp>

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "support/temp_folder.hpp"

namespace sextant::test {

struct Ended {
  int status = 0;      ///< exit status, or 128 + signal
  std::string output;  ///< stdout and stderr
};

/// `sextant ARGUMENTS`, started; killed with its owner.
class Program {
 public:
  explicit Program(std::vector<std::string> arguments, std::vector<std::string> const& environment = {}) {
    static int count = 0;
    output_ = fs::temp_directory_path() / text("sextant-out-", ::getpid(), "-", count++);
    pid_ = ::fork();
    if (pid_ == 0) {
      int const out = ::open(output_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
      ::dup2(out, STDOUT_FILENO);
      ::dup2(out, STDERR_FILENO);
      for (auto const& setting : environment) ::putenv(const_cast<char*>(setting.c_str()));
      ::setenv("OMP_WAIT_POLICY", "passive", 0);
      std::string program = std::getenv("SEXTANT_BINARY");
      std::vector<char*> argv{program.data()};
      for (auto& argument : arguments) argv.push_back(argument.data());
      argv.push_back(nullptr);
      ::execv(program.c_str(), argv.data());
      ::_exit(127);
    }
  }
  ~Program() {
    kill(SIGKILL);
    wait();
    std::error_code ignored;
    fs::remove(output_, ignored);
  }
  Program(Program const&) = delete;
  Program& operator=(Program const&) = delete;

  void kill(int signal) {
    if (pid_ > 0) ::kill(pid_, signal);
  }
  Ended wait() {
    if (pid_ > 0) {
      int raw = 0;
      ::waitpid(pid_, &raw, 0);
      pid_ = -1;
      ended_.status = WIFEXITED(raw) ? WEXITSTATUS(raw) : 128 + WTERMSIG(raw);
      ended_.output = read_file(output_);
    }
    return ended_;
  }

 private:
  pid_t pid_ = -1;
  fs::path output_;
  Ended ended_;
};

inline Ended sextant_program(std::vector<std::string> arguments, std::vector<std::string> const& environment = {}) {
  return Program(std::move(arguments), environment).wait();
}

}  // namespace sextant::test
