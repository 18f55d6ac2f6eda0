#include <sextant/run/progress.hpp>

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace sextant::run {
namespace {
double seconds(std::chrono::steady_clock::duration d) { return std::chrono::duration<double>(d).count(); }
constexpr double redraw_terminal = 0.2, redraw_plain = 15;  // seconds
}  // namespace

std::string duration_text(double s) {
  s = std::max(0.0, s);
  if (s < 90) return fmt::format("{:.0f} s", s);
  int const minutes = static_cast<int>(s / 60);
  if (minutes < 60) return fmt::format("{} min {:02.0f} s", minutes, std::floor(s - 60 * minutes));
  return fmt::format("{} h {:02} min", minutes / 60, minutes % 60);
}

Progress::Progress(double weight, bool quiet)
    : total_(weight),
      quiet_(quiet),
      terminal_(::isatty(STDERR_FILENO) != 0),
      began_(Clock::now()),
      drawn_(began_),
      stage_began_(began_) {}

Progress::~Progress() {
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
}

void Progress::start(std::string name, double weight) {
  name_ = std::move(name);
  current_ = weight;
  part_ = 0;
  rate_.clear();
  stage_began_ = Clock::now();
  if (terminal_) draw();
}

void Progress::update(double part, std::string const& rate) {
  part_ = std::clamp(part, 0.0, 1.0);
  rate_ = rate;
  double const wait = terminal_ ? redraw_terminal : redraw_plain;
  if (seconds(Clock::now() - drawn_) >= wait) draw();
}

void Progress::finish(std::string const& outcome) {
  part_ = 1;
  std::string const took = duration_text(seconds(Clock::now() - stage_began_));
  done_ += current_;
  current_ = 0;
  if (!outcome.empty()) say(fmt::format("{}  {} in {}{}", name_, outcome, took, left().empty() ? "" : ", " + left()));
}

void Progress::skip(double weight) { total_ = std::max(0.0, total_ - weight); }

void Progress::say(std::string const& line) {
  if (quiet_) return;
  if (terminal_ && shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
  std::fputs((line + "\n").c_str(), stderr);
  drawn_ = Clock::now();
}

std::string Progress::left() const {
  double const finished = done_ + current_ * part_, spent = seconds(Clock::now() - began_);
  if (total_ <= 0 || finished <= 0 || spent < 0.5) return "";
  return duration_text(spent / finished * (total_ - finished)) + " left";
}

void Progress::draw() {
  if (quiet_) return;
  drawn_ = Clock::now();
  double const share = total_ > 0 ? (done_ + current_ * part_) / total_ : 0;
  std::string const line = fmt::format("{:3.0f} %  {}{}{}", 100 * share, name_, rate_.empty() ? "" : "  " + rate_,
                                       left().empty() ? "" : "  " + left());
  if (terminal_)
    std::fputs(("\r\033[K" + line).c_str(), stderr);
  else
    std::fputs((line + "\n").c_str(), stderr);
  std::fflush(stderr);
  shown_ = true;
}

}  // namespace sextant::run
