// SPDX-License-Identifier: Apache-2.0
// The windows that a lane goes by: those that any of the three holds, as each last told
// both others (service/job/lane_control.h). So the three come to one answer on each ticket in the
// same tick, and a server that revokes needs nobody's consent. A server that tells its neighbours
// different windows ends the session, as one that sends anything else different does. Used by the
// lane's thread.
#pragma once

#include <array>
#include <optional>

#include "service/sealing/nonce.h"
#include "service/sealing/revocations.h"

namespace tkdc {

class RevocationNotice {
 public:
  using Word = Revocations::Word;

  RevocationNotice(Revocations& revocations, int party)
      : revocations_(revocations), own_(static_cast<std::size_t>(party)) {}

  // In each full tick: what the others have not been told, if there is something.
  std::optional<Word> say() {
    own_news_ = version_ != revocations_.version();
    if (!own_news_) return std::nullopt;
    Word own = revocations_.snapshot();
    version_ = own.version;
    said_[own_] = own.state;
    return own;
  }

  // In the same tick, what the others said.
  void hear(std::optional<Word> prev, std::optional<Word> next) {
    if (prev) said_[(own_ + 2) % 3] = prev->state;
    if (next) said_[(own_ + 1) % 3] = next->state;
    const bool others_news = prev || next;
    if (others_news) revocations_.heard({std::move(prev), std::move(next)}, sealed_at_now());
    if (own_news_ || others_news)
      windows_ = SealWindows::united({&said_[0].windows, &said_[1].windows, &said_[2].windows});
  }

  const SealWindows& windows() const { return windows_; }

 private:
  Revocations& revocations_;
  const std::size_t own_;
  std::uint64_t version_ = 0;            // load() made it 1: the first full tick tells all
  std::array<RevocationState, 3> said_;  // by party
  bool own_news_ = false;
  SealWindows windows_;
};

}  // namespace tkdc
