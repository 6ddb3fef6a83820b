// SPDX-License-Identifier: Apache-2.0
// Three parties' links inside one process: for the simulator, the benchmarks
// without TLS, and the tests.
//
// Each link may be used from a thread of its own, or all three from one thread
// with timeout 0, where a receive succeeds only when the packet is already
// there. Packets are copied into memory that is wiped. Destroying a link, or
// close(), fails the other parties' receives once their queues are empty,
// like a broken connection.
#pragma once

#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>

#include "link/link.h"

namespace tkdc {

class MemoryRing : public std::enable_shared_from_this<MemoryRing> {
 public:
  static std::shared_ptr<MemoryRing> create() { return std::make_shared<MemoryRing>(); }
  virtual ~MemoryRing() = default;

  // One link for each party, each taken once. The ring lives as long as they.
  std::unique_ptr<Link> link(int party);

  // Every later call on any link fails with `reason`.
  void close(const std::string& reason);

 protected:
  // Called by a sender for each packet, without locks held. A test overrides
  // it to drop, hold, reorder or change packets; the default delivers.
  virtual void carry(int from, Neighbour to, SecretVector packet);

  // Puts a packet into the queue of `from`'s neighbour `to`.
  void deliver(int from, Neighbour to, SecretVector packet);

 private:
  class End;

  // What one party has not received yet.
  struct Inbox {
    std::mutex mutex;
    std::condition_variable changed;
    std::deque<SecretVector> packets[2];  // by Neighbour
    bool woken = false;
    std::string down;  // why, when closed
  };

  void leave(int party);

  Inbox inbox_[3];
};

}  // namespace tkdc
