// SPDX-License-Identifier: Apache-2.0
// How far long work is, on one line of stderr: with rate and time left. On a terminal the line is
// written over five times a second; elsewhere it stands once in ten seconds. One thread's.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

namespace tkdc {

// "1200 of 20000 principals, 40 a second, some 8 min left".
std::string how_far(std::size_t done, std::size_t of, const std::string& what, double seconds);

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(std::ostream& out, bool terminal);  // for tests
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  // The rate is that since this line was made.
  void show(std::size_t done, std::size_t of, const std::string& what);
  void say(const std::string& text);
  // Before anything else is printed: on a terminal the line would stay in front of it.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& out_;
  const bool terminal_;
  bool open_ = false;
  const Clock::time_point began_ = Clock::now();
  Clock::time_point due_;
};

}  // namespace tkdc
