// SPDX-License-Identifier: Apache-2.0
// What tkdc-import, tkdc-export and tkdc-reconcile do alike as programs: how far they are, and how
// they are asked to stop.
#pragma once

#include <chrono>
#include <string>

namespace tkdc::migrate {

// SIGINT and SIGTERM ask to stop; a closed pipe is an error of the write.
void handle_signals();
bool stop_asked();

// "1200 of 20000 principals, 40 a second, some 8 min left".
std::string how_far(std::size_t done, std::size_t of, const std::string& what, double seconds);

// One line on stderr that is written over on a terminal, and stands once in ten seconds elsewhere.
class Screen {
 public:
  Screen();
  void show(const std::string& text);
  void say(const std::string& text);

 private:
  const bool terminal_;
  bool open_ = false;
  std::chrono::steady_clock::time_point shown_ = std::chrono::steady_clock::now();
};

}  // namespace tkdc::migrate
