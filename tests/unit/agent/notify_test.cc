// SPDX-License-Identifier: Apache-2.0
#include "agent/notify.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <string>

#include "support/scratch.h"

namespace tkdc::agent {
namespace {

class NotifyTest : public testing::Test {
 protected:
  NotifyTest() {
    directory_ = test::make_scratch("notify-test");
    path_ = directory_ + "/notify";
    fd_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_NONBLOCK, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path_.data(), path_.size());
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    setenv("NOTIFY_SOCKET", path_.c_str(), 1);
  }
  ~NotifyTest() override {
    unsetenv("NOTIFY_SOCKET");
    close(fd_);
    unlink(path_.c_str());
    rmdir(directory_.c_str());
  }
  std::string next() {
    char text[256];
    ssize_t n = recv(fd_, text, sizeof text, 0);
    return n < 0 ? "" : std::string(text, static_cast<std::size_t>(n));
  }

  std::string directory_, path_;
  int fd_ = -1;
};

TEST_F(NotifyTest, TheServiceManagerHearsIt) {
  EXPECT_TRUE(notify("READY=1"));
  EXPECT_EQ(next(), "READY=1");
}

// A call that waits would hang here, and the test with it.
TEST_F(NotifyTest, AFullQueueIsNotWaitedFor) {
  alarm(20);
  int taken = 0;
  while (taken < 100'000 && notify("WATCHDOG=1")) ++taken;
  alarm(0);
  EXPECT_LT(taken, 100'000) << "the queue never filled: nothing was tested";
  EXPECT_EQ(next(), "WATCHDOG=1");
  EXPECT_TRUE(notify("WATCHDOG=1")) << "taken again when there is room";
}

TEST_F(NotifyTest, WithoutAManagerThereIsNothingToDo) {
  unsetenv("NOTIFY_SOCKET");
  EXPECT_TRUE(notify("READY=1"));
  setenv("NOTIFY_SOCKET", "vsock:2:1234", 1);
  EXPECT_TRUE(notify("READY=1"));
  setenv("NOTIFY_SOCKET", std::string(500, '/').c_str(), 1);
  EXPECT_TRUE(notify("READY=1"));
  EXPECT_EQ(next(), "");
}

}  // namespace
}  // namespace tkdc::agent
