// SPDX-License-Identifier: Apache-2.0
// When the agent may sleep: ZeroMQ's descriptor tells only of what nobody has noticed yet.
#include "agent/zmq_link.h"

#include <gtest/gtest.h>
#include <sys/epoll.h>
#include <unistd.h>

#include <atomic>

#include "fake_servers.h"

namespace {
std::atomic<int> asked;  // calls of zmq_getsockopt(), also by the servers' thread
}

extern "C" {
int __real_zmq_getsockopt(void* socket, int option, void* value, std::size_t* octets);
int __wrap_zmq_getsockopt(void* socket, int option, void* value, std::size_t* octets) {
  ++asked;
  return __real_zmq_getsockopt(socket, option, value, octets);
}
}

namespace tkdc::agent {
namespace {

constexpr int kFarMs = 20'000;  // nothing here takes so long

class ServerLinkTest : public testing::Test {
 protected:
  ServerLinkTest() {
    char public_key[kCurveTextBytes + 1];
    EXPECT_EQ(
        zmq_curve_keypair(public_key, reinterpret_cast<char*>(config_.curve_secret_key.data())), 0);
    for (std::size_t party = 0; party < 3; ++party)
      config_.servers.push_back({servers_.addresses()[party], servers_.public_keys()[party]});
    auto opened = open_zmq_link(context_, config_, 0, epoll_, 7);
    EXPECT_TRUE(opened.ok());
    link_ = std::move(opened).value();
    while (!link_->connected() && !HasFatalFailure()) pass();
    EXPECT_TRUE(link_->ready());
  }
  ~ServerLinkTest() override {
    link_.reset();
    ::close(epoll_);
  }

  // As the agent's loop does it: sleeps unless something waits, then takes in what there is.
  void pass() {
    epoll_event event;
    if (!link_->readable()) {
      ASSERT_EQ(::epoll_wait(epoll_, &event, 1, kFarMs), 1) << "nothing tells of what waits";
    }
    link_->update(Clock::now());
    link_->receive([this](ByteSpan) { ++replies_; }, 16);
  }
  void ask() {
    JobRequest job;
    job.op = TKDC_OP_STATUS;
    job.name = JobName{0, 1, ++number_};
    job.deadline_ms = 1'000;
    ASSERT_TRUE(link_->send(encode(job)));
  }

  FakeServers servers_;
  AgentConfig config_;
  std::shared_ptr<zmq::context_t> context_ = std::make_shared<zmq::context_t>(1);
  int epoll_ = ::epoll_create1(EPOLL_CLOEXEC);
  std::unique_ptr<ServerLink> link_;
  std::uint64_t number_ = 0;
  std::uint64_t replies_ = 0;
};

TEST_F(ServerLinkTest, NothingIsAskedTwice) {
  ask();
  while (replies_ < number_ && !HasFatalFailure()) pass();
  asked = 0;
  EXPECT_FALSE(link_->readable());
  EXPECT_EQ(asked, 0);
  EXPECT_TRUE(link_->ready());
  asked = 0;
  EXPECT_FALSE(link_->readable());
  EXPECT_EQ(asked, 1) << "the control: after ready() the descriptor may be silent";
}

TEST_F(ServerLinkTest, NoReplyIsOverslept) {
  for (int i = 0; i < 400 && !HasFatalFailure(); ++i) {
    ask();
    if (i % 2 == 0) ::usleep(static_cast<useconds_t>(i) * 2);
    EXPECT_TRUE(link_->ready());  // takes note of the reply, if it is there
    if (i % 3 == 0) ask();
    while (replies_ < number_ && !HasFatalFailure()) pass();
  }
  // The server goes away and comes back: told by the monitor alone.
  servers_.set_running(0, false);
  while (link_->connected() && !HasFatalFailure()) pass();
  servers_.set_running(0, true);
  while (!link_->connected() && !HasFatalFailure()) pass();
}

TEST_F(ServerLinkTest, AServerThatChangesItsKeyIsFoundByEither) {
  // It still has its former key: the new one is tried first, in vain.
  AgentConfig config = std::move(config_);
  ServerAddress& server = config.servers[1];
  char another[kCurveTextBytes + 1], unused[kCurveTextBytes + 1];
  ASSERT_EQ(zmq_curve_keypair(another, unused), 0);
  server.former_curve_public_key = std::exchange(server.curve_public_key, another);
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  auto opened = open_zmq_link(context_, config, 1, epoll, 8);
  ASSERT_TRUE(opened.ok());
  const auto start = Clock::now();
  while (!(*opened)->connected() && Clock::now() - start < std::chrono::milliseconds(kFarMs)) {
    epoll_event event;
    ::epoll_wait(epoll, &event, 1, 100);
    (*opened)->update(Clock::now());
  }
  EXPECT_TRUE((*opened)->connected()) << (*opened)->trouble();
  EXPECT_EQ((*opened)->trouble(), "");
  EXPECT_LT(Clock::now() - start, std::chrono::seconds(5)) << "before ZeroMQ's socket is made anew";
  opened->reset();
  link_.reset();
  ::close(epoll);
}

}  // namespace
}  // namespace tkdc::agent
