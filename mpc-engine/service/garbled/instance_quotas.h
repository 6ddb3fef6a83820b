// SPDX-License-Identifier: Apache-2.0
// Whether a job may have an instance of its lane's reserve, as the lane's leader names it: a key or
// an agent that has taken many leaves some to others. Who may not is computed by sharing.
//
//   a key     gets one of a kind where more stand ready than it has taken: 3 of 6 at once
//   an agent  where more than half as many do: 4 of 6
//
// What was taken counts until it has been made again; the largest taker's is paid off first. So
// there is no window and no clock: who takes no faster than is made anew is never refused. Where
// jobs wait for their instance, it is the places to wait that are shared out so, over all kinds: a
// key has 8 of 16, and others wait for so many instances at most.
// Krbtgt's key is every login's, so it counts for its agent alone; and as long as one key, or one
// agent, has asked alone, nothing is kept from it.
//
// The leader's own: it changes which protocol runs and nothing else (docs/adr/0047). Used by the
// lane's thread. Public.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "service/wire/message.h"

namespace tkdc {

// Of a kind: instances that nobody holds, and how many there are when all is made; places to wait
// in the lane, where jobs do.
struct InstanceSupply {
  std::string circuit;
  std::size_t ready = 0, wanted = 0, places = 0;
};

// Of those who took an instance each, the oldest first: which are paid off when `made` have been
// made again. Each time it is the oldest of who has taken most. O(n log n). True: paid.
using Taker = std::optional<PrincipalDigest>;
std::vector<bool> paid_off(std::span<const Taker> takers, std::size_t made);

class InstanceQuotas {
 public:
  // Jobs that are named and have no instance yet. More are computed by sharing.
  static constexpr std::size_t kMostPromised = 64;

  enum class Answer : std::uint8_t {
    kGranted,
    kFull,      // too many are named already
    kAgentHad,  // its agent has had its quota
    kKeyHad,
  };
  // `key`: nothing for krbtgt's. Granted: until settle().
  Answer ask(const JobName& job, const std::optional<PrincipalDigest>& key,
             const InstanceSupply& supply);
  // Of any job: whether it has its instance now.
  void settle(const JobName& job, bool has);

 private:
  struct Taken {
    JobName job;
    std::optional<PrincipalDigest> key;
    std::string circuit;
    bool promised = true;  // it has none yet
  };
  // The first who asked, and whether there was another one.
  template <class Who>
  struct Askers {
    std::optional<Who> first;
    bool several = false;
    void note(const Who& who) {
      if (!first) first = who;
      several |= *first != who;
    }
  };
  template <class Of>
  std::size_t count(Of of) const;
  template <class Of>
  bool had_its_quota(Of of, std::size_t weight, const InstanceSupply& supply) const;
  void pay(const InstanceSupply& supply);

  std::vector<Taken> taken_;  // the oldest first
  Askers<PrincipalDigest> keys_;
  Askers<std::uint64_t> agents_;
};

}  // namespace tkdc
