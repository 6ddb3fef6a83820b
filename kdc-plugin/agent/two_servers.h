// SPDX-License-Identifier: Apache-2.0
// An agent of two servers: what it deals to them, and what it believes of their answers
// (docs/protocols/26-two-server-keys.md).
//
// Input and a fresh pad are dealt for the session that both servers have last told. Both answer
// with the output and the pad added, so neither sees it, and neither changes it unseen. What has
// been dealt serves once: a job that is asked again is dealt again, with another pad.
#pragma once

#include <array>
#include <deque>
#include <map>

#include "agent/sharing.h"
#include "pair/dealt.h"

namespace tkdc::agent {

class TwoServers final : public Sharing {
 public:
  // EXPORT is refused of a key that was not staged through this agent since it started: the pad is
  // as long as the key.
  std::optional<Outcome> fit(Operation& operation) override;
  std::vector<SecretVector> share_out(JobRequest job, Operation& operation) override;
  Outcome put_together(std::span<JobReply> replies, const Operation& operation) override;

 private:
  void deal_to(std::array<SecretVector, 2>& servers, const pair::Label& number, ByteSpan input,
               ByteSpan pad) const;
  Outcome take_answers(std::span<JobReply> replies, const Operation& operation);
  Outcome take_session(std::span<const JobReply> replies);
  void note_staged(const Operation& operation);

  static constexpr std::size_t kMostStaged = 4096;
  pair::Label session_{};                  // as both have told it; zeros before
  std::map<KeyId, std::uint32_t> staged_;  // enctypes of drawn keys
  std::deque<KeyId> staged_in_order_;      // kMostStaged at most
};

}  // namespace tkdc::agent
