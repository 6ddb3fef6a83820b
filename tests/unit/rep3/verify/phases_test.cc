// SPDX-License-Identifier: Apache-2.0
// One party deviates in every phase of the verification, in every field of its
// messages; and one that rushes: it waits for what the others send in a tick, and
// only then decides what to send in it. No wrong result is ever released, and
// whether anything is depends on the deviation alone.
#include <algorithm>
#include <random>

#include "checked_protocols.h"

namespace tkdc::test {
namespace {

const CheckedProtocol& block() { return checked_protocol("aes-block"); }
constexpr std::size_t kLayers = 40;  // of the block; then the verification

// The verification begins when the seed is opened: nothing before goes to both neighbours.
std::size_t first_of_verification(const std::vector<MessageSize>& sizes) {
  std::size_t tick = 0;
  while (tick < sizes.size() && sizes[tick].to_next == 0) ++tick;
  return tick;
}

// Claims of octets, of bits and octets, of GF(2^128) and octets.
class EveryPhase : public testing::TestWithParam<const char*> {};

// Layers, digests, openings, verdicts: each has its ticks, and in a tick's packet a
// first and a last octet; every bit of the verification matters.
TEST_P(EveryPhase, EveryFieldOfEveryTickIsCovered) {
  const CheckedProtocol& protocol = checked_protocol(GetParam());
  const std::vector<MessageSize> sizes = sizes_of(protocol);
  const std::size_t first = first_of_verification(sizes);
  ASSERT_GT(sizes.size(), first + 8);
  const std::size_t secrets = setting("TKDC_SECRETS", 2);
  Trials trials(protocol);
  std::size_t openings = 0, verdicts = 0, deviations = 0;
  for (std::size_t tick = first; tick < sizes.size(); ++tick) {
    openings += sizes[tick].to_next > 0 ? 1 : 0;
    verdicts += sizes[tick].to_next > 32 ? 1 : 0;  // digest of the course, 1
    for (bool to_prev : {true, false}) {
      const std::size_t bytes = to_prev ? sizes[tick].to_prev : sizes[tick].to_next;
      if (bytes == 0) continue;
      for (const std::size_t offset : {std::size_t{0}, bytes / 2, bytes - 1}) {
        const auto mask = static_cast<std::uint8_t>(1u << (tick + offset) % 8);
        const int party = static_cast<int>(deviations++ % 3);
        const Deviation deviation{party, to_prev, tick, offset, mask};
        EXPECT_EQ(trials.aborts(deviation, secrets), secrets) << deviation;
      }
    }
  }
  EXPECT_GT(openings, 4u);
  EXPECT_GT(verdicts, 0u);
}

INSTANTIATE_TEST_SUITE_P(Phases, EveryPhase, testing::Values("aes-block", "sha1", "gcm"),
                         [](const auto& one) {
                           std::string name = one.param;
                           std::erase(name, '-');
                           return name;
                         });

// X and Y of the last step: whoever is told another component than its other holder has sends
// nothing more. What it would open next would tell the cheat what the claim lacks
// (docs/protocols/12, step 5).
TEST(Phases, AWrongOpeningOfTheLastFactorsStopsAtOnce) {
  const std::size_t ticks = sizes_of(block()).size();
  const std::size_t factors = ticks - 3;  // then r' times what is lacking, and the verdicts
  for (int party = 0; party < 3; ++party)
    for (bool wrongs_prev : {true, false}) {
      Trial cheated(block(), 1);
      const Outcome outcome =
          cheated.run(party, [&](std::size_t tick, int p, SecretVector& prev, SecretVector& next) {
            if (p == party && tick == factors) (wrongs_prev ? prev : next).back() ^= 1;
          });
      EXPECT_EQ(outcome, Outcome::kAborted);
      EXPECT_EQ(cheated.sizes().size(), factors + 1);
      const int told = (party + (wrongs_prev ? 2 : 1)) % 3;
      EXPECT_EQ(cheated.found(told),
                "the two holders of an opened component sent different values");
    }
}

// In a tick that is not full a server does not wait for its previous one. So a party that holds
// its message of a tick back gets its next one's of the tick after as well, before it has to
// send. What is opened to it in that tick must not stand there; its digest may, and tells nothing
// as long as 32 octets that nobody knows are under it (docs/protocols/12).
TEST(Phases, WhatTheNextPartySendsEarlyTellsNoOpening) {
  for (const CheckedProtocol& protocol : checked_protocols()) {
    if (protocol.name == std::string("aes-masked")) continue;  // masked values: page 16
    std::vector<std::array<SecretVector, 3>> to_prev, to_next;
    Trial trial(protocol, 5);
    EXPECT_EQ(trial.run(-1,
                        [&](std::size_t tick, int p, SecretVector& prev, SecretVector& next) {
                          to_prev.resize(tick + 1);
                          to_next.resize(tick + 1);
                          to_prev[tick][p] = prev;
                          to_next[tick][p] = next;
                        }),
              Outcome::kRight);
    constexpr std::size_t kPart = 8, kUnknown = 32;
    std::size_t looked_for = 0;
    for (std::size_t tick = 0; tick + 1 < to_prev.size(); ++tick)
      for (std::size_t p = 0; p < 3; ++p) {
        const SecretVector& opened = to_next[tick][(p + 2) % 3];
        const SecretVector& early = to_prev[tick + 1][(p + 1) % 3];
        if (early.empty() || opened.empty()) continue;
        // An exchange goes to both, beside what layers there are: it is held back from nobody.
        const SecretVector& other = to_prev[tick][(p + 2) % 3];
        if (std::search(other.begin(), other.end(), opened.begin(), opened.end()) != other.end())
          continue;
        EXPECT_GE(opened.size(), kUnknown) << protocol.name << ", tick " << tick;
        for (std::size_t at = 0; at + kPart <= opened.size(); ++at, ++looked_for) {
          const auto part = opened.begin() + static_cast<std::ptrdiff_t>(at);
          EXPECT_EQ(std::search(early.begin(), early.end(), part, part + kPart), early.end())
              << protocol.name << ", tick " << tick << ", party " << p;
        }
      }
    EXPECT_GT(looked_for, 0u) << protocol.name;
  }
}

// What a rushing party 2 makes of its packets, knowing those of parties 0 and 1.
struct Seen {
  SecretVector from_next, from_prev;      // of this tick
  SecretVector own_to_prev, own_to_next;  // of the tick before
};
using Strategy =
    std::function<void(const Seen& seen, SecretVector& to_prev, SecretVector& to_next)>;

void add(SecretVector& packet, const SecretVector& other) {
  for (std::size_t k = 0; k < std::min(packet.size(), other.size()); ++k) packet[k] ^= other[k];
}

void repeat(const SecretVector& before, SecretVector& packet) {
  std::copy_n(before.begin(), std::min(before.size(), packet.size()), packet.begin());
}

struct Named {
  const char* name;
  Strategy change;
};
const Named kStrategies[] = {
    {"its neighbour's message as its error",
     [](const Seen& seen, SecretVector& to_prev, SecretVector&) { add(to_prev, seen.from_next); }},
    {"an error where the neighbour's first bit is 1",
     [](const Seen& seen, SecretVector& to_prev, SecretVector&) {
       if (!seen.from_next.empty() && !to_prev.empty()) to_prev[0] ^= seen.from_next[0] & 1;
     }},
    {"the message of the tick before again",
     [](const Seen& seen, SecretVector& to_prev, SecretVector& to_next) {
       repeat(seen.own_to_prev, to_prev);
       repeat(seen.own_to_next, to_next);
     }},
    {"what it was told, told on",
     [](const Seen& seen, SecretVector&, SecretVector& to_next) {
       if (seen.from_prev.size() == to_next.size()) to_next = seen.from_prev;
     }},
    {"one thing to one, another to the other",
     [](const Seen& seen, SecretVector& to_prev, SecretVector& to_next) {
       if (!to_next.empty() && !to_prev.empty() && !seen.from_prev.empty()) {
         to_next.back() ^= seen.from_prev[0];
         to_prev.back() ^= 1;
       }
     }},
};

// The outcome of a run in which party 2 rushes in `tick`; whether it changed anything.
Outcome rush(Trials& trials, const Named& strategy, std::uint64_t seed, std::size_t at,
             bool* changed) {
  Seen seen;
  *changed = false;
  return trials.run(seed, 2,
                    [&](std::size_t tick, int p, SecretVector& to_prev, SecretVector& to_next) {
                      if (p == 0) seen.from_next = to_prev;
                      if (p == 1) seen.from_prev = to_next;
                      if (p != 2) return;
                      const SecretVector prev = to_prev, next = to_next;
                      if (tick == at) strategy.change(seen, to_prev, to_next);
                      *changed |= to_prev != prev || to_next != next;
                      seen.own_to_prev = prev;
                      seen.own_to_next = next;
                    });
}

TEST(Phases, ARushingPartyIsFoundExactlyWhenItDeviates) {
  const std::size_t ticks = sizes_of(block()).size();
  Trials trials(block());
  for (const Named& strategy : kStrategies) {
    std::size_t deviated = 0;
    for (std::size_t tick = kLayers - 2; tick < ticks; ++tick)
      for (std::uint64_t seed = 1; seed <= setting("TKDC_SECRETS", 4); ++seed) {
        bool changed = false;
        const Outcome outcome = rush(trials, strategy, seed, tick, &changed);
        EXPECT_EQ(outcome, changed ? Outcome::kAborted : Outcome::kRight)
            << strategy.name << ", tick " << tick << ", seed " << seed;
        deviated += changed ? 1 : 0;
      }
    EXPECT_GT(deviated, 0u) << strategy.name;
  }
}

}  // namespace
}  // namespace tkdc::test
