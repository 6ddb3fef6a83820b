// SPDX-License-Identifier: Apache-2.0
// One party deviates in every phase of the verification, in every field of its
// messages; and one that rushes: it waits for what the others send in a tick, and
// only then decides what to send in it. No wrong result is ever released, and
// whether anything is depends on the deviation alone.
#include <random>

#include "trial.h"

namespace tkdc {
namespace {

using test::CheckedProtocol;
using test::Deviation;
using test::MessageSize;
using test::Outcome;
using test::Trial;

Task<SharedBytes> encrypt(Ciphers& c, SharedBytes secret) {
  SharedBytes round_keys = secret.slice(0, 176);
  co_return co_await c.aes.encrypt(round_keys, secret.slice(176, 16));
}

const CheckedProtocol kBlock = {"aes-block", 192, encrypt};
constexpr std::size_t kLayers = 40;  // of the block; then the verification

// Runs of the same seeds with and without the deviation: how many were aborted.
std::size_t aborts(const Deviation& deviation, std::size_t secrets) {
  std::size_t aborted = 0;
  for (std::uint64_t seed = 1; seed <= secrets; ++seed) {
    Trial honest(kBlock, seed), cheated(kBlock, seed);
    EXPECT_EQ(honest.run(std::nullopt), Outcome::kRight);
    cheated.expect(honest);
    const Outcome outcome = cheated.run(deviation);
    EXPECT_NE(outcome, Outcome::kWrong) << deviation;
    aborted += outcome == Outcome::kAborted ? 1 : 0;
  }
  return aborted;
}

// Layers, digests, openings, verdicts: each has its ticks, and in a tick's packet a
// first and a last octet; every bit of the verification matters.
TEST(Phases, EveryFieldOfEveryTickIsCovered) {
  const std::vector<MessageSize> sizes = test::sizes_of(kBlock);
  ASSERT_GT(sizes.size(), kLayers + 8);
  std::size_t openings = 0;
  for (std::size_t tick = kLayers; tick < sizes.size(); ++tick) {
    openings += sizes[tick].to_next > 0 ? 1 : 0;
    for (bool to_prev : {true, false}) {
      const std::size_t bytes = to_prev ? sizes[tick].to_prev : sizes[tick].to_next;
      if (bytes == 0) continue;
      for (int party = 0; party < 3; ++party)
        for (std::size_t offset : {std::size_t{0}, bytes / 2, bytes - 1}) {
          const auto mask = static_cast<std::uint8_t>(1u << (tick + offset) % 8);
          const Deviation deviation{party, to_prev, tick, offset, mask};
          EXPECT_EQ(aborts(deviation, 2), 2u) << deviation;
        }
    }
  }
  EXPECT_GT(openings, 4u);
  EXPECT_GT(sizes.back().to_next, 32u);  // the verdicts come last: digest of the course, 1
}

// X and Y of the last step: whoever was told a wrong share of them sends nothing more. What it
// would open next would tell the cheat what the claim lacks (docs/protocols/12, step 5).
TEST(Phases, AWrongShareOfTheLastFactorsStopsAtOnce) {
  const std::size_t ticks = test::sizes_of(kBlock).size();
  const std::size_t factors = ticks - 3;  // then r' times what is lacking, and the verdicts
  for (int party = 0; party < 3; ++party)
    for (bool wrongs_prev : {true, false}) {
      Trial honest(kBlock, 1), cheated(kBlock, 1);
      EXPECT_EQ(honest.run(std::nullopt), Outcome::kRight);
      cheated.expect(honest);
      const Outcome outcome =
          cheated.run(party, [&](std::size_t tick, int p, SecretVector& prev, SecretVector& next) {
            if (p == party && tick == factors) (wrongs_prev ? prev : next).back() ^= 1;
          });
      EXPECT_EQ(outcome, Outcome::kAborted);
      EXPECT_EQ(cheated.sizes().size(), factors + 1);
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
Outcome rush(const Named& strategy, std::uint64_t seed, std::size_t at, bool* changed) {
  Trial honest(kBlock, seed), cheated(kBlock, seed);
  EXPECT_EQ(honest.run(std::nullopt), Outcome::kRight);
  cheated.expect(honest);
  Seen seen;
  *changed = false;
  return cheated.run(2, [&](std::size_t tick, int p, SecretVector& to_prev, SecretVector& to_next) {
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
  const std::size_t ticks = test::sizes_of(kBlock).size();
  for (const Named& strategy : kStrategies) {
    std::size_t deviated = 0;
    for (std::size_t tick = kLayers - 2; tick < ticks; ++tick)
      for (std::uint64_t seed = 1; seed <= 4; ++seed) {
        bool changed = false;
        const Outcome outcome = rush(strategy, seed, tick, &changed);
        EXPECT_EQ(outcome, changed ? Outcome::kAborted : Outcome::kRight)
            << strategy.name << ", tick " << tick << ", seed " << seed;
        deviated += changed ? 1 : 0;
      }
    EXPECT_GT(deviated, 0u) << strategy.name;
  }
}

}  // namespace
}  // namespace tkdc
