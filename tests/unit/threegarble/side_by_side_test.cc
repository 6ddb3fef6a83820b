// SPDX-License-Identifier: Apache-2.0
// Three jobs side by side in a lane, with their admission. One server is E of one, A of another and
// B of the third. It changes, swaps, repeats and echoes what is said in any tick, and says "good"
// in m3. Whoever of the two honest ones takes a result has the right one, in both components.
#include "trio.h"

namespace tkdc::threegarble {
namespace {

constexpr std::size_t kJobs = 3;
// Of jobs that are admitted in the lane.
enum Tick : std::size_t { kStatements, kVerdicts, kOfM1, kOfM2, kOfM3, kTicks };

struct Jobs {
  const circuit::Circuit circuit = small_circuit();
  const Shape shape = shape_for(circuit);
  Trio trio;
  std::array<std::array<std::optional<Instance>, 3>, kJobs> instances;  // of each party
  std::array<std::array<SharedBytes, 3>, kJobs> inputs;
  std::array<std::array<SecretVector, 3>, kJobs> right;  // each component of a result
  std::array<std::array<Outcome, 3>, kJobs> outcomes;

  explicit Jobs(std::uint64_t seed) : trio(seed) {
    for (std::size_t n = 0; n < kJobs; ++n) {
      EXPECT_TRUE(trio.prepare(shape, n));
      const Bytes input = random_octets(shape.in_bytes());
      inputs[n] = trio.lanes.share(input);
      right[n] = right_components(trio, shape, n, in_the_clear(circuit, input));
      for (std::size_t p = 0; p < 3; ++p) instances[n][p] = std::move(trio.instances[p]);
    }
    for (int p = 0; p < 3; ++p) trio.side(p);
  }
  void run() {
    (void)trio.lanes.run([this](int p) { return run_all(p); });
  }

 private:
  Task<void> run_one(int p, std::size_t n) {
    const auto at = static_cast<std::size_t>(p);
    JobTag tag;
    tag.job = n;
    auto job = co_await admit(*trio.lanes.lane[p], 0, tag, inputs[n][at]);
    if (!job) co_return;
    outcomes[n][at] = co_await threegarble::run(trio.side(p), shape, std::move(*instances[n][at]),
                                                std::move(*job));
  }
  Task<void> run_all(int p) {
    std::vector<Task<void>> each;
    for (std::size_t n = 0; n < kJobs; ++n) each.push_back(run_one(p, n));
    co_await all(*trio.lanes.lane[p], std::move(each));
  }
};

// One server's packets, by both sides.
class Liar {
 public:
  Liar(int party, std::mt19937_64& rng) : party_(party), rng_(rng), tick_(rng() % kTicks) {}

  void tamper(int p, SecretVector& prev, SecretVector& next) {
    const std::size_t tick = packets_++ / 3;
    said_[p] = {prev, next};
    if (p != party_) return;
    const std::array<SecretVector, 2> own = said_[p];
    if (tick == tick_) spoil(tick, rng_() % 2 == 0 ? 0 : 1, prev, next);
    if (tick == kOfM3 && tick_ != kOfM3) say_good(prev), say_good(next);
    before_ = own;
  }

 private:
  static void say_good(SecretVector& m3) {
    constexpr std::size_t kBytes = kDigestBytes + 1;
    for (std::size_t at = kBytes; at <= m3.size(); at += kBytes) m3[at - 1] = 1;
  }
  void spoil(std::size_t tick, std::size_t side, SecretVector& prev, SecretVector& next) {
    SecretVector& packet = side == 0 ? prev : next;
    if (packet.empty()) return;
    if (tick == kVerdicts) {
      for (std::uint8_t& verdict : packet) verdict = static_cast<std::uint8_t>(rng_() % 2);
      return;
    }
    // A mark stands before what goes to the next neighbour with m1 and m2.
    const std::size_t first = side == 1 && (tick == kOfM1 || tick == kOfM2) ? 1 : 0;
    if (packet.size() == first) return;
    change(MutableByteSpan(packet).subspan(first), side, first);
  }
  void change(MutableByteSpan packet, std::size_t side, std::size_t first) {
    const auto take = [&](const SecretVector& from) {
      for (std::size_t k = 0; k < packet.size() && first + k < from.size(); ++k)
        packet[k] = from[first + k];
    };
    switch (rng_() % 5) {
      case 0: packet[rng_() % packet.size()] ^= static_cast<std::uint8_t>(1u << rng_() % 8); break;
      case 1: std::ranges::rotate(packet, packet.begin() + packet.size() / kJobs); break;
      case 2: take(before_[side]); break;
      case 3: take(said_[static_cast<std::size_t>(party_ + 1) % 3][side]); break;
      default: std::ranges::fill(packet, std::uint8_t{0});
    }
  }

  const int party_;
  std::mt19937_64& rng_;
  const std::size_t tick_;  // in which it lies
  std::size_t packets_ = 0;
  std::array<std::array<SecretVector, 2>, 3> said_;  // in this tick, by party and side
  std::array<SecretVector, 2> before_;
};

TEST(SideBySide, WhateverOneServerSaysAResultThatIsTakenIsRight) {
  constexpr int kRuns = 400;
  std::mt19937_64 rng(randombytes_random());
  int taken = 0, without = 0;
  for (int run = 0; run < kRuns; ++run) {
    Jobs jobs(rng());
    const int party = static_cast<int>(rng() % 3);
    Liar liar(party, rng);
    jobs.trio.lanes.tamper = [&](int p, SecretVector& prev, SecretVector& next) {
      liar.tamper(p, prev, next);
    };
    jobs.run();
    for (std::size_t n = 0; n < kJobs; ++n)
      for (const int p : {(party + 1) % 3, (party + 2) % 3}) {
        const auto at = static_cast<std::size_t>(p);
        const Outcome& outcome = jobs.outcomes[n][at];
        if (outcome.ending != Ending::kDone) {
          ++without;
          continue;
        }
        ++taken;
        for (const std::size_t component : {0u, 1u})
          ASSERT_EQ(outcome.share.component[component], jobs.right[n][(at + component) % 3])
              << "server " << party << " lies, job " << n << ", server " << p;
      }
  }
  // Some changes are none, or are for one neighbour alone.
  EXPECT_GT(taken, 0);
  EXPECT_GT(without, kRuns);
}

}  // namespace
}  // namespace tkdc::threegarble
