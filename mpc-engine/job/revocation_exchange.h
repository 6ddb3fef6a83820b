// SPDX-License-Identifier: Apache-2.0
// The windows that a lane goes by: those that any of the three holds, as each last told
// both others at the end of the control octets of a full tick (u8 whether, then u64
// its version and its state). So the three come to one answer on each ticket in the same tick, and
// a server that revokes needs nobody's consent. A server that tells its neighbours different
// windows ends the session, as one that sends anything else different does. Used by the
// lane's thread.
#pragma once

#include <array>
#include <optional>

#include "job/nonce.h"
#include "job/revocations.h"

namespace tkdc {

class RevocationExchange {
 public:
  RevocationExchange(Revocations& revocations, int party)
      : revocations_(revocations), own_(static_cast<std::size_t>(party)) {}

  // Whether there is something that the others have not been told.
  bool due() const { return version_ != revocations_.version(); }

  void say(Bytes& to_prev, Bytes& to_next) {
    const bool now = due();
    if (now) {
      Revocations::Word own = revocations_.snapshot();
      version_ = own.version;
      said_[own_] = std::move(own.state);
    }
    for (Bytes* out : {&to_prev, &to_next}) {
      out->push_back(now ? 1 : 0);
      if (!now) continue;
      Writer(*out).u64(version_);
      put_revocations(*out, said_[own_]);
    }
    own_news_ = now;
  }

  // False when it is malformed. Whether the lane's windows may have changed: news().
  [[nodiscard]] bool hear(Reader& prev, Reader& next) {
    std::array<std::optional<Revocations::Word>, 2> words;
    if (!hear_one(prev, words[0]) || !hear_one(next, words[1])) return false;
    for (std::size_t which = 0; which < 2; ++which)
      if (words[which]) said_[(own_ + (which == 0 ? 2 : 1)) % 3] = words[which]->state;
    if (words[0] || words[1]) revocations_.heard(words, sealed_at_now());
    news_ = own_news_ || words[0] || words[1];
    if (news_)
      windows_ = SealWindows::united({&said_[0].windows, &said_[1].windows, &said_[2].windows});
    return true;
  }

  bool news() const { return news_; }
  const SealWindows& windows() const { return windows_; }

 private:
  static bool hear_one(Reader& in, std::optional<Revocations::Word>& word) {
    const std::uint8_t whether = in.u8();
    if (whether != 1) return whether == 0 && !in.failed();
    word.emplace();
    word->version = in.u64();
    return get_revocations(in, word->state);
  }

  Revocations& revocations_;
  const std::size_t own_;
  std::uint64_t version_ = 0;            // load() made it 1: the first full tick tells all
  std::array<RevocationState, 3> said_;  // by party
  bool own_news_ = false, news_ = false;
  SealWindows windows_;
};

}  // namespace tkdc
