// SPDX-License-Identifier: Apache-2.0
// Operations of many requests on one socket: how they leave together, and what becomes of them
// when the socket takes less, the queue is full or the process has forked.
#include <unistd.h>

#include <set>

#include "loop_fixture.h"

namespace tkdc::test {
namespace {

constexpr int kMany = 32;
constexpr std::size_t kEarlyOctets = 4 * 1024;  // loop.c

TEST_F(LoopTest, WhatOneCallbackAsksLeavesAtItsEnd) {
  for (int i = 1; i <= 3; ++i) {
    begin(1);
    EXPECT_EQ(kernel.sends, i) << "nothing waits for a later turn";
  }
  ASSERT_TRUE(agent_.accept());
  EXPECT_EQ(agent_.frames().size(), 3u);
}

TEST_F(LoopTest, WhatManyAskInOneTurnLeavesInOneSend) {
  const std::vector<Frame> first = begin_many(kMany, 3);
  agent_.answer(first);
  turn_socket();
  EXPECT_EQ(kernel.sends, 1);
  EXPECT_LE(kernel.getpids, 1);
  const std::vector<Frame> second = agent_.frames();
  ASSERT_EQ(second.size(), static_cast<std::size_t>(kMany));
  agent_.answer(second);
  turn_socket();
  EXPECT_EQ(kernel.sends, 2);
  agent_.answer(agent_.frames());
  turn_socket();
  EXPECT_EQ(kernel.sends, 2) << "nothing was asked";
  EXPECT_EQ(ended(), static_cast<std::size_t>(kMany));
  for (const Login& login : logins_)
    EXPECT_EQ(login.statuses, std::vector<std::uint16_t>(3, TKDC_STATUS_OK));
}

TEST_F(LoopTest, WhatAFullSocketDoesNotTakeLeavesLaterAndOnce) {
  const std::vector<Frame> first = begin_many(kMany, 2);
  kernel.takes = 1'000;
  agent_.answer(first);
  turn_socket();
  EXPECT_TRUE(waits_to_write());
  std::vector<Frame> second = agent_.frames();
  EXPECT_GT(second.size(), 0u);
  EXPECT_GT(agent_.octets_over(), 0u) << "the control: it was cut within a frame";
  begin(1);  // behind what waits
  for (const std::size_t more : {0, 700, 1, 1'500}) {
    kernel.takes = more;
    turn_socket();
    EXPECT_TRUE(waits_to_write());
    for (const Frame& frame : agent_.frames()) second.push_back(frame);
  }
  kernel.takes = SIZE_MAX;
  turn_socket();
  EXPECT_FALSE(waits_to_write());
  for (const Frame& frame : agent_.frames()) second.push_back(frame);
  EXPECT_EQ(agent_.octets_over(), 0u);
  ASSERT_EQ(second.size(), static_cast<std::size_t>(kMany + 1));
  std::set<std::uint64_t> ids;
  for (const Frame& frame : second) {
    if (!ids.empty()) {
      EXPECT_GT(frame.id, *ids.rbegin()) << "in the order of asking";
    }
    ids.insert(frame.id);
  }
  EXPECT_EQ(ids.size(), second.size());
  agent_.answer(second);
  turn_socket();
  EXPECT_EQ(ended(), logins_.size());
  for (const Login& login : logins_) EXPECT_EQ(login.statuses.back(), TKDC_STATUS_OK);
}

TEST_F(LoopTest, AnEndlessTurnDoesNotHoldEverythingBack) {
  constexpr std::size_t kOctets = 1'000;
  agent_.answer(begin_many(kMany, 2, kOctets));
  turn_socket();
  EXPECT_EQ(kernel.sends, kMany / 4);
  EXPECT_LT(kernel.largest, kEarlyOctets + kOctets + 200);
  EXPECT_EQ(agent_.frames().size(), static_cast<std::size_t>(kMany));
}

// The limit holds within a turn: a socket that takes nothing while everybody asks.
TEST_F(LoopTest, AFullQueueEndsTheConnectionAtOnce) {
  constexpr std::size_t kOctets = TKDC_WIRE_DATA_MAX_BYTES;
  constexpr int kFitting = TKDC_STREAM_QUEUE_MAX_BYTES / int(kOctets);
  std::vector<Frame> first;
  for (int i = 0; i < kFitting + 50; ++i) {
    begin(2, kOctets);
    agent_.accept();
    for (const Frame& frame : agent_.frames()) first.push_back(frame);
    while (waits_to_write()) {
      turn_socket();
      for (const Frame& frame : agent_.frames()) first.push_back(frame);
    }
  }
  ASSERT_EQ(first.size(), logins_.size());
  kernel = {};
  kernel.takes = 0;
  agent_.answer(first);
  turn_socket();
  EXPECT_LE(kernel.largest, static_cast<std::size_t>(TKDC_STREAM_QUEUE_MAX_BYTES));
  EXPECT_GT(ended(), 30u) << "refused at once";
  EXPECT_LT(ended(), 60u);
  turn_timers();
  EXPECT_EQ(ended(), logins_.size());
  for (const Login& login : logins_) EXPECT_EQ(login.statuses.back(), TKDC_STATUS_UNAVAILABLE);
}

TEST_F(LoopTest, ABrokenConnectionFailsWhatIsQueuedAndTheNextOneIsNew) {
  const std::vector<Frame> first = begin_many(3, 2);
  kernel.takes = 0;
  agent_.answer(first);
  turn_socket();
  EXPECT_EQ(ended(), 0u);
  agent_.hang_up();
  turn_socket();
  EXPECT_EQ(ended(), 0u) << "not within the reader";
  turn_timers();
  EXPECT_EQ(ended(), 3u);
  for (const Login& login : logins_) EXPECT_EQ(login.statuses.back(), TKDC_STATUS_UNAVAILABLE);
  kernel.takes = SIZE_MAX;
  Login& next = begin(1);
  ASSERT_TRUE(agent_.accept());
  const std::vector<Frame> asked = agent_.frames();
  ASSERT_EQ(asked.size(), 1u) << "nothing of the old connection";
  agent_.answer(asked);
  turn_socket();
  EXPECT_EQ(next.statuses, std::vector<std::uint16_t>{TKDC_STATUS_OK});
}

TEST_F(LoopTest, AGreetingThatNobodyAskedForIsNotTaken) {
  Login& login = begin(1);
  agent_.accept();
  const std::vector<Frame> asked = agent_.frames();
  ASSERT_EQ(asked.size(), 1u);
  agent_.answer({{TKDC_OP_HELLO, 0}, {TKDC_OP_HELLO, asked[0].id}, {TKDC_OP_HELLO, UINT64_MAX}});
  turn_socket();
  agent_.answer(asked);
  turn_socket();
  EXPECT_EQ(login.statuses, std::vector<std::uint16_t>{TKDC_STATUS_OK});
}

// A fiber that waits for nothing of the agent's: for the others of its principal, say.
struct Idler {
  bool asks = false;  // something, before that
  fiber* self = nullptr;
  int resumed = 0;
};

void idle(void* idler, void*, void*) {
  auto& self = *static_cast<Idler*>(idler);
  self.self = fiber_current();
  if (self.asks) {
    tkdc_request request{};
    tkdc_reply reply{};
    request.op = TKDC_OP_MAC;
    loop_ask(&request, &reply);
    tkdc_reply_free(&reply);
  }
  fiber_suspend();
  ++self.resumed;
}

// The id of an idle fiber in the first slot is what a request would have that nobody made.
TEST_F(LoopTest, AnAnswerToNobodyMeetsNoIdleFiber) {
  for (const bool asks : {false, true}) {
    std::deque<Idler> idlers;
    do {
      Idler& idler = idlers.emplace_back();
      idler.asks = asks;
      ASSERT_TRUE(fiber_start(idle, &idler, nullptr, nullptr));
    } while (idlers.back().self->slot != 0);
    Login& other = begin(1);
    agent_.accept();
    std::vector<Frame> asked = agent_.frames();
    ASSERT_EQ(asked.size(), asks ? idlers.size() + 1 : 1);
    const Frame others = asked.back();
    asked.pop_back();
    agent_.answer(asked);
    turn_socket();
    for (const std::uint8_t op : {0, int{TKDC_OP_MAC}, int{TKDC_OP_SEAL}}) agent_.answer({{op, 0}});
    turn_socket();
    for (const Idler& idler : idlers) EXPECT_EQ(idler.resumed, 0);
    agent_.answer({others});
    turn_socket();
    EXPECT_EQ(other.statuses, std::vector<std::uint16_t>{TKDC_STATUS_OK}) << "the connection lives";
    for (Idler& idler : idlers) loop_make_ready(idler.self);
    loop_drain();
    for (const Idler& idler : idlers) EXPECT_EQ(idler.resumed, 1);
  }
}

TEST_F(LoopTest, AChildSendsNothingThatItsParentQueued) {
  process_config.timeout_ms = 1;
  const std::vector<Frame> first = begin_many(2, 2);
  kernel.takes = 10;
  agent_.answer(first);
  turn_socket();
  EXPECT_TRUE(agent_.frames().empty());
  EXPECT_EQ(agent_.octets_over(), 10u);
  become_child();
  kernel.takes = SIZE_MAX;
  loop_drain();
  EXPECT_TRUE(agent_.frames().empty());
  EXPECT_EQ(agent_.octets_over(), 10u);
  process_config.timeout_ms = 60'000;
  Login& own = begin(1);
  EXPECT_TRUE(agent_.frames().empty());
  EXPECT_EQ(agent_.octets_over(), 10u);
  ASSERT_TRUE(agent_.accept()) << "a connection of its own";
  const std::vector<Frame> asked = agent_.frames();
  ASSERT_EQ(asked.size(), 1u);
  agent_.answer(asked);
  turn_socket();
  EXPECT_EQ(own.statuses, std::vector<std::uint16_t>{TKDC_STATUS_OK});
  ::usleep(5'000);
  tick();  // the parent's requests, which end in the child by their deadline
  EXPECT_EQ(ended(), 3u);
}

}  // namespace
}  // namespace tkdc::test
