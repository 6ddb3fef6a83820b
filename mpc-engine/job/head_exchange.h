// SPDX-License-Identifier: Apache-2.0
// On lane 0, every few minutes: each server tells both others where its audit
// log stands, at the end of the control octets of a full tick (u8 whether,
// then the head). The leader starts a tick for it when the lane is idle. Used
// by the lane's thread.
#pragma once

#include <chrono>

#include "job/engine.h"

namespace tkdc {

class HeadExchange {
 public:
  HeadExchange(const EngineOptions& options, std::uint32_t lane)
      : options_(options), used_(lane == 0) {}

  bool due() const {
    return used_ && options_.audit_head && Clock::now() - said_ >= options_.audit_head_every;
  }

  void say(Bytes& to_prev, Bytes& to_next) {
    if (!used_) return;
    const bool now = due();
    AuditHead head;
    if (now) {
      head = options_.audit_head();
      said_ = Clock::now();
    }
    for (Bytes* out : {&to_prev, &to_next}) {
      Writer w(*out);
      w.u8(now ? 1 : 0);
      if (now) put_head(w, head);
    }
  }

  void hear(Reader& prev, Reader& next) {
    if (!used_) return;
    hear_one(prev, (options_.party + 2) % 3);
    hear_one(next, (options_.party + 1) % 3);
  }

 private:
  using Clock = std::chrono::steady_clock;

  void hear_one(Reader& in, int party) {
    if (in.u8() == 0) return;
    const AuditHead head = get_head(in);
    if (!in.failed() && options_.peer_audit_head) options_.peer_audit_head(party, head);
  }

  const EngineOptions& options_;
  const bool used_;
  Clock::time_point said_ = Clock::now();  // the handshake did
};

}  // namespace tkdc
