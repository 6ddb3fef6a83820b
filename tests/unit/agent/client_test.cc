// SPDX-License-Identifier: Apache-2.0
// How a connection is read: no more often than there is something.
#include "agent/client.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <vector>

namespace tkdc::agent {
namespace {

class ClientTest : public testing::Test {
 protected:
  ClientTest() {
    int ends[2];
    EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
    peer_ = ends[0];
    client_ = std::make_unique<Client>(ends[1], 16);
  }
  ~ClientTest() override { hang_up(); }

  void hang_up() {
    if (peer_ >= 0) ::close(peer_);
    peer_ = -1;
  }
  void send_frames(int count, std::uint32_t body_bytes) {
    const tkdc_wire_header header{TKDC_OP_MAC, 0, 1, body_bytes, 1'000};
    std::vector<std::uint8_t> frame(TKDC_WIRE_HEADER_BYTES + body_bytes);
    tkdc_wire_put_header(frame.data(), &header);
    for (int i = 0; i < count; ++i)
      ASSERT_EQ(::write(peer_, frame.data(), frame.size()), static_cast<ssize_t>(frame.size()));
  }
  int take_frames() {
    int count = 0;
    while (client_->next_frame()) ++count;
    client_->consumed();
    return count;
  }

  int peer_ = -1;
  std::unique_ptr<Client> client_;
};

TEST_F(ClientTest, WhatWasSentBeforeTheEndComesFirst) {
  send_frames(3, 100);
  hang_up();
  EXPECT_TRUE(client_->fill()) << "one call of the system, not another one to find nothing";
  EXPECT_EQ(take_frames(), 3);
  EXPECT_FALSE(client_->fill());
}

TEST_F(ClientTest, TheBufferGrowsWithABatch) {
  constexpr int kFrames = 60;  // of 1 KiB
  send_frames(kFrames, 1'000);
  int taken = 0;
  for (int reads = 0; reads < 2; ++reads) {
    EXPECT_TRUE(client_->fill());
    taken += take_frames();
  }
  EXPECT_EQ(taken, kFrames);
  send_frames(kFrames, 1'000);
  EXPECT_TRUE(client_->fill());
  EXPECT_EQ(take_frames(), kFrames);
}

}  // namespace
}  // namespace tkdc::agent
