// SPDX-License-Identifier: Apache-2.0
// What two parties settle before a session is used, on a connection on which both have said HELLO:
//
//   1. settle     entries that are half made or half removed (session/settle.h)
//   2. INVENTORY  both hold the same entries, or there is no session
//   3. READY      the bulk streams stand at both, or there is no session at either
//
// Between the second and the third they make the streams. Each has proved who it is, so nothing
// has to be confirmed that a third party could have said otherwise. A party that must refuse tells
// the other one why. Nothing here is secret. Called by the thread that makes sessions.
#pragma once

#include <deque>
#include <functional>

#include "link/link_breaker.h"
#include "link/network.h"
#include "session/settle.h"

namespace tkdc {

class PairTalk final : private StepExchange {
 public:
  static constexpr std::size_t kMaxPacketBytes = 65536;  // a page of entries is the longest

  // `stream` takes packets of that length.
  PairTalk(PacketStream& stream, const LinkBreaker& breaker, long long deadline_ms);

  Result<void> agree(Entries& entries, const SessionAdvice& advice);
  Result<void> ready();
  // While this party waits for something else: whether the other one refuses, or is lost, or this
  // server stops.
  Result<void> look();
  void refuse(const Error& why);

 private:
  std::vector<std::string> names() const override { return {stream_.peer()}; }
  Result<std::vector<Bytes>> exchange(Step step, const std::vector<Bytes>& bodies) override;
  Result<Bytes> hear(Step step);
  Result<void> compare_inventories(Entries& entries, const SessionAdvice& advice);

  PacketStream& stream_;
  const LinkBreaker& breaker_;
  const long long deadline_ms_;
  std::deque<Bytes> heard_;  // and not yet asked for
};

}  // namespace tkdc
