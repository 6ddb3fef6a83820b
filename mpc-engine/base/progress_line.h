// SPDX-License-Identifier: Apache-2.0
// How far long work is, on one line of stderr: with rate and time left. On a terminal the line is
// written over five times a second; elsewhere it stands once in ten seconds. One thread's.
#pragma once

#include <chrono>
#include <iosfwd>
#include <optional>
#include <string>

namespace tkdc {

// "1200 of 20000 principals, 40 a second, some 8 min left".
// `before` of them were done before those seconds began.
std::string how_far(std::size_t done, std::size_t of, const std::string& what, double seconds,
                    std::size_t before = 0);

class ProgressLine {
 public:
  ProgressLine();
  ProgressLine(std::ostream& out, bool terminal);  // for tests
  ~ProgressLine() { clear(); }
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  void show(const std::string& text);
  // The rate is that since this was first called: others may have begun long before.
  void show(std::size_t done, std::size_t of, const std::string& what);
  void say(const std::string& text);
  // Before anything else is printed: on a terminal the line would stay in front of it.
  void clear();

 private:
  using Clock = std::chrono::steady_clock;

  std::ostream& out_;
  const bool terminal_;
  bool open_ = false;
  struct Begun {
    Clock::time_point at;
    std::size_t done;
  };
  std::optional<Begun> begun_;
  Clock::time_point due_;
};

}  // namespace tkdc
