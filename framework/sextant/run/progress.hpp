// What a long command tells people while it works: how far, how fast, how long still.
#pragma once
#include <chrono>
#include <memory>
#include <string>

namespace sextant::run {

/// Lines on stderr: one that rewrites itself on a terminal, else one every few seconds. Estimates of time left start
/// from the plan's and follow what was measured since.
class Progress {
 public:
  /// `weight`: planned seconds of all work to come. `quiet` prints nothing.
  Progress(double weight, bool quiet);
  ~Progress();

  /// A stage begins; `weight` is its planned share.
  void start(std::string name, double weight);
  /// Part of the current stage that is done, 0 to 1, with a rate to show such as "21 400 tokens/s".
  void update(double part, std::string const& rate = "");
  /// The current stage has ended; `outcome` is shown when not empty.
  void finish(std::string const& outcome = "");
  /// A line of its own that stays.
  void say(std::string const& line);
  /// Work that turned out not to be needed (another runner did it).
  void skip(double weight);

 private:
  void draw();
  std::string left() const;
  using Clock = std::chrono::steady_clock;
  double total_, done_ = 0, current_ = 0, part_ = 0;
  bool quiet_, terminal_, shown_ = false;
  std::string name_, rate_;
  Clock::time_point began_, drawn_, stage_began_;
};

/// "3 min 20 s", "12 s", "1 h 05 min".
std::string duration_text(double seconds);

}  // namespace sextant::run
