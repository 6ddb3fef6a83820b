// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>

#include "lane_packet.h"
#include "three_services.h"

namespace tkdc::test {

// The leader tells its next another time for a job than its previous, once it is armed.
class TwoTimesLeader final : public MemoryRing {
 public:
  std::atomic<bool> armed{false};

 protected:
  void carry(int from, Neighbour to, SecretVector packet) override {
    auto said = from == 0 && to == Neighbour::kNext && armed ? manifest_in(packet) : std::nullopt;
    if (said && armed.exchange(false)) {
      said->manifest->sealed_at += 1;  // earlier than the last would be refused at once
      packet = with(packet, *said);
    }
    deliver(from, to, std::move(packet));
  }
};

}  // namespace tkdc::test
