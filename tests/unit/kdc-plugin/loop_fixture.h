// SPDX-License-Identifier: Apache-2.0
// krb5kdc's side of the agent's socket without krb5kdc: loop.c, fiber.c and serial.c as they are,
// an event loop of a few lines in place of libverto, and the agent in the test's own thread. The
// send() and getpid() of the code under test pass through here (the linker's --wrap), so that they
// are counted, and the socket can be full or the process another.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

extern "C" {
#include "loop.h"
#include "process.h"
#include "stream.h"
#include "verto_calls.h"
}

namespace tkdc::test {

struct Kernel {
  int sends = 0;
  int getpids = 0;
  std::size_t largest = 0;       // octets that were offered at once
  std::size_t takes = SIZE_MAX;  // octets until the socket is full
  bool forked = false;           // this is a child
};
inline Kernel kernel;

// What a request asks, one operation after the other, and the statuses that it got.
struct Login {
  int operations = 1;
  std::size_t octets = 10;
  std::vector<std::uint16_t> statuses;
  bool ended = false;
};

struct Frame {
  std::uint8_t op;
  std::uint64_t id;
};

class FakeAgent {
 public:
  FakeAgent();
  ~FakeAgent();

  const std::string& path() const { return path_; }
  // The newest connection from now on; false when there is none.
  bool accept();
  void hang_up();
  // Whole frames that have come since, greetings left out.
  std::vector<Frame> frames();
  // Of a frame that is not whole yet.
  std::size_t octets_over() const { return in_.size(); }
  // All of them in one write.
  void answer(const std::vector<Frame>& frames);

 private:
  std::string folder_;
  std::string path_;
  int listener_ = -1;
  int fd_ = -1;
  std::vector<std::uint8_t> in_;
};

class LoopTest : public testing::Test {
 protected:
  LoopTest();
  ~LoopTest() override;

  // A callback of krb5kdc's that begins a request, as trampoline.c runs it.
  Login& begin(int operations, std::size_t octets = 10);
  // So many, each at its first operation, of which the agent knows; what is counted starts anew.
  std::vector<Frame> begin_many(int count, int operations, std::size_t octets = 10);
  // A turn of the event loop: the socket's callback if it is due, then the 0 ms timers.
  void turn_socket();
  void turn_timers();
  // The deadlines' timer.
  void tick();
  // After a fork: libverto forgets its events.
  void become_child();
  bool waits_to_write() const;
  std::size_t ended() const;

  FakeAgent agent_;
  std::deque<Login> logins_;
};

}  // namespace tkdc::test
